#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command that a document shows, word for word.

    commands_in_documents_test.py DOCUMENT [--slow]

The blocks of a document run one after the other, as a reader would try them, in an empty directory with the programs
on PATH. Lines that begin with "$ " are commands and the others what they print; a block whose first word is a program
is a script. A block of another kind is the file that the text above it names: `late.spec`. What takes a minute or more
runs with --slow, and then nothing else does. The pages of the tutorial run from the top of a source tree, with less of
everything (`smaller`). Exit code 77: nothing of the document can run here."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

tree = pathlib.Path(__file__).resolve().parents[2]
programs = pathlib.Path(os.environ["CROSSTALK_BIN"])

mpi_program = ("printf '#!/bin/sh\\nexec \"$CROSSTALK_BIN/../tests/mpi-calls\" none\\n' >program; chmod +x program")

designed_run = ("jobscripts/local.sh --out DIR --duration 6 --data synthetic --control-delay 500us "
                "--model 'emulated[compute=10ms,gradients=64KiB]' --schedule "
                "'rotation(memory.stream[bytes=16MiB], io.write, placebo, control.delay, control.sham; slot=150ms)'")

trials_run = designed_run.replace("memory.stream[bytes=16MiB], io.write", "trials=job.run[command=crosstalk sweep "
                                  "jobscripts/specs/harvest-trials.ini -o $CROSSTALK_HARVEST.sweep]")

