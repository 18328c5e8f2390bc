#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other programs read the tensors of a checkpoint: the same training writes the same tensors in each format.

    checkpoint_formats_test.py BIN raw|torch     exit code 77: a Python module or the format is not here

HDF5 is read by h5py, torch by torch.load(), raw from the description of its layout.
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
    if sys.argv[2] == "torch":
        import torch
except ImportError as missing:
    print("SKIPPED:", missing)
    sys.exit(77)

TRAIN = pathlib.Path(sys.argv[1]) / "ddl-train"
KINDS = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "u1"}


def train(out, *words):
    command = [TRAIN, "--transport", "self", "--trace", "off", "--model", MODEL, "--data", "synthetic[samples=160]",
               "--out", out, *words]
    options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # of libraries
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                          env=dict(os.environ, ASAN_OPTIONS=options))


def checkpoint(out, form):
    """The path of the checkpoint's file, without its extension."""
    done = train(out, "--steps", "2", "--checkpoint-every", "2", "--checkpoint-format", form)
    assert done.returncode == 0, done.stderr
    return out / "train/checkpoints/step-000000002/checkpoint"


def check_damage(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)
    done = train(file.parent.parent.parent.parent.with_suffix(".again"), "--steps", "4", "--resume", file.parent)
    assert done.returncode == 1 and f"{file}: " in done.stderr and "is damaged: its CRC-32C" in done.stderr, done.stderr


def from_hdf5(path):
    tensors = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, one: tensors.update({name: one[()]}) if isinstance(one, h5py.Dataset) else None)
        return dict(file["meta"].attrs), tensors


def from_raw(path):
    content = path.read_bytes()
    data = 8 + struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:data])
    head = header.pop("__metadata__")
    tensors = {}
    end = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, after = entry["data_offsets"]
        assert begin == end, f"{name}: a gap, which safetensors refuses"
        kind = np.dtype(KINDS[entry["dtype"]])
        assert (data + begin) % kind.itemsize == 0, f"{name}: not aligned"
        tensors[name] = np.frombuffer(content[data + begin:data + after], kind).reshape(entry["shape"])
        end = after
    assert data + end == len(content), "bytes after the last tensor"
    del tensors["crc32c"]
    return head, tensors


def from_torch(path):
    head, tensors = torch.load(path)
    return dict(head), {name: one.numpy() for name, one in tensors.items()}


offered = subprocess.run([TRAIN, "--list", "--json"], capture_output=True, text=True, check=True).stdout
offered = json.loads(offered)
if sys.argv[2] not in [one["name"] for one in offered["checkpoint_formats"]]:
    print("SKIPPED: this build has no format", sys.argv[2])
    sys.exit(77)
MODEL = "mlp[hidden=16]" if "mlp" in [one["name"] for one in offered["models"]] else "emulated[compute=100us]"
with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    expected_head, expected = from_hdf5(checkpoint(scratch / "hdf5", "hdf5").with_suffix(".h5"))
    if sys.argv[2] == "raw":
        file = checkpoint(scratch / "raw", "raw").with_suffix(".safetensors")
        head, tensors = from_raw(file)
    else:
        file = checkpoint(scratch / "torch", "torch").with_suffix(".pt")
        head, tensors = from_torch(file)
    check_damage(file)
assert tensors.keys() == expected.keys(), tensors.keys() ^ expected.keys()
for name, numbers in expected.items():
    assert tensors[name].dtype == numbers.dtype and tensors[name].shape == numbers.shape, name
    assert tensors[name].tobytes() == numbers.tobytes(), name
for name in ("program", "step", "seed", "model", "optimizer", "content", "tensors"):
    was = expected_head[name]
    assert head[name] == (was.decode() if isinstance(was, bytes) else str(was)), (name, head[name], was)
print(f"{len(tensors)} tensors of {sys.argv[2]} are those of HDF5")
