#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Guards of a real training find what was altered, and where, and nothing else; after a repair the training ends as if
it had never been altered.

    guards_test.py BIN [all]     exit code 77: no python3-h5py, no mpirun, or ddl-train has no mlp
    DEVICE=staged guards_test.py BIN     the same with --device staged

Without `all` one case of each kind is tried.

Which numbers are altered is written here; what is expected follows from where, and from h5py's reading of checkpoints.
"""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError:
    print("SKIPPED: no python3-h5py")
    sys.exit(77)

BIN = pathlib.Path(sys.argv[1])
ALL_CASES = sys.argv[2:] == ["all"]
ALL = "range=2,norm=10x,checksum,replicas"
WEIGHT = "model/layers.0.weight"  # replaced by a path of the model
HERE = None
COUNT = 0


IMAGES = ("mlp[hidden=16]", "synthetic[samples=480,channels=1,height=8,width=8]")  # model and data


def train(*words, ranks=2, steps=20, code=0, strategy="ddp", trace="off", of=IMAGES):
    """Its output directory and result (or stderr, if it ended with a usage error)."""
    global COUNT
    COUNT += 1
    out = HERE / f"{COUNT}"
    start = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks] if ranks > 1 else []
    command = [str(word) for word in (
        *start, BIN / "ddl-train", "--model", of[0],
        "--data", of[1], "--weight-decay", 0, "--trace", trace, "--json", "--strategy", strategy,
        "--steps", steps, "--out", out, "--device", os.environ.get("DEVICE", "cpu"), *words)]
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       # MPI leaks
                       ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0:malloc_context_size=0")
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == code, f"{command}: {done.returncode}: {done.stderr[-2000:]}"
    return out / "train", json.loads(done.stdout.splitlines()[0]) if code in (0, 3) else done.stderr


def cases(*every):
    return every if ALL_CASES else every[:1]


def flip(path, index, bit):
    record = HERE / f"flip{len(list(HERE.glob('flip*')))}.json"
    record.write_text(json.dumps({path: [[[index], [bit]]]}))
    return record


def rows(train_part, table):
    with open(train_part / table, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def caught(train_part):
    return [(row["guard"], int(row["step"]), row["rank"], row["tensor"]) for row in rows(train_part, "guards.csv")]


def traced(train_part, kind, name):
    """A metric or region of the archive, as in trace-info's summary."""
    done = subprocess.run([str(BIN / "trace-info"), "--json", str(train_part / "trace/traces.otf2")], check=True,
                          capture_output=True, text=True)
    found, = (one for one in json.loads(done.stdout)[kind] if one["name"] == name)
    return found


def tensors_of(checkpoint):
    with h5py.File(checkpoint / "checkpoint.h5") as file:
        found = {}
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
        return found


def without_alterations(truth):
    """Without alterations no guard finds anything, and none changes the result."""
    for strategy in cases("ddp", "naive", "cycle", "zero1"):
        out, result = train("--guard", ALL, "--on-guard", "rollback=4", strategy=strategy)
        assert set(result["guards"]["caught"].values()) == {0}, (strategy, result["guards"])
        assert result["replicas"]["compared"] == 21 and result["replicas"]["differing"] == 0, result["replicas"]
        assert not caught(out) and not rows(out, "divergence.csv")
        assert result["checksum"] == truth, strategy
    out, result = train("--guard", "range,norm,checksum", "--on-guard", "stop", strategy="none")
    assert not caught(out) and result["ended_by"] == "steps"


def one_rank_diverges():
    """The first comparison after the alteration names the tensor and, of three ranks, the rank."""
    momentum = WEIGHT.replace("model/", "optimizer/momentum/")
    for path, ranks in cases((WEIGHT, 3), (WEIGHT, 2), (momentum, 3)):
        out, result = train("--alter", f"1:7:{flip(path, 5, 9)}", "--replicas-every", 5, ranks=ranks,
                            trace="on" if ranks == 3 else "off")
        found = rows(out, "divergence.csv")
        assert found[0]["step"] == "10" and found[0]["rank"] == ("1" if ranks == 3 else ""), found
        assert {row["tensor"] for row in found} == {path, WEIGHT}, found
        if path == WEIGHT and ranks == 3:  # three ranks compare five times, and three times one tensor of one
            metric = traced(out, "metrics", "replicas_differ")
            assert metric["values"] == 15 and metric["most"] == 1 and abs(metric["mean"] - 3 / 15) < 1e-9, metric
            assert traced(out, "regions", "guard replicas")["visits"] == 15
        assert result["replicas"] == {"every": 5, "compared": 5, "differing": 3, "first_step": 10}, result["replicas"]
    mean = WEIGHT.replace("model/", "mean/")
    out, result = train("--alter", f"1:7:{flip(mean, 5, 9)}", "--guard", "replicas", ranks=3)
    assert {row[:3] for row in caught(out)} == {("replicas", 8, "1")}, caught(out)
    for path in cases("gradient/" + WEIGHT[6:], "input/images"):
        out, result = train("--alter", f"1:7:{flip(path, 5, 2)}", "--guard", "replicas")
        assert not caught(out) and result["ranks_agree"]


