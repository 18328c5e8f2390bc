#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trials in one process end with the same bits as separate processes; after a kill or a stall the remaining trials run.

    trials_test.py BIN [NUMBER]     a warm training of so many trials (40); exit code 77: no mpirun, or ddl-train has no
                                    mlp
    DEVICE=staged trials_test.py BIN     the warm and the cold ones with --device staged

The truth is by other hands: cold trainings that resume from checkpoints which ddl-alter has altered.
"""
import csv
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(sys.argv[1])
LAST = int(sys.argv[2]) if len(sys.argv) > 2 else 40
COLUMNS = "trial,block,kind,step,location,bits,count,target,rank,guard,steps,seed".split(",")
STORED_COLUMNS = ["store", "detect", "rate", "reads"]
DATA = "synthetic[samples=1600,channels=1,height=8,width=8]"
TRAIN = ["--model", "mlp[hidden=32]", "--data", DATA, "--batch", 8, "--trace", "off", "--json",
         "--device", os.environ.get("DEVICE", "cpu")]
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   # MPI leaks
                   ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0:malloc_context_size=0")
MOMENT, END = 20, 50


def run(*words, code=0):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600, check=False,
                          env=ENVIRONMENT)
    assert done.returncode == code, f"{words}: {done.returncode}: {done.stderr[-2000:]}"
    return done


def ddl_train(ranks, *words):
    start = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks] if ranks > 1 else []
    return [*start, BIN / "ddl-train", *words]


def train(ranks, out, *words):
    done = run(*ddl_train(ranks, *TRAIN, "--out", out, *words))
    return json.loads(done.stdout.splitlines()[-1])


def trial(name, kind="trial", **given):
    row = dict(trial=name, block=1, kind=kind, step=MOMENT, location="", bits="", count=1, target="model", rank="all",
               guard="none", steps=END - MOMENT, seed=1)
    return {**row, **given}


def write_trials(file, rows):
    """Writes the table in the format of earlier versions if no row is of stored weights."""
    columns = COLUMNS + (STORED_COLUMNS if any(row["kind"] == "stored" for row in rows) else [])
    with open(file, "w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def outcomes(out):
    with open(out / "train/outcomes.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def make(ranks, out, trials, *words):
    words_of_trials = [word for word in TRAIN if word not in ("--trace", "off")]
    return run(*ddl_train(ranks, *words_of_trials, "--trials", trials, "--out", out, *words))


def same_as_cold(scratch, ranks):
    """The 1st, 10th and 1,000th null trial, and three alterations, compared with separate processes."""
    cold = train(ranks, scratch / "cold", "--steps", END)
    train(ranks, scratch / "golden", "--steps", MOMENT, "--checkpoint-every", MOMENT)
    checkpoint = scratch / f"golden/train/checkpoints/step-{MOMENT:09d}"
    drawn = {"exponent": ("model", "1-8", 10, 7), "any": ("model", "0-31", 3, 8), "momentum": ("optimizer", "1-8", 10, 9)}
    expected = {}
    records = {}
    for name, (target, bits, count, seed) in drawn.items():
        altered = scratch / f"altered-{name}"
        run(BIN / "ddl-alter", checkpoint, "--location", f"{target}/", "--bits", bits, "--flips", count, "--seed",
            seed, "--out", altered)
        with open(f"{altered}.alteration.csv", newline="", encoding="utf-8") as file:
            records[name] = list(csv.DictReader(file))
        expected[name] = train(ranks, scratch / f"cold-{name}", "--steps", END, "--resume", altered)
    rows = []
    for number in range(1, LAST + 1):
        if number in (1, 10, LAST):
            rows.append(trial(f"null-{number}", "null"))
        elif number in (2, LAST // 2):
            rows.append(trial(f"nan-{number}", "positive"))
        elif number in (3, 4, LAST - 1):
            name = list(drawn)[(3, 4, LAST - 1).index(number)]
            target, bits, count, seed = drawn[name]
            rows.append(trial(name, target=target, bits=bits, count=count, seed=seed))
        else:
            rows.append(trial(f"t{number}", bits="1-8", count=5, seed=number, steps=1, target="both"))
    write_trials(scratch / "trials.csv", rows)
    make(ranks, scratch / "warm", scratch / "trials.csv")
    found = {row["trial"]: row for row in outcomes(scratch / "warm")}
    assert len(found) == LAST
    for number in (1, 10, LAST):
        row = found[f"null-{number}"]
        assert row["checksum"] == cold["checksum"], f"null {number} differs from the cold run"
        assert float(row["accuracy"]) == cold["accuracy"] and float(row["loss"]) == cold["loss"], row
        assert row["class"] == "masked" and row["first_difference"] == "", row
    for number in (2, LAST // 2):
        assert found[f"nan-{number}"]["class"] == "collapsed", found[f"nan-{number}"]
    for name, one in expected.items():
        row = found[name]
        assert row["checksum"] == one["checksum"], f"{name} differs from its cold run"
        assert one["accuracy"] == float(row["accuracy"]), (name, row)
        assert one["checksum"] != cold["checksum"]
        tensors = []
        for number in records[name]:
            path = number["path"]
            if path not in tensors:
                tensors.append(path)
        assert row["path"].split(";") == tensors, (row["path"], tensors)


def ask_for_delays(run):
    """Requests delays as noisegen does in a slot of control.delay that never ends, by the documented layout of the
    control file."""
    page = bytearray(4096)
    struct.pack_into("<II", page, 0, 0x58544C4B, 3)
    struct.pack_into("<qIxxxxq", page, 64, 2**62, 1, 2**62)
    (run / "control").mkdir(parents=True)
    file = run / "control" / os.uname().nodename.split(".")[0]
    file.write_bytes(page)
    return file


def altered_and_delayed(scratch):
    """Hooks of a training act in its trials, too: what --alter changes in a step is changed in each trial, and delays
    change nothing."""
    record = scratch / "flip.json"
    record.write_text(json.dumps({"input/images": [[[9], [30]]]}))
    also = ["--alter", f"all:{MOMENT + 5}:{record}"]
    cold = train(1, scratch / "altered-cold", "--steps", END, *also)
    plain = train(1, scratch / "plain-cold", "--steps", END)
    assert cold["checksum"] != plain["checksum"]
    write_trials(scratch / "altered.csv", [trial("null", "null"), trial("exponent", bits="1-8", seed=3)])
    page = ask_for_delays(scratch / "altered")
    make(1, scratch / "altered", scratch / "altered.csv", *also, "--delay", "0:forward:1ms", "--control-delay", "1ms")
    controlled = struct.unpack_from("<Q", page.read_bytes(), 136)[0]
    # The first two steps have none: the length of a step is unknown, and a request takes effect in the next step.
    assert END - 2 <= controlled <= END + 2 * (END - MOMENT), controlled
    found = {row["trial"]: row for row in outcomes(scratch / "altered")}
    assert found["null"]["checksum"] == cold["checksum"] and found["null"]["class"] == "masked", found["null"]
    assert found["exponent"]["checksum"] != cold["checksum"]
    with open(scratch / "altered/train/run.json", encoding="utf-8") as file:
        rank = json.load(file)["result"]["each_rank"][0]
    assert rank["alterations"] == 3, rank  # in the undisturbed training and in two trials
    assert rank["injected_delays"]["count"] == END + 2 * (END - MOMENT), rank


def goes_on_after_kill(scratch):
    rows = [trial(f"t{i:03d}", bits="1-8", count=2, seed=i, steps=10) for i in range(60)]
    write_trials(scratch / "killed.csv", rows)
    make(1, scratch / "whole", scratch / "killed.csv")
    whole = outcomes(scratch / "whole")
    words = [str(word) for word in ddl_train(1, *[w for w in TRAIN if w not in ("--trace", "off")], "--trials",
                                             scratch / "killed.csv", "--out", scratch / "killed")]
    with subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        file = scratch / "killed/train/outcomes.csv"
        while not file.exists() or file.read_text(encoding="utf-8").count("\n") < 15:
            assert process.poll() is None, "it ended before it was killed"
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
    write_trials(scratch / "other.csv", rows[:-1])
    other = run(*ddl_train(1, "--model", "mlp", "--trials", scratch / "other.csv", "--out", scratch / "killed"), code=2)
    assert "has other trials" in other.stderr, other.stderr
    make(1, scratch / "killed", scratch / "killed.csv")
    found = outcomes(scratch / "killed")
    assert [row["trial"] for row in found] == [row["trial"] for row in whole]
    crashed = [row for row in found if row["class"] == "crashed"]
    assert len(crashed) <= 1, crashed
    for one, other in zip(found, whole):
        if one["class"] != "crashed":
            assert {**one, "seconds": ""} == {**other, "seconds": ""}, (one, other)


def process_of_rank(process, rank):
    """The process of one of the ranks that this mpirun has started."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
            environment = (entry / "environ").read_bytes().split(b"\0")
            if parent == process.pid and f"OMPI_COMM_WORLD_RANK={rank}".encode() in environment:
                return int(entry.name)
        except OSError:
            continue
    raise AssertionError(f"no rank {rank}")


