#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do two builds give the same answers?

    same_answers.py OLD_BIN NEW_BIN [--archive X.otf2]... [--run DIR]... [--specs N] [--rename OLD=NEW]...

Runs the programs of both folders on the same archives, run directories, random trace-synth programs, noise schedules
and wrong options, and compares exit codes, both outputs and every file written. --rename: a word that was renamed on
purpose, as the old build reads and writes it and as the new one does. Run directories are copied first. One line for each answer that differs; exit code 1 if any does.
"""
import argparse
import pathlib
import random
import re
import shutil
import subprocess
import tarfile
import tempfile
import xml.etree.ElementTree

SCHEDULES = [
    "memory.stream 2s; quiet 2s", "M2S2", "memory.stream[rate=1GiB/s|4GiB/s] 1s; quiet 1s", "placebo 1s",
    "rotation(memory.stream, io.write, placebo; slot=1s)", "rotation(memory.stream, io.write; slot=500ms, seed=3)",
    "factorial(mem=memory.stream[rate=4GiB/s|8GiB/s], io.write; slot=1s)", "random(cpu.spin, quiet; slot=1s)",
    "ramp(memory.stream; rate=1GiB/s..4GiB/s, steps=4, slot=1s)", "rotation(control.delay, control.sham; slot=1s)",
    "rotation(memory.stream", "memory.strem 1s", "memory.stream", "quiet", "", "rotation(memory.stream; slot=0s)",
    "rotation(memory.stream; slto=1s)", "memory.stream[rate=1] 1s", "memory.stream[rat=1GiB/s] 1s", "M2X2",
]
REFUSED = [
    ("noisegen", "--scheduel", "x"), ("noisegen", "--duration", "0s"), ("noisegen", "calibrte"), ("noisegen", "--cpus", "9999"),
    ("ddl-train", "--model", "mpl"), ("ddl-train", "--batch", "0"), ("ddl-train", "--steps", "-1"), ("ddl-train", "--strategy", "dpd"),
    ("interference", "analyze"), ("interference", "analyse", "no-such-run"), ("trace-info", "no-such.otf2"), ("trace-waits",),
]
# Patterns of what differs from run to run, or identifies the build.
CHANGING = [
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?( UTC)?"), "TIME"), (re.compile(r"\b\d+\.\d+\.\d+(-\w+)?\+?[-\w]*g[0-9a-f]{7,}[-\w]*"), "VERSION"),
    (re.compile(r"(realtime\w*( =|\":)) -?\d+"), r"\1 X"),
    (re.compile(r'"(pid|started_ns|begin_ns_realtime|version|revision|started|date|time)": *[^,\n]+'), r'"\1": X'),
]


def random_program(number):
    """A trace-synth program with work, messages and collectives."""
    draw = random.Random(number)
    ranks = draw.choice([2, 3, 4])
    lines = [f"ranks {ranks}", f"seed {number}", f"repeat {draw.randint(3, 8)} step {{"]
    for _ in range(draw.randint(2, 6)):
        kind = draw.randrange(5)
        late = draw.randrange(ranks)
        if kind == 0:
            lines.append(f"forward 1ms..3ms, {draw.randint(2, 9)}ms on {late}")
        elif kind == 1:
            lines.append(f"{draw.choice(['MPI_Allreduce', 'MPI_Barrier', 'MPI_Alltoall', 'MPI_Allgather'])} 1ms")
        elif kind == 2:
            lines.append(f"MPI_Bcast 1ms root={late}")
        elif kind == 3:
            lines.append(f"{draw.choice(['MPI_Send', 'MPI_Ssend'])} {late}>{(late + 1) % ranks} 1ms tag=7")
        else:
            lines += ["MPI_Iallreduce 2ms request=grad", f"backward 2ms, 5ms on {late}", "MPI_Wait grad"]
    return "\n".join(lines + ["}"]) + "\n"


def contents(file):
    """The parts of a file to compare, by name: of a .cubex each metric, by its name and not by its number."""
    if file.suffix != ".cubex":
        return {file.name: file.read_bytes()}
    with tarfile.open(file) as tar:
        members = {member.name: tar.extractfile(member).read() for member in tar.getmembers()}
    anchor = xml.etree.ElementTree.fromstring(members["anchor.xml"])
    parts = {f"{file.name}/call tree": b"".join(xml.etree.ElementTree.tostring(anchor.find(name))
                                                for name in ("program", "system"))}
    for metric in anchor.iter("metric"):
        name = f"{file.name}/{metric.findtext('uniq_name')}"
        parts[name] = b"|".join(members.get(f"{metric.get('id')}.{end}", b"") for end in ("index", "data"))
        parts[name + " described"] = (metric.findtext("descr") or "").encode()
    return parts


def plain(text, folder, renames):
    text = text.replace(str(folder), "HERE")
    for old, new in renames:
        text = re.sub(rf"\b{re.escape(old)}\b", new, text)
    for pattern, word in CHANGING:
        text = pattern.sub(word, text)
    return text


class Sides:
    """The same call with both builds, each in a folder of its own."""

    def __init__(self, old, new, renames, work):
        self.programs, self.renames = (old, new), renames
        self.folders = (work / "old", work / "new")
        for folder in self.folders:
            folder.mkdir()
        self.calls = self.files = self.differences = 0

    def put(self, name, write):
        for folder in self.folders:
            write(folder / name)

    def call(self, program, *arguments, writes=None):
        answers = []
        for side, (programs, folder) in enumerate(zip(self.programs, self.folders)):
            words = list(arguments)
            for old, new in self.renames if side == 0 else []:
                words = [re.sub(rf"\b{re.escape(new)}\b", old, word) for word in words]
            done = subprocess.run([programs / program, *words], cwd=folder, capture_output=True, timeout=600)
            answer = {"exit code": str(done.returncode)}
            for name, text in (("stdout", done.stdout), ("stderr", done.stderr)):
                answer[name] = text.decode(errors="replace")
            if writes and (folder / writes).exists():
                path = folder / writes
                for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                    # Definitions of an archive contain a random number and the time of day.
                    if file.is_file() and file.suffix not in (".def", ".otf2"):
                        for name, data in contents(file).items():
                            answer[str(file.parent.relative_to(folder) / name)] = data.decode("latin-1")
            answers.append({plain(name, folder, self.renames if side == 0 else []):
                            plain(text, folder, self.renames if side == 0 else []) for name, text in answer.items()})
        self.calls += 1
        self.files += len(answers[1]) - 3
        for name in sorted({*answers[0], *answers[1]}):
            if answers[0].get(name) != answers[1].get(name):
                self.differences += 1
                print(f"{program} {' '.join(arguments)}: {name} differs{self.first_difference(answers, name)}")

    @staticmethod
    def first_difference(answers, name):
        if any(name not in answer for answer in answers):
            return f" (only the {'old' if name in answers[0] else 'new'} build has it)"
        old, new = (answer[name].splitlines() for answer in answers)
        for number, (a, b) in enumerate(zip(old, new), 1):
            if a != b:
                return f" in line {number}:\n    - {a[:200]}\n    + {b[:200]}"
        return f": {len(old)} lines by the old build, {len(new)} by the new one"

    def archive(self, anchor, number):
        self.call("trace-info", anchor)
        self.call("trace-info", "--json", anchor)
        for tool in ("trace-steps", "trace-waits", "trace-path"):
            self.call(tool, anchor, "-o", f"{tool}.{number}", writes=f"{tool}.{number}")
        self.call("trace-cube", anchor, "-o", f"{number}.cubex", writes=f"{number}.cubex")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--archive", action="append", default=[], type=pathlib.Path)
    parser.add_argument("--run", action="append", default=[], type=pathlib.Path)
    parser.add_argument("--specs", type=int, default=20)
    parser.add_argument("--rename", action="append", default=[])
    asked = parser.parse_args()
    renames = [tuple(words.split("=", 1)) for words in asked.rename]
    with tempfile.TemporaryDirectory(prefix="same-answers-") as work:
        sides = Sides(asked.old.resolve(), asked.new.resolve(), renames, pathlib.Path(work))
        for number, anchor in enumerate(asked.archive):
            sides.archive(str(anchor.resolve()), number)
        for number in range(asked.specs):
            sides.put(f"{number}.spec", lambda file, text=random_program(number): file.write_text(text))
            sides.call("trace-synth", f"{number}.spec", "-o", f"synth.{number}", writes=f"synth.{number}")
            shutil.copytree(sides.folders[0] / f"synth.{number}", sides.folders[1] / f"synth.{number}",
                            dirs_exist_ok=True)
            sides.archive(f"synth.{number}/traces.otf2", f"synth.{number}")
        for number, run in enumerate(asked.run):
            sides.put(f"run.{number}", lambda folder, run=run: shutil.copytree(
                run, folder, ignore=shutil.ignore_patterns("report")))
            sides.call("interference", "analyse", f"run.{number}", writes=f"run.{number}/report")
            noise = sorted(file.relative_to(sides.folders[0]).as_posix()
                           for file in sides.folders[0].glob(f"run.{number}/noise/*/trace/traces.otf2"))
            sides.call("trace-merge", f"run.{number}/train/trace/traces.otf2", *noise, "-o", f"merged.{number}",
                       writes=f"merged.{number}")
        for schedule in SCHEDULES:
            sides.call("noisegen", "--schedule", schedule, "--duration", "12s", "--cpus", "0", "--dry-run")
        for refused in REFUSED:
            sides.call(*refused)
    print(f"{sides.calls} calls, {sides.files} files: {sides.differences} answers differ")
    return 1 if sides.differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
