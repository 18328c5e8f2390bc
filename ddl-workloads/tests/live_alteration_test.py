#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A bit flips in one rank of a real training: what happens to it on the other ranks follows from how SGD updates.

    live_alteration_test.py BIN     exit code 77: no python3-h5py, no mpirun, or ddl-train has no mlp
    DEVICE=staged live_alteration_test.py BIN     the same with --device staged

With gradients averaged over ranks and momentum m, a weight that one rank has altered by d stays d apart; a momentum
altered by d ends at a weight -lr m d / (1 - m) apart. All else is equal to the bit: the ranks' gradients are the same
mean.
"""
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
RATE, MOMENTUM, STEPS = 0.01, 0.9, 140
AT_NIGHT = "CROSSTALK_NIGHTLY" in os.environ
BRIEF = 60  # steps of a training that only has to show whether its ranks agree
TWO_RANKS = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2"]
TRAIN = [BIN / "ddl-train", "--model", "mlp[hidden=32]", "--data", "synthetic[samples=1600,channels=1,height=8,width=8]",
         "--lr", RATE, "--momentum", MOMENTUM, "--weight-decay", 0, "--trace", "off", "--json", "--device", os.environ.get("DEVICE", "cpu")]


def train(out, *words, code=0, steps=STEPS, start=TWO_RANKS):
    command = [str(word) for word in (*start, *TRAIN, "--steps", steps, "--out", out, *words)]
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       # MPI leaks
                       ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0:malloc_context_size=0")
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == code or (code == 1 and done.returncode != 0), f"{command}: {done.returncode}: {done.stderr[-2000:]}"
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else done.stderr


def states(out):
    """States of both ranks at the end, by path."""
    checkpoint = sorted((out / "train/checkpoints").iterdir())[-1]
    found = []
    for rank in (0, 1):
        with h5py.File(checkpoint / f"shard-{rank}.h5") as file:
            tensors = {}
            file.visititems(lambda name, item: tensors.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
            found.append(tensors)
    return found


def sequence(directory, path, *sites):
    """A record of flips: (index, bit) of each place."""
    record = directory / "flip.json"
    record.write_text(json.dumps({path: [[[index], [bit]] for index, bit in sites]}))
    return record


def apart(directory, flips, tag):
    """The numbers of the model that differ between ranks at the end, and their differences. `flips`: places by path."""
    out = directory / tag
    words = []
    for path, sites in flips.items():
        (directory / path).mkdir(parents=True, exist_ok=True)
        words += ["--alter", f"1:50:{sequence(directory / path, path, *sites)}"]
    train(out, *words, "--checkpoint-every", STEPS, "--checkpoint-by", "sharded")
    one, other = states(out)
    return {(name, int(at)): float(other[name].flat[at]) - float(one[name].flat[at])
            for name in one if name.startswith("model/") for at in np.flatnonzero(one[name] != other[name])}


def main():
    listed = subprocess.run([str(BIN / "ddl-train"), "--list"], capture_output=True, text=True, check=True).stdout
    if shutil.which("mpirun") is None or "mlp" not in listed:
        print("SKIPPED: no mpirun, or ddl-train has no mlp")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        truth = train(directory / "quiet", steps=BRIEF)
        train(directory / "begun", "--checkpoint-every", 50, "--checkpoint-by", "sharded", steps=50)
        checkpoint, = (directory / "begun/train/checkpoints").iterdir()
        with h5py.File(checkpoint / "checkpoint.h5") as file:
            weights = [key for key in file["model"] if file["model"][key].ndim == 2]
            weight = weights[0]
            momenta = file[f"optimizer/momentum/{weight}"][()].ravel()
            numbers = file[f"model/{weight}"][()].ravel()
        largest = [int(at) for at in np.argsort(np.abs(momenta))[-5:]]
        index = largest[-1]

        # The effect of each flip does not depend on the others, so one training has all of them.
        flipped = lambda value, bit: float((value.view("u4") ^ np.uint32(1 << (31 - bit))).view("f4"))
        by_bit = dict(zip((8, 9, 0), largest[:3]))
        momentum_by_bit = dict(zip((8, 0), largest[3:]))
        found = apart(directory, {f"model/{weight}": [(at, bit) for bit, at in by_bit.items()],
                                  f"optimizer/momentum/{weight}": [(at, bit) for bit, at in momentum_by_bit.items()]}, "both")
        assert set(found) == {(f"model/{weight}", at) for at in largest}, found
        for bit, at in by_bit.items():
            difference = flipped(numbers[at], bit) - float(numbers[at])
            assert abs(found[f"model/{weight}", at] / difference - 1) < 1e-5, (bit, found, difference)
        for bit, at in momentum_by_bit.items():
            expected = -RATE * MOMENTUM / (1 - MOMENTUM) * (flipped(momenta[at], bit) - float(momenta[at]))
            assert abs(found[f"model/{weight}", at] / expected - 1) < 0.01, (bit, found, expected)

        # A flip after the exchange makes ranks diverge; a flip before it, or in the input, changes all ranks alike.
        for path, tag in ((f"gradient/{weight}", "gradient"), ("input/images", "input")):
            out = directory / tag
            result = train(out, "--alter", f"1:50:{sequence(directory, path, (index, 2))}", steps=BRIEF)
            assert result["ranks_agree"] and result["checksum"] != truth["checksum"], (tag, result)
        told = train(directory / "told", "--alter", f"0:50:{sequence(directory, f'mean/{weight}', (index, 8))}", steps=BRIEF)
        assert not told["ranks_agree"], told
        everywhere = train(directory / "all", "--alter", f"all:50:{sequence(directory, f'model/{weight}', (index, 9))}", steps=BRIEF)
        assert everywhere["ranks_agree"] and everywhere["checksum"] != truth["checksum"]

        # After the same altered checkpoint all strategies end with the same bits, with NaN too.
        for bit, tag in ((1, "huge"), (3, "small"))[:2 if AT_NIGHT else 1]:
            altered = directory / f"altered-{tag}"
            record = directory / f"{tag}.json"
            subprocess.run([str(BIN / "ddl-alter"), str(checkpoint), "--location", "model/", "--flips", "30",
                            "--bits", str(bit), "--out", str(altered), "--record", str(record)], check=True,
                           capture_output=True)
            ends = {train(directory / f"{tag}-{strategy}", "--strategy", strategy, "--resume", altered,
                          steps=70)["checksum"] for strategy in ("naive", "ddp", "cycle")}
            assert len(ends) == 1, (tag, ends)

        for wrong, part in ((f"model/{weight}x", "no model/"), ("weights/x", "does not begin with"),
                            ("gradient/none", "no gradient"))[:3 if AT_NIGHT else 1]:
            said = train(directory / "wrong", "--alter", f"0:2:{sequence(directory, wrong, (0, 1))}", steps=5, code=1,
                         start=[])
            assert part in said, said
            shutil.rmtree(directory / "wrong", ignore_errors=True)
        # A requested alteration that did not happen is reported: its step lies past the end.
        said = train(directory / "late", "--alter", f"0:5:{sequence(directory, f'model/{weight}', (0, 1))}", steps=5, code=3)
        assert said.count("step 5 was not reached") == 1, said
        print("passed")


if __name__ == "__main__":
    main()