def stands_still(scratch):
    """A rank that stalls in a trial ends the training after a while: that trial has crashed, and all others end as
    usual. This holds for whichever rank stalls, and if it happens again."""
    rows = [trial("before", bits="1-8", seed=1), trial("hangs", bits="1-8", seed=2, steps=400),
            trial("between", bits="1-8", seed=3), trial("hangs too", bits="1-8", seed=4, steps=400),
            trial("after", bits="1-8", seed=5)]
    write_trials(scratch / "still.csv", rows)
    make(2, scratch / "moving", scratch / "still.csv")
    words = [str(word) for word in ddl_train(2, *[w for w in TRAIN if w not in ("--trace", "off")], "--trials",
                                             scratch / "still.csv", "--out", scratch / "still", "--stall-after", "3s")]
    for name, rank in (("hangs", 1), ("hangs too", 0)):
        mark = scratch / "still/train/trial-begun"
        with subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as process:
            while not mark.exists() or mark.read_text(encoding="utf-8") != name:
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.002)
            os.kill(process_of_rank(process, rank), signal.SIGSTOP)
            said = process.communicate(timeout=120)[1]
            assert process.returncode != 0 and "no progress for 3s" in said, said
            assert f"silent (stopped, dead or cut off): rank {rank}" in said, said
    make(2, scratch / "still", scratch / "still.csv")
    for one, other in zip(outcomes(scratch / "still"), outcomes(scratch / "moving"), strict=True):
        if one["trial"].startswith("hangs"):
            assert one["class"] == "crashed" and one["accuracy"] == "", one
        else:
            assert {**one, "seconds": ""} == {**other, "seconds": ""}, (one, other)