def state_is_watched():
    """In the altered step `checksum` finds every flip, `range` at 2 every flip of bit 1; so does `replicas`."""
    for strategy, rank, step, bit in cases(("ddp", 1, 3, 1), ("naive", 0, 0, 31), ("cycle", 0, 9, 0),
                                           ("zero1", 1, 19, 20)):
        out, result = train("--alter", f"{rank}:{step}:{flip(WEIGHT, 7, bit)}", "--guard", "checksum,range=2",
                            strategy=strategy)
        found = caught(out)
        assert ("checksum", step, str(rank), WEIGHT) in found, (strategy, found)
        assert (("range", step, str(rank), WEIGHT) in found) == (bit == 1), (strategy, found)
        assert [row for row in found if row[0] == "checksum"] == [("checksum", step, str(rank), WEIGHT)], found
    # Found in step 3, reported in step 4, known to all ranks in step 5, which is the last.
    out, result = train("--alter", f"1:3:{flip(WEIGHT, 7, 1)}", "--guard", "range=2", "--on-guard", "stop", code=3)
    assert result["ended_by"] == "guard" and result["steps"] == 6 and result["guards"]["stopped"], result
    assert caught(out)[0] == ("range", 3, "1", WEIGHT) and rows(out, "guards.csv")[0]["done"] == "stopped"


def state_is_repaired(truth, truth_of_three):
    """If one rank's copy is sound, the training ends as if nothing had been altered."""
    for bit, guards, ranks, end in cases((12, "replicas", 3, truth_of_three), (1, "range=2", 2, truth),
                                         (12, "checksum", 2, truth)):
        out, result = train("--alter", f"1:7:{flip(WEIGHT, 5, bit)}", "--guard", guards, "--on-guard", "repair",
                            ranks=ranks)
        assert [row["done"] for row in rows(out, "guards.csv")] == ["copied from rank 0"], rows(out, "guards.csv")
        assert result["checksum"] == end and result["ranks_agree"] and result["guards"]["repaired"] == 1, guards
    out, result = train("--alter", f"1:7:{flip(WEIGHT, 5, 12)}", "--guard", "replicas", "--on-guard", "repair")
    assert [row["done"] for row in rows(out, "guards.csv")] == ["not repaired"] and not result["ranks_agree"]
    out, result = train("--alter", f"all:7:{flip(WEIGHT, 5, 1)}", "--guard", "range=2", "--on-guard", "repair")
    assert {row["done"] for row in rows(out, "guards.csv")} == {"clipped"} and result["ranks_agree"]
    assert result["loss"] is not None and result["loss"] < 10, result["loss"]


def steps_are_taken_back(truth):
    """After a rollback the repeated steps are not altered again."""
    gradient = "gradient/" + WEIGHT[6:]
    for path, guards, strategy in cases((WEIGHT, "range=2", "ddp"), (gradient, "norm=10x", "naive"),
                                        (WEIGHT, "checksum", "cycle")):
        out, result = train("--alter", f"1:10:{flip(path, 5, 1)}", "--guard", guards, "--on-guard", "rollback=4",
                            "--checkpoint-every", 5, "--checkpoint-by", "sharded", strategy=strategy)
        back = 8
        seen = 11 if path == gradient else 10  # a gradient is compared before the next forward
        assert result["guards"]["rollbacks"] == 1 and result["steps"] == 20 + seen - back, result
        assert result["checksum"] == truth, (path, strategy, caught(out))
        assert rows(out, "guards.csv")[0]["done"] == f"rolled back to {back} steps done"
        steps = [int(row["step"]) for row in rows(out, "steps.csv") if row["rank"] == "0"]
        assert steps == list(range(20 + seen - back)), steps
        assert sorted(path.name for path in (out / "checkpoints").iterdir())[-1] == "step-000000020"


def transformer_is_watched():
    """A flip of the highest exponent bit in every tensor of a transformer: `range` finds and repairs each."""
    (HERE / "text").write_bytes(bytes(range(32, 127)) * 60)
    gpt = ("gpt[layers=2,width=32,heads=2]", f"text[path={HERE / 'text'},length=16]")
    out, result = train("--checkpoint-every", 10, of=gpt)
    truth = result["checksum"]
    paths = sorted(path for path, tensor in tensors_of(out / "checkpoints/step-000000020").items()
                   if path.startswith("model/") and tensor.dtype.kind == "f")
    assert len(paths) > 20, paths
    record = HERE / "transformer.json"
    record.write_text(json.dumps({path: [[[0], [1]]] for path in paths}))
    for reaction, code in (("report", 0), ("stop", 3), ("repair", 0), ("rollback=4", 0)):
        out, result = train("--alter", f"1:10:{record}", "--guard", "range=2", "--on-guard", reaction, of=gpt, code=code)
        found = caught(out)
        assert sorted(tensor for guard, step, rank, tensor in found if step == 10 and rank == "1") == paths, reaction
        if reaction in ("repair", "rollback=4"):
            assert len(found) == len(paths) and result["checksum"] == truth and result["ranks_agree"], (reaction, found)
        else:
            assert result["checksum"] != truth, reaction


