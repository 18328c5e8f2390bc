#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each error is one line of at most 200 characters that names the program, and wrong usage ends with exit code 2.

    error_lines_test.py [--show]     --show prints each line
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
LONGEST = 200
LATE = "ranks 2\nrepeat 9 step {\n work 1ms, 3ms on 1\n MPI_Barrier 1us\n}\n"
PLACE = ["--cpus", "all", "--share"]

# (exit code, words that the line contains, command); TAKEN, NONE, LATE, TEXT are files, see below.
WRONG = [  # ~ stands for a blank
    # a misspelt word is answered with the right one
    (2, "did you mean --schedule?", "noisegen --shedule x"),
    (2, "did you mean memory.stream?", "noisegen memory.strem 1s"),
    (2, "did you mean probe?", "noisegen prob"),
    (2, "did you mean idle?", "noisegen cpu.spin 1s --sched idel"),
    (2, "did you mean rate?", "noisegen cpu.spin[rat=1/s] 1s"),
    (2, "did you mean rotation?", "noisegen rotaton(cpu.spin,placebo)"),
    (2, "did you mean slot?", "noisegen rotation(cpu.spin,placebo;slott=1s)"),
    (2, "did you mean backward?", "noisegen cpu.spin[follow=backwards] 1s"),
    (2, "did you mean cpu.spin?", "noisegen calibrate cpu.spinn"),
    (2, "did you mean placebo?", "noisegen probe placebos"),
    (2, "did you mean bandwidth?", "noisegen probe --victim bandwith"),
    (2, "--command takes at least 3, not 2", "noisegen probe --command true --blocks 2"),
    (2, "did you mean --limits?", "noisegen limits --limit x"),
    (2, "did you mean weight?", "ddl-alter NONE --in-place --role wieght"),
    (2, "did you mean --flips?", "ddl-alter NONE --in-place --flip 3"),
    (2, "did you mean redraw?", "ddl-alter NONE --in-place --not-finite redrow"),
    (2, "did you mean --out?", "ddl-alter difference NONE NONE --ot NEW"),
    (2, "did you mean resnet18?", "ddl-train --model resnet81 --out NEW"),
    (2, "did you mean range?", "ddl-train --guard rang=2 --out NEW"),
    (2, "did you mean repair?", "ddl-train --guard range --on-guard repiar --out NEW"),
    (2, "did you mean naive?", "ddl-train --strategy naiv --out NEW"),
    (2, "did you mean digits?", "ddl-train --data digit --out NEW"),
    (2, "did you mean self?", "ddl-train --transport sefl --out NEW"),
    (2, "did you mean width?", "ddl-train --model resnet18[widht=3] --out NEW"),
    (2, "did you mean adamw?", "ddl-train --optimizer adam --out NEW"),
    (2, "did you mean cuda?", "ddl-train --device cud --out NEW"),
    (2, "needs --device cuda", "ddl-train --sync-phases --out NEW"),
    (2, "did you mean --steps?", "ddl-train --step 3 --out NEW"),
    (2, "did you mean backward?", "ddl-train --delay 0:bakward:1ms --out NEW"),
    (2, "did you mean codenet?", "ddl-code info codnet"),
    (2, "did you mean parity?", "ddl-code info codenet[party=2x2]"),
    (2, "did you mean --parity?", "ddl-code plan --party 2x2"),
    (2, "takes 9 ranks or more, not 8", "ddl-code info polydot --ranks 8"),
    (2, "did you mean convert?", "ddl-data convrt digits"),
    (2, "did you mean shards?", "ddl-data generate synthetic --to shard --out NEW"),
    (2, "did you mean synthetic?", "ddl-data generate synthetics --out NEW"),
    (2, "did you mean samples?", "ddl-data info synthetic[sample=2]"),
    (2, "did you mean analyse?", "interference analise DIR"),
    (2, "did you mean --budget?", "interference analyse DIR --budgt 1%"),
    (2, "did you mean unsafe?", "interference analyse DIR --fail-on unsave"),
    (2, "did you mean slowdown?", "interference explain slowdwn"),
    (2, "did you mean --out?", "interference summary DIR --uot x"),
    (2, "did you mean html?", "interference analyse DIR --format htm"),
    (2, "did you mean --runs?", "effects-simulation --run 2"),
    (2, "noise of this schedule: no stressor 'memory.strem'; did you mean memory.stream?",
     "crosstalk run --schedule memory.strem~1s -- true"),
    (2, "did you mean cpu.spin?", "crosstalk campaign plan SPEC:command=true\\nnoise=cpu.spn --out NEW"),
    (2, "did you mean --check?", "trace-info --chek LATE"),
    (2, "did you mean --region?", "trace-waits --regoin x LATE"),
    (2, "did you mean step?", "trace-waits --region stepp LATE"),
    (2, "did you mean work?", "trace-path --region wrok LATE"),
    (2, "did you mean MPI_Barrier?", "trace-steps --step-from MPI_Barier LATE"),
    (2, "did you mean step?", "trace-steps --step-region stap LATE"),
    (2, "did you mean --against?", "trace-cube --agianst x LATE"),
    (2, "did you mean --report?", "trace-merge --raport x LATE LATE"),
    (2, "did you mean --memory?", "trace-record --memry 1MiB -- true"),
    (2, "did you mean ./unread?", "trace-record -o NEW -- unread"),
    (2, "did you mean repeat?", "trace-synth SPEC:ranks~2\\nreapeat~9~step~{\\n} -o NEW"),
    (2, "did you mean ranks?", "trace-synth SPEC:rank~2\\nwork~1ms -o NEW"),
    (2, "did you mean MPI_Allreduce?", "trace-synth SPEC:MPI_Alreduce~1ms -o NEW"),
    (2, "did you mean bytes?", "trace-synth SPEC:MPI_Allreduce~1ms~byts=8B -o NEW"),
    # something is missing
    (2, "is a ) missing at the end?", "noisegen rotation(memory.stream,io.write"),
    (2, "is a comma missing", "noisegen rotation(memory.stream~io.write)"),
    (2, "is a comma missing", "noisegen memory.stream~io.write"),
    (2, "is a comma missing", "noisegen memory.stream~io.write~2s"),
    (2, "follows the )", "noisegen rotation(memory.stream,io.write)~2s"),
    (2, "--in-place", "ddl-alter NONE"),
    (2, "0-63", "ddl-alter NONE --in-place --bits 9-3"),
    (2, "101101", "ddl-alter NONE --in-place --mask 12"),
    (2, "--out DIR", "ddl-alter difference NONE NONE"),
    (2, "RANK:STEP:R.json", "ddl-train --alter 1:50 --out NEW"),
    (1, "missing.json", "ddl-train --alter 1:50:missing.json --out NEW"),
    (2, "there is only one rank", "ddl-train --guard replicas --transport self --out NEW"),
    (2, "needs --guard", "ddl-train --on-guard stop --out NEW"),
    (1, "write some with --checkpoint-every", "ddl-train --golden NONE --transport self --out NEW"),
    (2, "in brackets", "noisegen rotation~memory.stream,io.write"),
    (2, "does not end with ]", "noisegen memory.stream[bytes=1MiB~2s"),
    (2, "has no length", "noisegen memory.stream"),
    (2, "needs a schedule", "noisegen"),
    (2, "rate=0..16GiB/s", "noisegen ramp(memory.stream)"),
    (2, "64MiB", "noisegen memory.stream[bytes=64]~1s"),
    (2, "--out DIR", "ddl-train --steps 3"),
    (2, "--out", "ddl-data generate synthetic"),
    (2, "lacks a command", "ddl-data"),
    (2, "lacks a command", "interference"),
    (2, "--train or --steps", "interference exposure"),
    (2, "--noise and --out", "interference exposure --train LATE"),
    (2, "no job given", "crosstalk run"),
    (2, "did you mean doctor?", "crosstalk docter"),
    (2, "lacks a command", "crosstalk campaign"),
    (2, "crosstalk campaign plan SPEC.ini", "crosstalk campaign run NONE"),
    (2, "crosstalk campaign plan SPEC.ini", "crosstalk campaign collect DIR"),
    (2, "no program 'trian' on PATH", "crosstalk run -- trian"),
    (2, "give only one of", "crosstalk run --step-line x --step-from y -- true"),
    (2, "is not a regular expression", "crosstalk run --step-line ( -- true"),
    (2, "cannot write into /nowhere", "crosstalk run --export-json /nowhere/x.json -- true"),
    (2, "is not a regular file", "crosstalk run --export-junit /dev/null -- true"),
    (2, "ranks needs models", "crosstalk campaign plan SPEC:command=true\\nranks=2\\nnoise=cpu.spin --out NEW"),
    (2, "step-line needs a command", "crosstalk campaign plan SPEC:models=mlp\\nstep-line=x\\nnoise=cpu.spin --out NEW"),
    (2, "--out", "interference compare --quiet LATE --noisy LATE"),
    (2, "--train, --noise and --out", "interference observe --train LATE"),
    (2, "expects DIR", "interference controls"),
    (2, "expects DIR", "interference summary"),
    (2, "expects DIR", "interference outcomes"),
    (1, "there is no directory", "interference outcomes NONE"),
    (2, "--trials: --steps cannot be combined with it", "ddl-train --trials x.csv --steps 3 --out NEW"),
    (2, "expects METRIC", "interference explain"),
    (2, "--neighbour or --ranks", "interference predict DIR"),
    (2, "--mtbf", "interference checkpoints DIR"),
    (2, "--mtbf", "interference checkpoints DIR --mtbf often"),
    (1, "NONE", "interference checkpoints NONE --mtbf 24h"),
    (2, "no program given", "noisegen probe --command ~"),
    (2, "no program given", "noisegen probe --peer ~"),
    (2, "X.otf2", "trace-info"),
    (2, "X.otf2", "trace-waits"),
    (2, "--out", "trace-cube LATE"),
    (2, "--out", "trace-merge LATE LATE"),
    (2, "--report DIR", "trace-merge LATE OTHER --all-markers -o NEW"),
    (2, "two archives", "trace-cube LATE --slowdown -o NEW"),
    (2, "--out", "trace-synth TEXT"),
    (2, "no program given", "trace-record"),
    (2, "trace-synth --help", "trace-synth SPEC:#~nothing -o NEW"),
    (2, "is a } missing", "trace-synth SPEC:repeat~2~step~{ -o NEW"),
    # the output exists already
    (2, "is already there; give another path", "noisegen cpu.spin 100ms --out RUN PLACE"),
    (2, "is already there; give another path", "ddl-train --steps 1 --out RUN"),
    (2, "is already there; give another path", "ddl-data generate synthetic[samples=9] --out TAKEN"),
    (2, "is already there; give another path", "interference analyse RUN --out TAKEN"),
    (2, "is already there; give another path", "interference exposure --train LATE --noise LATE --out TAKEN"),
    (2, "is already there; give another path", "interference compare --quiet LATE LATE --noisy LATE LATE --out TAKEN"),
    (2, "is already there; give another path", "interference summary RUN --out TAKEN"),
    (2, "is already there; give another path", "interference observe --train LATE --noise LATE --out TAKEN"),
    (2, "is already there; give another path", "interference predict DIR --ranks 4 --out TEXT"),
    (2, "is already there; give another path", "effects-simulation --runs 2 --draws 9 --csv TEXT"),
    (2, "is already there; give another path", "trace-waits LATE -o TAKEN"),
    (2, "is already there; give another path", "trace-path LATE -o TAKEN"),
    (2, "is already there; give another path", "trace-steps LATE -o TAKEN"),
    (2, "is already there; give another path", "trace-cube LATE -o TEXT"),
    (2, "is already there; give another path", "trace-merge LATE OTHER -o TAKEN"),
    (2, "is already there; give another path", "trace-synth SPEC:work~1ms -o TAKEN"),
    (2, "is already there; give another path", "trace-record -o TAKEN -- true"),
    # wrong values
    (2, "--duration", "noisegen cpu.spin --duration soon"),
    (2, "CPU", "noisegen cpu.spin 1s --cpus 9999"),
    (2, "--victim", "noisegen cpu.spin 1s --victim 0"),
    (2, "placebo", "noisegen rotation(placebo[x=1],cpu.spin)"),
    (2, "two schedules", "noisegen cpu.spin 1s --schedule M1"),
    (2, "--max-memory", "noisegen memory.stream[bytes=900TiB] 1s PLACE"),
    (2, "--batch", "ddl-train --batch 0 --out NEW"),
    (2, "--momentum", "ddl-train --optimizer adamw --momentum 1 --out NEW"),
    (2, "--instrument", "ddl-train --trace off --instrument L1 --out NEW"),
    (2, "CPU", "ddl-train --cpus 9999 --out NEW"),
    (2, "--samples", "ddl-data generate synthetic --samples many --out NEW"),
    (2, "--confidence", "interference analyse DIR --confidence 3%"),
    (2, "--budget", "interference analyse DIR --budget none"),
    (2, "--ranks", "interference predict DIR --ranks some"),
    (2, "--ranks-per-node", "interference predict DIR --ranks 4 --ranks-per-node 0"),
    (2, "--threads", "trace-info --threads 0 LATE"),
    (2, "--from", "trace-waits --from then LATE"),
    (2, "--threads must be 1 to 64, not 0", "trace-path --threads 0 LATE"),
    (2, "--clock-offset", "trace-merge LATE OTHER -o NEW --clock-offset soon"),
    (2, "--memory", "trace-record --memory much -- true"),
    (2, "no program", "trace-record -o NEW -- no-such-program"),
    (2, "line 1", "trace-synth SPEC:ranks~none -o NEW"),
    (2, "LONG", "noisegen LONG"),
    (2, "LONG", "ddl-train --model LONG --out NEW"),
    (2, "did you mean --region?", "trace-waits LONG --regoin"),
    # a file does not exist, or has another type
    (1, "NONE", "trace-info NONE"),
    (1, "NONE", "trace-waits NONE"),
    (1, "NONE", "trace-path NONE"),
    (1, "NONE", "trace-steps NONE"),
    (1, "NONE", "trace-cube NONE -o NEW"),
    (1, "NONE", "trace-merge NONE NONE -o NEW"),
    (1, "NONE", "trace-synth NONE -o NEW"),
    (1, "NONE", "trace-convert NONE -o NEW"),
    (1, "NONE", "interference analyse NONE"),
    (1, "NONE", "interference so-far NONE"),
    (1, "NONE", "interference summary NONE"),
    (1, "NONE", "interference predict NONE --ranks 4"),
    (1, "TEXT", "interference predict DIR --neighbour TEXT"),
    (1, "NONE", "crosstalk campaign plan NONE"),
    (1, "NONE", "interference compare --quiet NONE --noisy NONE --out NEW"),
    (1, "NONE", "interference observe --train LATE --noise NONE --out NEW"),
    (1, "NONE", "interference controls NONE"),
    (1, "NONE", "ddl-data info NONE"),
    (1, "train", "interference analyse DIR"),
    (1, "is a campaign: its report is made by crosstalk campaign collect CAMPAIGN", "interference analyse CAMPAIGN"),
    (1, "TEXT", "trace-info TEXT"),
    (1, "calibrate", "noisegen limits --limits NONE"),
    (1, "no file", "ddl-alter NONE --in-place"),
    (1, "not an HDF5 file", "ddl-alter TEXT --in-place"),
    (1, "not an HDF5 file", "ddl-alter difference TEXT TEXT --out NEW"),
    (1, "LONG", "trace-info LONG"),
    (1, "LONG", "interference analyse LONG"),
    (1, "LONG", "ddl-data info LONG"),
]