def one_rank_alone(scratch):
    rows = [trial("null", "null"), trial("second", rank=1, bits="2-8", count=20, seed=3),
            trial("inference", steps=0, bits="1", count=50, seed=4), trial("nan", "positive", rank=0)]
    write_trials(scratch / "one.csv", rows)
    make(2, scratch / "one", scratch / "one.csv")
    null, second, inference, nan = outcomes(scratch / "one")
    digits = len(null["state_checksum"]) // 2
    assert second["state_checksum"][:digits] != second["state_checksum"][digits:], "both ranks were altered"
    assert null["state_checksum"][:digits] == null["state_checksum"][digits:]
    assert inference["loss"] == "" and inference["steps"] == "0" and inference["accuracies"].startswith("0:")
    assert nan["class"] == "collapsed"


def guarded(scratch):
    """Guards find and repair alterations in trials, in the same step: such a trial ends with the bits of an undisturbed
    training."""
    flip = dict(bits="1", count=1, seed=3)
    rows = [trial("null", "null"), trial("watched", "null", guard="range+norm=10x"),
            trial("told", guard="range=2", **flip), trial("back", guard="checksum:rollback=10", **flip),
            trial("nan", "positive", guard="range:repair", rank=1), trial("again", **flip),
            trial("nan back", "positive", guard="norm:rollback=7")]
    write_trials(scratch / "guarded.csv", rows)
    make(2, scratch / "guarded", scratch / "guarded.csv")
    null, watched, told, back, nan, again, nan_back = outcomes(scratch / "guarded")
    assert watched["caught"] == "" and watched["state_checksum"] == null["state_checksum"], watched
    assert told["caught"] == "0" and told["state_checksum"] == again["state_checksum"], (told, again)
    assert back["caught"] == "0" and back["class"] == "masked", back
    assert nan["caught"] == "0" and nan["class"] == "masked", nan
    assert again["caught"] == "" and again["class"] != "masked", again
    # The step with a loss that is not finite was rolled back, so it is not among the training's steps.
    assert nan_back["caught"] == "0" and nan_back["class"] == "masked" and nan_back["loss"] == null["loss"], nan_back


