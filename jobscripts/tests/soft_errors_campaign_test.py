#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A campaign of soft errors is planned, run, killed, run again and collected: each trial has one row.

    soft_errors_campaign_test.py BIN     exit code 77: ddl-train has no mlp
"""
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(sys.argv[1])
ENVIRONMENT = dict(os.environ, CROSSTALK_BIN=str(BIN), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0:malloc_context_size=0")  # of MPI
SPEC = """kind = soft-errors
model = mlp
options = --data digits --batch 16
ranks = 1
moments = 5, 15
end = 15
bits = 1, 2-31
trials = 5
guards = none, range
stores = int8
rates = 1e-3
stored-trials = 2
controls = 2
blocks = 2
"""


def crosstalk(*words):
    done = subprocess.run([BIN / "crosstalk", "campaign", *map(str, words)], capture_output=True, text=True, timeout=300,
                          check=False, env=ENVIRONMENT)
    assert done.returncode == 0, f"{words}: {done.returncode}: {done.stderr[-2000:]}"
    return done


def goes_on(campaign):
    """The training of the killed run may end a little later, and locks the directory until then."""
    end = time.monotonic() + 30
    while True:
        done = subprocess.run([BIN / "crosstalk", "campaign", "run", campaign], capture_output=True, text=True,
                              timeout=300, check=False, env=ENVIRONMENT)
        if "still running" not in done.stderr or time.monotonic() > end:
            break
        time.sleep(0.2)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-2000:]}"


def priced_beside_noise(scratch, campaign):
    """The same run with noise is not counted as another run: its null trials give the guards' cost under noise, which
    here equals that of the quiet ones."""
    noisy = scratch / "noisy"
    shutil.copytree(campaign / "ddp/train", noisy / "train", ignore=shutil.ignore_patterns("trace"))
    subprocess.run([BIN / "noisegen", "--schedule", "cpu.spin 100ms", "--duration", "300ms", "--out", scratch / "noise"],
                   check=True, capture_output=True, timeout=60)
    shutil.move(scratch / "noise/noise", noisy / "noise")
    seeds = [word for number in range(1, 9) for word in ("--band", campaign / f"seed-{number}")]
    done = subprocess.run([BIN / "interference", "outcomes", campaign / "ddp", noisy, *seeds, "--out", scratch / "priced"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (0, 3), done.stderr
    told = {row["guard"]: row for row in rows(scratch / "priced/guards.csv")}
    assert told["range"]["noise"] == "cpu.spin 100ms" and told["range"]["cost_percent"] != "", told
    for column in ("cost_percent", "cost_low_percent", "cost_high_percent"):
        assert told["range"][column] == told["range"][f"noisy_{column}"], told["range"]
    for table in ("classes.csv", "stored.csv"):
        assert rows(campaign / "report" / table) == rows(scratch / "priced" / table), table


def rows(file):
    with open(file, newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def what_the_model_lacks(scratch):
    """A trial that the model cannot have ends the campaign before any training."""
    for number, (changed, why) in enumerate((("locations = layers.head, layer4", "begins with 'layer4'; there are layers.head.0"),
                                             ("bits = 1, 32", "which has bits 0 to 31"))):
        name = changed.split(" ", maxsplit=1)[0]
        kept = "\n".join(line for line in SPEC.splitlines() if not line.startswith(name))
        (scratch / "typo.ini").write_text(f"{kept}\n{changed}\n", encoding="utf-8")
        campaign = scratch / f"typo-{number}"
        crosstalk("plan", scratch / "typo.ini", "-o", campaign)
        done = subprocess.run([BIN / "crosstalk", "campaign", "run", campaign], capture_output=True, text=True,
                              timeout=300, check=False, env=ENVIRONMENT)
        assert done.returncode == 2 and why in done.stderr and len(done.stderr.splitlines()) == 1, done
        assert not (campaign / "seed-1").exists() and not (campaign / "ddp/train").exists(), "something was trained"


def main():
    listed = subprocess.run([BIN / "ddl-train", "--list"], capture_output=True, text=True, check=True).stdout
    if "mlp" not in listed:
        print("SKIPPED: no model mlp")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="soft-errors-campaign.") as name:
        scratch = pathlib.Path(name)
        what_the_model_lacks(scratch)
        (scratch / "spec.ini").write_text(SPEC, encoding="utf-8")
        campaign = scratch / "campaign"
        crosstalk("plan", scratch / "spec.ini", "-o", campaign)
        planned = rows(campaign / "trials.csv")
        outcomes = campaign / "ddp/train/outcomes.csv"
        standing = json.loads(crosstalk("status", "--json", campaign).stdout)
        assert standing["seeds_done"] == 0 and standing["done"] == {"ddp": 0} and not standing["is_being_run"], standing
        assert abs(standing["seconds_left"] - 0.5 * len(planned)) < 1e-6, standing  # expected: 0.5 s each
        # On SIGTERM it ends after the current trial; a trial that takes too long is repeated.
        with subprocess.Popen([BIN / "crosstalk", "campaign", "run", campaign], env=ENVIRONMENT,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while not outcomes.exists() or outcomes.read_text(encoding="utf-8").count("\n") < 4:
                assert process.poll() is None, "it ended before it was stopped"
                time.sleep(0.002)
            process.send_signal(signal.SIGTERM)
        result = json.loads((campaign / "ddp/train/run.json").read_text(encoding="utf-8"))["result"]
        assert result["trials"]["ended"] == len(rows(outcomes)) and result["trials"]["crashed"] == 0, result
        assert not (campaign / "ddp/train/trial-begun").exists(), "a trial that was stopped has not crashed"
        ended = len(rows(outcomes))
        with subprocess.Popen([BIN / "crosstalk", "campaign", "run", campaign], env=ENVIRONMENT, start_new_session=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while len(rows(outcomes)) < ended + 3:  # by then, it holds the lock
                assert process.poll() is None, "it ended before it was killed"
                time.sleep(0.002)
            other = subprocess.run([BIN / "crosstalk", "campaign", "run", campaign], capture_output=True, text=True,
                                   timeout=300, check=False, env=ENVIRONMENT)
            assert other.returncode == 2 and "is being run" in other.stderr, other
            assert "running" in crosstalk("status", campaign).stdout
            os.killpg(process.pid, signal.SIGKILL)
        goes_on(campaign)
        assert crosstalk("status", campaign).stdout == (
            f"8 of 8 undisturbed trainings have ended\nddp: {len(planned)} of {len(planned)} trials have ended\n"
            "not running\n")
        found = rows(outcomes)
        assert [row["trial"] for row in found] == [row["trial"] for row in planned]
        assert sum(row["class"] == "crashed" for row in found) <= 1, "only the trial that was killed has crashed"
        done = subprocess.run([BIN / "crosstalk", "campaign", "collect", campaign], capture_output=True, text=True,
                              timeout=300, check=False, env=ENVIRONMENT)
        assert done.returncode in (0, 3), done.stderr  # so few steps may not be trustworthy
        report = campaign / "report"
        assert len(rows(report / "trials.csv")) == len(planned)
        assert {row["step"]: row["trials"] for row in rows(report / "stored.csv")} == {"5": "4", "15": "4"}
        assert {row["model"] for row in rows(report / "stored.csv")} == {"mlp"}
        priced_beside_noise(scratch, campaign)
        page = (report / "index.html").read_text(encoding="utf-8")
        assert "trustworthy" in page.lower()
        # A failed report leaves the earlier one unchanged.
        shutil.move(campaign / "seed-8", scratch / "seed-8")
        done = subprocess.run([BIN / "crosstalk", "campaign", "collect", campaign], capture_output=True, text=True,
                              timeout=300, check=False, env=ENVIRONMENT)
        assert done.returncode == 1 and "seed-8" in done.stderr, done
        assert (report / "index.html").read_text(encoding="utf-8") == page
    print("a campaign of soft errors survives kill -9")


main()