def main():
    wrong = []
    with tempfile.TemporaryDirectory(prefix="crosstalk-test.") as directory:
        home = pathlib.Path(directory)
        (home / "late.spec").write_text(LATE)
        if not (BIN / "trace-synth").exists():
            print("SKIPPED: the programs were not built")
            return 77
        (home / "unread").write_text("nothing that any program reads\n")
        for part in ("train", "noise"):
            (home / "run" / part).mkdir(parents=True)
        host = subprocess.run(["hostname", "-s"], capture_output=True, text=True).stdout.strip()
        (home / f"run/noise/{host}.0").mkdir()
        subprocess.run([BIN / "trace-synth", home / "late.spec", "-o", home / "late"], stdout=subprocess.DEVNULL, check=True)
        shutil.copytree(home / "late", home / "other")
        (home / "taken").mkdir()
        (home / "campaign").mkdir()
        (home / "campaign/spec.ini").write_text("command = true\nnoise = cpu.spin\n")
        for table in ("waits.csv", "path.csv", "steps.csv"):
            (home / "taken" / table).write_text("taken\n")
        files = {"NEW": home / "new", "TAKEN": home / "taken", "NONE": home / "none", "TEXT": home / "unread", "DIR": home,
                 "LATE": home / "late/traces.otf2", "OTHER": home / "other/traces.otf2", "RUN": home / "run",
                 "CAMPAIGN": home / "campaign", "LONG": "LONG" * 200}
        for code, words, text in WRONG:
            command = []
            for word in text.split():
                if word == "PLACE":
                    command += PLACE
                elif word.startswith("SPEC:"):
                    (home / "wrong.spec").write_text(word[5:].replace("\\n", "\n").replace("~", " ") + "\n")
                    command.append(str(home / "wrong.spec"))
                elif word in files:
                    command.append(str(files[word]))
                else:
                    command.append(word.replace("~", " "))
            if not (BIN / command[0]).exists():
                continue
            command[0] = str(BIN / command[0])
            outcome = subprocess.run(command, capture_output=True, text=True, cwd=home, timeout=120, stdin=subprocess.DEVNULL)
            lines = outcome.stderr.splitlines()
            said = lines[-1] if lines else ""
            if "--show" in sys.argv:
                print(len(said), said)
            expected = str(files.get(words, words)) if words in ("NONE", "TEXT") else words.replace("CAMPAIGN", str(files["CAMPAIGN"]))
            if outcome.returncode != code:
                wrong.append(f"'{text}' ended with {outcome.returncode}, not {code}: {said}")
            elif len(lines) != 1 or not said.startswith(pathlib.Path(command[0]).name + ": "):
                wrong.append(f"'{text}' said {len(lines)} lines: {outcome.stderr}")
            elif any(f": {program.name}: " in said for program in BIN.iterdir()):
                wrong.append(f"'{text}' names a program within its line: {said}")
            elif len(said) > LONGEST:
                wrong.append(f"'{text}' said {len(said)} characters: {said}")
            elif expected not in said:
                wrong.append(f"'{text}' did not say '{expected}': {said}")
            if (home / "new").exists():
                wrong.append(f"'{text}' left something behind")
                break
    if wrong:
        print("NOT TRUE: each error is one short line", *wrong, sep="\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