def stored_weights(scratch):
    """Weights that are read without flips are unchanged in fp32; others are damaged, in the same way for the same
    seed."""
    def stored(name, store, rate, detect="none", reads="once", **given):
        return trial(name, "stored", store=store, rate=rate, detect=detect, reads=reads, **given)

    many = dict(store="int8", rate=0.01)
    rows = [trial("null", "null"), stored("once", "fp32", 0), stored("each", "fp32", 0, reads="each", detect="both"),
            stored("int8", **many), stored("again", **many), stored("other", **many, seed=2),
            stored("found", **many, detect="parity"), stored("inference", **many, steps=0),
            stored("rounded", "int4", 0, steps=0), stored("rare", "fp32", 1e-9, steps=0),
            stored("trained", **many, reads="each"), stored("one", **many, rank=1)]
    write_trials(scratch / "stored.csv", rows)
    make(2, scratch / "stored", scratch / "stored.csv")
    found = {row["trial"]: row for row in outcomes(scratch / "stored")}
    for name in ("once", "each", "rare"):
        assert found[name]["class"] == "masked" and found[name]["flipped"] == "0", found[name]
    assert found["null"]["flipped"] == "" and found["once"]["checksum"] == found["null"]["checksum"]
    assert found["int8"]["checksum"] == found["again"]["checksum"] != found["other"]["checksum"]
    digits = len(found["int8"]["state_checksum"]) // 2
    assert found["int8"]["state_checksum"][:digits] == found["int8"]["state_checksum"][digits:], "ranks read other weights"
    assert found["one"]["state_checksum"][:digits] != found["one"]["state_checksum"][digits:]
    bits = float(found["int8"]["drawn_from"])
    flipped = int(found["int8"]["flipped"]) / 2  # per rank
    assert abs(flipped - bits / 100) < 5 * (bits / 100) ** 0.5, (bits, flipped)
    assert found["int8"]["detected"] == "0" and int(found["found"]["detected"]) > 0
    assert found["rounded"]["class"] == "ended" and found["rounded"]["flipped"] == "0"
    assert found["inference"]["accuracies"].startswith("0:") and found["inference"]["loss"] == ""
    reads = (END - MOMENT) + found["trained"]["accuracies"].count(":")  # one forward per step, and one per evaluation
    assert float(found["trained"]["drawn_from"]) == reads * bits, (found["trained"], reads)
    assert found["trained"]["class"] != "masked"

    plain = train(2, scratch / "plain", "--steps", END)
    sound = train(2, scratch / "sound", "--steps", END, "--store", "fp32", "--bit-error-rate", 0)
    assert sound["checksum"] == plain["checksum"] and sound["stored"]["flipped"] == 0
    hurt = train(2, scratch / "hurt", "--steps", END, "--store", "int8", "--detect", "both", "--bit-error-rate", 0.01)
    assert hurt["ranks_agree"] and hurt["checksum"] != plain["checksum"], "sound weights are updated, on all ranks alike"
    assert hurt["stored"]["flipped"] > 0 and hurt["stored"]["detected"] > 0, hurt["stored"]