# What the commands of a document require.
made_before = {
    "docs/interference.md": [designed_run] + [
        f"ddl-train --transport self --model 'emulated[compute=1ms,gradients=4KiB]' --data synthetic --steps 60 --out {run}"
        for run in ("q1", "q2", "q3", "n1", "n2", "n3")
    ],
    "docs/ci.md": [designed_run.replace("--out DIR", "--out run1")],
    "docs/trace-tools.md": [
        f"ddl-train --transport self --model 'emulated[compute=1ms,gradients=4KiB]' --data synthetic --steps 60 --out {run}"
        for run in ("quiet", "noisy")
    ] + [designed_run],
    "docs/sweep.md": [trials_run],
    "docs/troubleshooting.md": [designed_run],
    "docs/tracing-mpi.md": [mpi_program],
    "docs/crosstalk.md": [mpi_program.replace("none", "reduce")],
    "README.md": ["trace-synth tiny.spec -o tiny && cp tiny/traces.otf2 X.otf2 && cp tiny/traces.def X.def && cp -r tiny/traces X",
                  "! command -v mpicc || mpicc program.c -o program"],
}
files_before = {"README.md": {
    "tiny.spec": "ranks 2\nrepeat 3 step {\n  MPI_Barrier 1us\n}\n",
    "program.c": """#include <mpi.h>
int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 9; ++i) MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""}}

# Commands whose exit code is not 0, on purpose.
exit_codes = {
    "interference analyse DIR": {0, 3},  # noise may not cover a training of some seconds
    "jobscripts/local.sh --out DIR --duration": {0, 3},
    "crosstalk run --duration 60s": {0, 3},
    'crosstalk run --duration 20s --schedule "rotation(job.checkpoint': {0, 3},
    "crosstalk run --budget 5% --duration": {0, 3},
    "crosstalk campaign run levels": {0, 3},
    "crosstalk campaign collect soft-errors": {0, 3},  # with so short runs the report may not be trustworthy
    "crosstalk run --budget 5% --duration 60s --fail-on unsafe": {0, 1, 3},  # 1: a noise is unsafe here
    "interference analyse run1 --out again": {0, 1, 3},
    "noisegen --avoid 0-1": {0, 2},  # 2: the machine has no more CPUs
    "noisegen --schedule 'rotation(io.write[limit=none|io.max:50MiB/s]": {0, 77},  # it needs a control group
    "ddl-train --model resnet50 --device cuda": {0, 77},  # .. and a GPU
}

# The test that runs a command which is not run here; check_reasons() looks for both.
elsewhere = {
    "./quickstart.sh": "takes minutes and needs an empty machine; what it does is tried by local_test.sh",
    "./check.sh": "is what runs this test",
    "module load": "needs a cluster's modules",
    "cmake --preset release -D": "needs a cluster's modules; clean_root_test.sh builds this preset",
    "cmake --build --preset release": "clean_root_test.sh",
    "cmake --install": "package_test.sh packs what it installs",
    "apt-get install": "package_test.sh install, on a fresh Debian",
    "cpack --config": "package_test.sh",
    "podman": "container_test.py; building takes a registry",
    "sbatch": "co_schedule_test.sh, in a Slurm of its own",
    "file=neighbour.sh": "job_run_test; the whole takes minutes",
    "crosstalk-python train.py": "own_job_test.sh pytorch, with the training of python/tests",
    "-m crosstalk train.py": "python/tests/test_marks.py: Debian's torchrun does not start",
    "crosstalk try -- ./mine": "try_test.sh",
    "crosstalk cores -- ./mine": "cores_test.sh",
    "crosstalk cores --neighbour memory.stream -- crosstalk-python": "cores_test.sh, with a job of its own",
    "crosstalk run -- ./mine": "own_job_test.sh",
    "crosstalk run --step": "own_job_test.sh",
    "crosstalk run --first-step": "try_test.sh",
    "crosstalk run --schedule 'rotation(io.write": "own_job_test.sh, with noises of its own",
    "crosstalk run --duration 15min": "own_job_test.sh, in less time",
    "crosstalk campaign run build/controls": "controls_test.sh sums up such runs, which take 20 minutes",
    "crosstalk run --quick": "quick_test.sh",
    "crosstalk diff": "diff_command_test.py",
    "crosstalk prune": "prune_test.py",
    "crosstalk run --runs": "several_runs_test.sh",
    "crosstalk run --extend": "several_runs_test.sh",
    "crosstalk run --until": "several_runs_test.sh until",
    "crosstalk campaign run DIR": "campaign_test.sh; the whole takes ten minutes",
    "build/stressor": "examples_test.sh stressor",
    "./instrumented": "scorep_test.sh: Debian has no Score-P",
    "crosstalk run --cpus 0-15": "virtual_nodes_test.sh, on nodes of this machine",
    "crosstalk campaign collect DIR": "campaign_test.sh",
    "jobscripts/slurm-sandbox.sh": "sandbox_test.sh",
    'eval "$(jobscripts/slurm-sandbox.sh': "sandbox_test.sh",
    "interference observe --train run1": "delays_test.py and interference_observed_test",
    "interference analyse run1 run2": "interference_pooled_test",
    "--empty-node EMPTY": "harvest_test",
    "interference predict DIR": "interference_predict_test",
    "interference checkpoints RUN1": "checkpoints_test.py",
    "interference checkpoints STUDY": "checkpoint_study_test.py, on a cell of the study",
    "noisegen probe --command": "pressure_test",
    "--victim PID": "the tests of job.cores, with ranks of their own",
    "--victim 0,bandwidth,llc": "harm_test; its peer need not be installed",
    "interference controls": "controls_test.sh: its runs take ten minutes",
    "trace-cube scorep/": "trace_cube_test, on profiles of its own: Debian has no Score-P",
    "noisegen calibrate": "its whole table takes minutes: calibrate_test",
    "rate=60%": "needs what calibrate found: calibrate_test",
    "noisegen limits": "shows what calibrate found: calibrate_test",
}
# Replacements that make a lesson of the tutorial short enough for a test.
tiny = ("--schedule 'rotation(memory.stream[bytes=16MiB], io.write[block=64KiB], placebo, control.delay, control.sham; "
        "slot=200ms)'")
smaller = [
    (r"(--duration) 2min(?=.* --schedule)", r"\1 6"),
    (r"(--duration) 2min", rf"\1 6 {tiny}"),
    (r"memory.stream\[rate=.*?\]", "memory.stream[bytes=16MiB,rate=100MiB/s|200MiB/s]"),
    (r"slot=auto", "slot=200ms"),
    (r"ddl-train --model mlp$", "ddl-train --model 'emulated[compute=5ms,gradients=64KiB]' --data synthetic"),
    (r"crosstalk try --", "crosstalk try --duration 3s --"),
    (r"(?m)^models = .*", "models = emulated[compute=5ms,gradients=4KiB]"),
    (r"(?m)^data = .*", "data = synthetic[samples=64]"),
    (r"(?m)^noise = .*", "noise = cpu.spin"),
    (r"(?m)^(repetitions|trials) = .*", r"\1 = 1"),
    (r"(?m)^duration = .*", "duration = 2s"),
    (r"(?m)^moments = .*", "moments = 4"),
    (r"(?m)^end = .*", "end = 8"),
]
# Replacements in any other document.
shorter = [
    (r'crosstalk run (--schedule "rotation\(job.checkpoint)', r"crosstalk run --duration 20s \1"),
    (r"crosstalk try -- mpirun", "crosstalk try --duration 3s -- mpirun"),
    (r"^noisegen memory.stream 5s", "noisegen memory.stream 1s"),
    (r"^(noisegen .* --duration) (6|10)s", r"\1 4s"),
    (r"(?m)^trials = 64$", "trials = 4"),
]
slow = {"--duration 150s", "--duration 60", "--duration 20s", "--empty-node empty", "noisegen probe"}


# First words of blocks of commands, other than Crosstalk's programs.
others = {"cmake", "mpicc", "mpirun", "python3", "sbatch", "export", "podman", "module"}


def blocks(text):
    """Yields (text above, lines) of every block that names no other language than the shell's."""
    for match in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield text[: match.start()].rstrip().rsplit("\n\n", 1)[-1], match.group(1), match.group(2)


def commands_of(block):
    """The commands of a block with their continued lines; none if it is not a block of commands."""
    joined = re.sub(r"\\\n\s*", "", block)
    lines = joined.splitlines()
    shown = [line[2:] for line in lines if line.startswith("$ ")]
    if shown:
        return shown
    first = lines[0].split()[0] if lines and lines[0].split() else ""
    known = first.startswith(("./", "jobscripts/")) or first in others
    if not known and not (programs / first).is_file():
        return []
    return [joined] if "&\n" in joined else [line for line in lines if line.strip()]


def of_table(text):
    """The commands in the column "start with"."""
    for row in re.findall(r"^\|.*\|$", text, re.MULTILINE):
        cells = row.strip("|").split("|")
        if len(cells) == 3:
            yield from (found for found in re.findall(r"`([^`]+)`", cells[1]) if is_command(found))


def is_command(text):
    first = text.split()[0]
    return (programs / first).is_file() or first.startswith(("./", "jobscripts/")) or first == "sbatch"


def reason(command):
    return next((why for begin, why in elsewhere.items() if begin in command), None)


def check_reasons():
    """Fails if a reason in `elsewhere` names a test that does not exist, or belongs to a command that no page shows."""
    pages = [page.read_text(encoding="utf-8") for page in (tree / "README.md", *tree.glob("docs/**/*.md"))]
    shown = re.sub(r"\\\n\s*", "", "\n".join(pages))
    rooms = [room for room in tree.iterdir() if room.is_dir() and room.name not in ("build", ".git")]
    tests = {file.stem for room in rooms for file in room.rglob("*test*")}
    for begin, why in elsewhere.items():
        missing = set(re.findall(r"\b(?:\w+_test|test_\w+)\b", why)) - tests
        if missing:
            sys.exit(f"there is no {missing.pop()}, which runs: {begin}")
        if begin not in shown:
            sys.exit(f"no page shows the command that is run elsewhere: {begin}")


def remove(path):
    """Removes what a command would refuse to overwrite."""
    shutil.rmtree(path, ignore_errors=True)
    if path.is_file():
        path.unlink()


def prepare(command, folder, environment):
    """Runs what a document requires; repeats a short run, longer, if its noise did not begin in time."""
    lengths = (1, 2, 4) if re.search(r"--duration \d+ ", command) else (1,)
    for longer in lengths:
        attempt = re.sub(r"--duration (\d+)(?= )", lambda found, by=longer: f"--duration {by * int(found[1])}", command)
        if run(attempt, folder, environment, may_fail=longer < lengths[-1]):
            return


def run(command, folder, environment, may_fail=False):
    """Runs the command; fails the test if its exit code is not the expected one, or returns False."""
    if not command.startswith("noisegen"):
        for made in re.findall(r"(?:--out|-o) (\S+)", command):
            remove(folder / made)
    for analysed in re.findall(r"interference analyse (\S+)", command):
        remove(folder / analysed / "report")
    print(f"$ {command}", flush=True)
    if re.search("trace-record|crosstalk (run|try)", command) and environment["PRELOAD_FIRST"]:
        environment = dict(environment, LD_PRELOAD=environment["PRELOAD_FIRST"])
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=580,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    expected = next((codes for begin, codes in exit_codes.items() if command.startswith(begin)), {0})
    if done.returncode not in expected and may_fail:
        print(done.stdout)
        return False
    if done.returncode not in expected:
        print(done.stdout)
        sys.exit(f"exit code {done.returncode}, expected {sorted(expected)}: {command}")
    return True


def as_in_source_tree(folder, environment):
    """Provides what the tutorial requires at the top of a source tree, and the Slurm of the tests if it is running."""
    shutil.copytree(tree / "examples", folder / "examples")
    (folder / "trace-tools").symlink_to(tree / "trace-tools")
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(programs.parent)
    spec = folder / "examples/campaign/levels.ini"
    spec.write_text(made_smaller(spec.read_text()))
    note = pathlib.Path(environment.get("CROSSTALK_SANDBOX_NOTE", "/nowhere"))
    sandbox = note.read_text().strip() if note.exists() else "/nowhere"
    given = subprocess.run([tree / "jobscripts/slurm-sandbox.sh", "env", sandbox], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, check=False)
    if given.returncode != 0:
        elsewhere["--back-end slurm"] = "campaign_test.sh slurm; there is no Slurm here"
        elsewhere["crosstalk campaign collect levels"] = elsewhere["--back-end slurm"]
        return
    shown = subprocess.run(["bash", "-c", f"{given.stdout}\nenv -0"], check=True, stdout=subprocess.PIPE, text=True,
                           env=environment).stdout
    environment.update(variable.split("=", 1) for variable in shown.split("\0") if "=" in variable)
    environment["PATH"] += ":/usr/sbin"


def made_smaller(text, rules=smaller):
    for pattern, by in rules:
        text = re.sub(pattern, by, text)
    return text


def main():
    document, only_slow = sys.argv[1], "--slow" in sys.argv
    text = (tree / document).read_text()
    check_reasons()
    environment = dict(os.environ, PATH=f"{programs}:/usr/bin:{os.environ['PATH']}", OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    # Memory leaks of MPI do not matter here; a sanitizer's library must come before the one that trace-record preloads.
    environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0:malloc_context_size=0"
    environment["PRELOAD_FIRST"] = os.environ.get("CROSSTALK_PRELOAD_FIRST", "")
    with tempfile.TemporaryDirectory(prefix="crosstalk-documents.") as name:
        folder = pathlib.Path(name)
        (folder / "jobscripts").symlink_to(tree / "jobscripts")
        is_lesson = document.startswith("docs/tutorial/")
        if is_lesson:
            as_in_source_tree(folder, environment)
        for file, content in files_before.get(document, {}).items():
            (folder / file).write_text(content)
        wanted = []
        rules = smaller if is_lesson else shorter
        for above, language, block in blocks(text):
            commands = commands_of(block) if language in ("", "sh", "bash") else []
            named = re.findall(r"`([\w.]+\.(?:spec|py|ini|csv|cpp|jsonl?))`", above)
            if not commands and named:
                (folder / named[-1]).write_text(made_smaller(block, rules))
            wanted += [made_smaller(command, rules) for command in commands]
        wanted += [made_smaller(command, shorter) for command in of_table(text)]
        can_run = [command for command in wanted if not reason(command)]
        chosen = [command for command in can_run if any(word in command for word in slow) == only_slow]
        if wanted and not can_run and not only_slow:
            print(*(f"{command}\n    {reason(command)}" for command in wanted), sep="\n")
            return
        if not chosen:
            print(f"skipped: none of the {len(wanted)} commands of {document} is to run here")
            sys.exit(77)
        for command in made_before.get(document, []):
            prepare(command, folder, environment)
        for command in chosen:
            (prepare if is_lesson else run)(command, folder, environment)
        print(f"{len(chosen)} of {len(wanted)} commands ran")


main()