def propagation(golden, checkpoint, altered):
    """The table has what h5py reads in the checkpoints of both trainings."""
    out, result = train("--alter", f"0:12:{flip(WEIGHT, 5, 8)}", "--golden", golden, "--checkpoint-every", 10,
                        "--checkpoint-by", "sharded", trace="on")
    metric = traced(out, "metrics", "weight_distance")
    assert metric["values"] == 4 and metric["least"] == 0 and metric["most"] > 0, metric  # once on each of two ranks
    found = rows(out, "propagation.csv")
    assert {row["step"] for row in found} == {"20"} and {row["rank"] for row in found} == {"0", "1"}, found
    was = tensors_of(golden / "train/checkpoints/step-000000020")
    for rank in (0, 1):
        with h5py.File(out / f"checkpoints/step-000000020/shard-{rank}.h5") as file:
            expected = {}
            for name, there in was.items():
                here = np.asarray(file[name][()])
                if name.startswith("meta/") or np.array_equal(here, there):
                    continue
                wide = there.astype("f8")
                difference = here.astype("f8") - wide
                expected[name] = (int(np.sum(here != there)), np.linalg.norm(difference) / np.linalg.norm(wide),
                                  np.abs(difference).max())
        table = {row["tensor"]: row for row in found if row["rank"] == str(rank)}
        assert set(table) == set(expected), (rank, set(table) ^ set(expected))
        for name, (count, relative, largest) in expected.items():
            row = table[name]
            assert int(row["differing"]) == count and row["not_finite"] == "0", (row, count)
            assert abs(float(row["relative_l2"]) / relative - 1) < 1e-9, (row, relative)
            assert abs(float(row["largest"]) / largest - 1) < 1e-9, (row, largest)
    out, result = train("--golden", golden, "--guard", "range")
    assert not rows(out, "propagation.csv")
    # An altered checkpoint is the same on all ranks. Not finite from the beginning, it has no sound copy to return to.
    out, result = train("--resume", altered, "--guard", "replicas,range", steps=15)
    assert {row[0] for row in caught(out)} == {"range"}, caught(out)
    out, result = train("--resume", altered, "--guard", "range", "--on-guard", "rollback", steps=15, code=3)
    assert rows(out, "guards.csv")[0]["done"].startswith("stopped"), rows(out, "guards.csv")


def refused():
    _, said = train("--guard", "replicas", strategy="none", code=2)
    assert "--guard replicas needs a strategy that keeps parameters equal on all ranks: --strategy naive" in said, said
    for words, part in cases((("--replicas-every", "2"), "one rank"),
                             (("--guard", "rang=2"), "did you mean range"),
                             (("--guard", "range=-1"), "above zero"),
                             (("--guard", "checksum=3"), "takes no value"),
                             (("--guard", "range", "--on-guard", "repiar"), "did you mean repair"),
                             (("--on-guard", "stop"), "needs --guard"),
                             (("--guard", "norm=1x"), "above 1"),
                             (("--guard", "range,range"), "twice")):
        _, said = train(*words, ranks=1, code=2)
        assert part in said, (words, said)
    _, said = train("--golden", HERE / "nowhere", ranks=1, code=1)
    assert "no checkpoint" in said, said


def main():
    global HERE, WEIGHT
    listed = subprocess.run([str(BIN / "ddl-train"), "--list"], capture_output=True, text=True, check=True).stdout
    if shutil.which("mpirun") is None or "mlp" not in listed:
        print("SKIPPED: no mpirun, or ddl-train has no mlp")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        HERE = pathlib.Path(name)
        out, result = train("--checkpoint-every", 10, "--checkpoint-keep", 0)
        golden, truth = out.parent, result["checksum"]
        begun = out / "checkpoints/step-000000010"
        with h5py.File(begun / "checkpoint.h5") as file:
            WEIGHT = "model/" + next(key for key in file["model"] if file["model"][key].ndim == 2)
        altered = HERE / "altered"
        subprocess.run([str(BIN / "ddl-alter"), str(begun), "--location", WEIGHT, "--flips", "30", "--bits",
                        "1", "--out", str(altered)], check=True, capture_output=True)
        _, three = train(ranks=3)
        without_alterations(truth)
        one_rank_diverges()
        state_is_watched()
        state_is_repaired(truth, three["checksum"])
        steps_are_taken_back(truth)
        if ALL_CASES:
            transformer_is_watched()
        propagation(golden, begun, altered)
        refused()
        print("passed")


if __name__ == "__main__":
    main()