def refused(scratch):
    """A trial that names what the training lacks ends it before the first trial, with one line, and is no outcome."""
    stored = dict(kind="stored", store="int8", detect="none", rate=0.1, reads="once")
    bad = (
        (trial("a", **{**stored, "store": "int9"}), "'int9' is not one of fp32, fp16"),
        (trial("a", **{**stored, "rate": 1.5}), "a probability from 0 to 1"),
        (trial("a", **{**stored, "target": "optimizer"}), "a stored trial alters the model"),
        (trial("a", **{**stored, "reads": "each"}, guard="range"), "a stored trial with reads = each takes no guard"),
        (trial("a", **stored, location="layer9"), "no weights to store"),
        (trial("a", step=-1), "less than 0"), (trial("a", kind="none"), "is not one of null, positive"),
        (trial("a", guard="rnge"), "did you mean range?"), (trial("a", guard="range:stop"), "stop is not for trials"),
        (trial("a", guard="replicas"), "there is only one rank"),
        (trial("a", rank=3), "alters rank 3 of 1"),
        (trial("a", location="layer9"), "no tensor of the model has a name that begins with 'layer9'"),
        (trial("a", location="layers.9"), "; there are layers.head.0, layers.layer 0.0"),
        (trial("a", location="layers.9", target="optimizer"), "no tensor of the optimizer"),
        (trial("a", location="model/layers.heat"), "did you mean model/layers.head.0?; there are model/layers.head.0"),
        (trial("a", bits="32"), "is of type float32, which has bits 0 to 31"),
        (trial("a", bits="0-40", target="both"), "bits 0 to 31"),
        (trial("a", location="layers.head", bits="1", count=10**6), "there are only"),
        (trial("a", bits="70"), "not a range"))
    for number, (row, why) in enumerate(bad if LAST > 100 else bad[::4]):
        write_trials(scratch / "bad.csv", [trial("good", "null"), row])
        words = [str(word) for word in ddl_train(1, "--model", "mlp[hidden=8]", "--data", DATA, "--trials",
                                                 scratch / "bad.csv", "--out", scratch / "bad")]
        for more in ([], ["--check"]) if LAST > 100 else ([["--check"], []][number % 2],):
            done = subprocess.run(words + more, capture_output=True, text=True, timeout=300, check=False, env=ENVIRONMENT)
            assert done.returncode in (1, 2) and why in done.stderr, (row, done.stderr)
            assert len(done.stderr.splitlines()) == 1 and len(done.stderr) <= 250, done.stderr
            assert "ended" not in done.stdout and not (scratch / "bad/train").exists(), (row, done.stdout)
        shutil.rmtree(scratch / "bad", ignore_errors=True)
    write_trials(scratch / "bad.csv", [trial("good", "null"), trial("a", location="layers.9", rank=1)])
    done = subprocess.run([str(word) for word in ddl_train(2, "--model", "mlp[hidden=8]", "--data", DATA, "--trials",
                                                           scratch / "bad.csv", "--out", scratch / "bad")],
                          capture_output=True, text=True, timeout=300, check=False, env=ENVIRONMENT)
    assert done.returncode == 2 and "trial a: no tensor of the model" in done.stderr, done
    write_trials(scratch / "fine.csv", [trial("good", "null"), trial("a", location="layers.head", bits="31")])
    fine = run(*ddl_train(2, "--model", "mlp[hidden=8]", "--data", DATA, "--trials", scratch / "fine.csv", "--check",
                          "--out", scratch / "fine"))
    assert fine.stdout == "2 trials can be made\n" and not (scratch / "fine/train").exists(), fine


def main():
    listed = run(BIN / "ddl-train", "--list").stdout
    if "mlp" not in listed or not shutil.which("mpirun"):
        print("SKIPPED: no mpirun, or no model mlp")
        sys.exit(77)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="trials-test."))
    try:
        refused(scratch)
        altered_and_delayed(scratch)
        goes_on_after_kill(scratch)
        if LAST > 100:  # two real stalls take long
            stands_still(scratch)
        one_rank_alone(scratch)
        guarded(scratch)
        stored_weights(scratch)
        same_as_cold(scratch, 2)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("trials end as cold trainings do")


main()
