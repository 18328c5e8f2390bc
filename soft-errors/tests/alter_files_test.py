#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stored states of all layouts, written here with h5py, altered and restored by ddl-alter.

    alter_files_test.py BIN     exit code 77: no python3-h5py
"""
import csv
import fcntl
import hashlib
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

try:
    import h5py
    import numpy as np
except ImportError:
    print("SKIPPED: no python3-h5py")
    sys.exit(77)

BIN = pathlib.Path(sys.argv[1])
DDL_ALTER = BIN / "ddl-alter"
LONGEST = 200


def run(*words, code=0, program=DDL_ALTER, timeout=300):
    done = subprocess.run([str(program), *map(str, words)], capture_output=True, text=True, timeout=timeout,
                          check=False)
    assert done.returncode == code, f"{words}: exit code {done.returncode}, not {code}: {done.stderr}{done.stdout}"
    if code and program == DDL_ALTER:
        lines = done.stderr.splitlines()
        assert len(lines) == 1 and len(lines[0]) <= LONGEST, f"{words}: {done.stderr}"
    return done.stdout + done.stderr


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def rows(record):
    with open(record.with_suffix(".csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def state(path):
    """The bytes of each dataset, in the order of its numbers."""
    found = {}
    with h5py.File(path, "r") as file:
        def visit(name, item):
            if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiuV" and item.size:
                found[name] = (np.ascontiguousarray(item[()]).tobytes(), item.dtype)
        file.visititems(visit)
    return found


def word(raw, dtype, index):
    size = dtype.itemsize
    return int.from_bytes(raw[index * size:(index + 1) * size], "big" if dtype.byteorder == ">" else "little")


def compare(before, after, records, burst=1):
    """Asserts that the states differ, bit by bit, in what the rows say."""
    told = {(row["path"], int(row["index"])): row for row in records}
    for path, (raw, dtype) in before.items():
        new = after[path][0]
        for index in range(len(raw) // dtype.itemsize):
            old_bits, new_bits = word(raw, dtype, index), word(new, dtype, index)
            row = told.pop((path, index), None)
            if row is None:
                assert old_bits == new_bits, f"{path}[{index}] changed, and no row says so"
                continue
            width = 8 * dtype.itemsize
            assert int(row["before"], 16) == old_bits and int(row["after"], 16) == new_bits, row
            flipped = [bit for bit in range(width) if (old_bits ^ new_bits) >> (width - 1 - bit) & 1]
            assert row["bits"] == " ".join(map(str, flipped)), row
            assert len(flipped) == burst, row
    assert not told, f"rows of what is not there: {told}"


def bfloat16_type():
    kind = h5py.h5t.IEEE_F32LE.copy()
    kind.set_fields(15, 7, 8, 0, 7)
    kind.set_size(2)
    kind.set_ebias(127)
    return kind


def fill(file, layout, rng):
    """Writes datasets of one layout."""
    normal = lambda *shape: (0.05 * rng.standard_normal(shape)).astype("<f4")
    if layout == "keras":
        file.create_dataset("model_weights/dense/dense/kernel:0", data=normal(20, 30))
        file.create_dataset("model_weights/dense/dense/bias:0", data=normal(30))
        file.create_dataset("optimizer_weights/SGD/momentum:0", data=normal(20, 30))
        file.attrs["keras_version"] = "2.11"
    elif layout == "chainer":
        file.create_dataset("predictor/conv1/W", data=normal(4, 3, 3, 3), compression="gzip", compression_opts=4)
        file.create_dataset("predictor/conv1/b", data=normal(4))
    elif layout == "big-endian":
        file.create_dataset("w", data=normal(6, 7).astype(">f4"))
        file.create_dataset("d", data=normal(9).astype(">f8"))
        file.create_dataset("i", data=np.arange(12, dtype=">i2"))
    elif layout == "kinds":
        file.create_dataset("half", data=normal(40).astype("<f2"))
        file.create_dataset("double", data=normal(5, 5).astype("<f8"))
        for name in ("i1", "i4", "i8", "u1", "u2", "u4"):
            file.create_dataset(name, data=np.arange(17).astype("<" + name))
        file.create_dataset("scalar", data=np.float32(0.5))
        file.create_dataset("many", data=normal(2, 2, 2, 2, 2, 2))
    elif layout == "chunks":
        file.create_dataset("edge", data=normal(50, 33), chunks=(16, 10))
        file.create_dataset("resizable", data=normal(40), chunks=(7,), maxshape=(None,))
    elif layout == "packed":
        file.create_dataset("all", data=normal(60, 44), chunks=(25, 10), compression="gzip", shuffle=True,
                            fletcher32=True)
        file.create_dataset("sum", data=normal(300), chunks=(64,), fletcher32=True)
        file.create_dataset("be", data=normal(10, 10).astype(">f4"), chunks=(4, 4), compression="gzip")
    elif layout == "bfloat16":
        for name, kind in (("float", bfloat16_type()), ("opaque", h5py.h5t.create(h5py.h5t.OPAQUE, 2))):
            made = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple((50,)))
            raw = (normal(50).view("<u4") >> 16).astype("<u2")
            made.write(h5py.h5s.ALL, h5py.h5s.ALL, raw if name == "float" else raw.view("V2"), mtype=kind)


LAYOUTS = ("keras", "chainer", "big-endian", "kinds", "chunks", "packed", "bfloat16")


def raw_state(path):
    """The state without conversions by h5py, which does not support bfloat16."""
    found = {}
    with h5py.File(path, "r") as file:
        for name in ("float", "opaque"):
            data = file[name].id
            room = np.zeros(50, dtype="V2")
            data.read(h5py.h5s.ALL, h5py.h5s.ALL, room, mtype=data.get_type())
            found[name] = (room.tobytes(), np.dtype("<u2"))
    return found


def test_layouts(directory):
    for layout in LAYOUTS:
        for libver in ("earliest", "latest"):
            path = directory / f"{layout}-{libver}.h5"
            with h5py.File(path, "w", libver=libver) as file:
                fill(file, layout, np.random.default_rng(3))
            read = raw_state if layout == "bfloat16" else state
            before, old = read(path), sha(path)
            record = directory / f"{layout}-{libver}.json"
            out = directory / f"{layout}-{libver}-altered.h5"
            run(path, "--flips", 12, "--seed", 5, "--out", out, "--record", record)
            assert sha(path) == old, f"{layout}: the file itself changed"
            assert len(rows(record)) == 12
            compare(before, read(out), rows(record))
            here = directory / f"{layout}-{libver}-here.json"
            run(path, "--flips", 12, "--seed", 5, "--in-place", "--record", here)
            assert here.with_suffix(".csv").read_bytes() == record.with_suffix(".csv").read_bytes(), layout
            assert read(path) == read(out), layout
            run(path, "--undo", here, "--in-place")
            assert sha(path) == old, f"{layout}: undone, and not the old file"
            burst = directory / f"{layout}-{libver}-burst.json"
            run(path, "--flips", 5, "--burst", 3, "--bits", "0-7", "--in-place", "--record", burst)
            compare(before, read(path), rows(burst), 3)


def test_never_written(directory):
    """Tensors for which HDF5 has not allocated space yet are allocated when they are altered, and h5py reads the longer
    file."""
    path = directory / "w.h5"
    with h5py.File(path, "w") as file:
        file["w"] = np.ones(10, dtype="<f4")
        file.create_dataset("contiguous", shape=(100,), dtype="<f4")
        file.create_dataset("chunks", shape=(100,), chunks=(10,), dtype="<f4")
        file.create_dataset("packed", shape=(100,), chunks=(10,), dtype="<f4", compression="gzip")
    old = sha(path)
    for number, words in enumerate((("contiguous", "--flips", 100), ("contiguous", "--flips", 1), ("chunks", "--flips", 1),
                                    ("chunks", "--flips", 100), ("packed", "--flips", 3))):
        record = directory / f"r{number}.json"
        run(path, "--location", *words, "--bits", 2, "--in-place", "--record", record)
        after = state(path)
        for row in rows(record):
            assert word(*after[row["path"]], int(row["index"])) == 0x20000000, row
        assert sum(np.count_nonzero(np.frombuffer(raw, "<f4")) for raw, _ in after.values()) == 10 + words[-1]
        run(path, "--undo", record, "--in-place")
        assert sha(path) == old, words


def test_sampling(directory):
    path = directory / "state.h5"
    with h5py.File(path, "w") as file:
        fill(file, "keras", np.random.default_rng(1))
    before = state(path)

    def drawn(name, *words):
        record = directory / f"{name}.json"
        out = directory / f"{name}.h5"
        run(path, *words, "--out", out, "--record", record)
        return rows(record), state(out)

    some, after = drawn("share", "--share", "1%")
    assert len(some) == 12, len(some)  # of 1230
    compare(before, after, some)
    some, _ = drawn("stratified", "--flips", 30, "--sampling", "stratified")
    assert sorted(sum(row["path"] == one for row in some) for one in before) == [10, 10, 10]
    some, after = drawn("all", "--flips", 1230, "--bits", 0)
    assert len({(row["path"], row["index"]) for row in some}) == 1230
    compare(before, after, some)
    some, _ = drawn("location", "--flips", 9, "--location", "/model_weights/dense/dense/b")
    assert {row["path"] for row in some} == {"model_weights/dense/dense/bias:0"}
    for role, part in (("weight", "kernel"), ("bias", "bias"), ("optimizer", "momentum")):
        some, _ = drawn("role-" + role, "--flips", 5, "--role", role)
        assert all(part in row["path"] for row in some), some
    some, _ = drawn("mask", "--flips", 20, "--mask", "101101", "--bits", "9-20")
    for row in some:
        bits = list(map(int, row["bits"].split()))
        assert [bit - bits[0] for bit in bits] == [0, 2, 3, 5] and bits[0] >= 9 and bits[-1] <= 20, row
    some, _ = drawn("sign", "--flips", 200, "--bits", 9, "--sign")
    assert {row["bits"] for row in some} == {"0", "9"}
    some, after = drawn("scale", "--flips", 50, "--scale", 2.5)
    for row in some:
        old = np.uint32(int(row["before"], 16)).view("f4")
        assert np.float32(2.5 * float(old)) == np.uint32(int(row["after"], 16)).view("f4"), row
    some, _ = drawn("rate", "--bit-error-rate", "1e-2")
    flipped = sum(len(row["bits"].split()) for row in some)
    assert abs(flipped - 393.6) < 5 * 20, flipped  # of 39,360 bits
    some, _ = drawn("half", "--flips", 1000, "--probability", 0.5)
    assert 400 < len(some) < 600, len(some)


def test_not_finite(directory):
    path = directory / "ones.h5"
    with h5py.File(path, "w") as file:
        file["w"] = np.array([1.0, 1.5, 0.01, 2.0], dtype="<f4")
    old = sha(path)
    record = directory / "allow.json"
    run(path, "--flips", 4, "--bits", 1, "--out", directory / "allow.h5", "--record", record)
    assert [row["after_value"] for row in rows(record)][:2] == ["inf", "nan"]
    assert abs(float(rows(record)[2]["after_value"]) / 3.4028e36 - 1) < 1e-4 and rows(record)[3]["after_value"] == "0"
    record = directory / "skip.json"
    said = run(path, "--flips", 4, "--bits", 1, "--not-finite", "skip", "--out", directory / "skip.h5",
               "--record", record)
    assert len(rows(record)) == 2 and "2 more skipped" in said, said
    record = directory / "redraw.json"
    run(path, "--flips", 4, "--bits", "0-1", "--not-finite", "redraw", "--out", directory / "redraw.h5",
        "--record", record)
    assert [row["bits"] for row in rows(record)][:2] == ["0", "0"]
    run(path, "--flips", 4, "--bits", 1, "--not-finite", "redraw", "--in-place", code=1)
    assert sha(path) == old and not list(directory.glob("ones.h5.*"))


def test_keras_archive(directory):
    plain = directory / "model.weights.h5"
    with h5py.File(plain, "w") as file:
        fill(file, "keras", np.random.default_rng(4))
        file.create_dataset("scale", data=np.ones(30, dtype="<f4"), chunks=(10,))
    for packing in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        archive = directory / f"model{packing}.keras"
        with zipfile.ZipFile(archive, "w", packing) as file:
            file.writestr("metadata.json", '{"keras_version": "3.0"}')
            file.write(plain, "model.weights.h5")
            file.writestr("config.json", "{}" * 500)
        old = sha(archive)
        record, out = directory / f"z{packing}.json", directory / f"z{packing}.keras"
        run(archive, "--flips", 20, "--out", out, "--record", record)
        assert sha(archive) == old
        with zipfile.ZipFile(out) as file:
            assert file.testzip() is None
            assert file.read("metadata.json") == b'{"keras_version": "3.0"}' and file.read("config.json") == b"{}" * 500
            inside = directory / f"inside{packing}.h5"
            inside.write_bytes(file.read("model.weights.h5"))
        compare(state(plain), state(inside), rows(record))
        run(out, "--undo", record, "--in-place")
        with zipfile.ZipFile(out) as file:
            assert file.testzip() is None and file.read("model.weights.h5") == plain.read_bytes()
        if packing == zipfile.ZIP_STORED:
            assert sha(out) == old
        else:
            run(archive, "--in-place", code=1)
            run(archive, "--list")


def test_left_alone(directory):
    path = directory / "odd.h5"
    with h5py.File(directory / "other.h5", "w") as file:
        file["w"] = np.ones(9, dtype="<f4")
    with h5py.File(path, "w") as file:
        file["w"] = np.ones(9, dtype="<f4")
        file["same"] = file["w"]
        file["soft"] = h5py.SoftLink("/w")
        file["elsewhere"] = h5py.ExternalLink("other.h5", "/w")
        file["text"] = "some"
        file["pair"] = np.zeros(3, dtype=[("a", "f4"), ("b", "i4")])
        file.create_dataset("lossy", data=np.ones(90, dtype="<f4"), chunks=(30,), scaleoffset=2)
        file.create_dataset("lzf", data=np.ones(90, dtype="<f4"), chunks=(30,), compression="lzf")
        file.create_dataset("storage", shape=(9,), dtype="<f4", external=[(str(directory / "raw"), 0, 36)])
        layout = h5py.VirtualLayout(shape=(9,), dtype="<f4")
        layout[:] = h5py.VirtualSource(str(directory / "other.h5"), "w", shape=(9,))
        file.create_virtual_dataset("virtual", layout)
    others = sha(directory / "other.h5")
    said = run(path, "--list")
    lines = [line.split("  ")[0] for line in said.splitlines() if "skipped: " not in line]
    assert len(lines) == 1 and lines[0] in ("w", "same"), said
    other = "same" if lines[0] == "w" else "w"
    assert f"{other}  skipped: is {lines[0]}, linked a second time" in said, said
    for name, why in (("elsewhere", "other.h5"), ("text", "text"), ("pair", "compound"), ("lossy", "is lossy"),
                      ("lzf", "unknown"), ("storage", "external storage"), ("virtual", "virtual")):
        line = next(line for line in said.splitlines() if line.startswith(name + "  "))
        assert "skipped: " in line and why in line, line
    run(path, "--flips", 9, "--in-place")
    run(path, "--flips", 10, "--in-place", "--record", directory / "r.json", code=1)
    assert sha(directory / "other.h5") == others


def test_refused(directory):
    np.savez(directory / "w.npz", w=np.ones(4))
    (directory / "w.pkl").write_bytes(b"\x80\x04\x95" + bytes(40))
    (directory / "w.safetensors").write_bytes(struct.pack("<Q", 60) + b'{"w":{"dtype":"F32"}}' + bytes(60))
    (directory / "model.ckpt.index").write_bytes(bytes(100))
    (directory / "saved").mkdir()
    (directory / "saved" / "saved_model.pb").write_bytes(b"x")
    for name in ("step.raw/checkpoint.safetensors", "step.torch/checkpoint.pt"):  # as ddl-train names them
        (directory / name).parent.mkdir()
        (directory / name).write_bytes(b"x")
    with zipfile.ZipFile(directory / "w.pt", "w") as file:
        file.writestr("archive/data.pkl", "x")
    (directory / "empty.h5").write_bytes(b"")
    h5py.File(directory / "none.h5", "w").close()
    for name, word_of_it in (("w.npz", "npz"), ("w.pkl", "pickle"), ("w.safetensors", "safetensors"),
                             ("model.ckpt.index", "TensorFlow"), ("saved", "TensorFlow"), ("w.pt", "PyTorch"),
                             ("step.raw", "another format than hdf5"), ("step.torch", "another format than hdf5"),
                             ("empty.h5", "not an HDF5"), ("missing.h5", "no file"), ("none.h5", "no tensor that may be")):
        said = run(directory / name, "--in-place", code=1)
        assert word_of_it in said, said
    path = directory / "w.h5"
    with h5py.File(path, "w") as file:
        file["layer/w"] = np.ones(9, dtype="<f2")
        file["layer/one"] = np.full(9, 1.5, dtype="<f2")
    old = sha(path)
    for words in (("--bits", "0-31"), ("--location", "layre"), ("--flips", 19), ("--precision", 64),
                  ("--location", "layer/one", "--flips", 9, "--bits", 1, "--not-finite", "redraw"), ("--burst", 17),
                  ("--share", "0.1%"), ("--replay", path), ("--undo", path)):
        run(path, *words, "--in-place", code=1)
    for words in (("--bits", "5-2"), ("--mask", "12"), ("--role", "wieght"), ("--flips", 0), ("--share", "200%"),
                  ("--probability", 2), ("--bit-error-rate", 2), ("--scale", 2, "--bits", 1), ("--map", path),
                  ("--out", directory / "x.h5")):
        run(path, *words, "--in-place", code=2)
    run(path, code=2)
    run(path, "--undo", path, "--dry-run", code=2)
    assert "is not a record" in run(path, "--undo", path, "--in-place", code=1)
    assert sha(path) == old and not list(directory.glob("w.h5.*"))


def test_open_for_writing(directory):
    """A killed writer leaves HDF5's mark, on which HDF5 itself refuses the file."""
    path = directory / "w.h5"
    subprocess.run([sys.executable, "-c", "import h5py, os, sys\nfile = h5py.File(sys.argv[1], 'w', libver='latest')\n"
                    "file['w'] = [1.0, 2.0]\nfile.flush()\nos._exit(0)", path], check=True)
    old = sha(path)
    assert "its writer was killed" in run(path, "--in-place", code=1)
    assert sha(path) == old and not list(directory.glob("w.h5.*"))


def test_undo_keeps_what_it_did_not_make(directory):
    """The undo of a changed or a foreign record does not truncate a file."""
    path, record = directory / "w.h5", directory / "r.json"
    with h5py.File(path, "w") as file:
        fill(file, "kinds", np.random.default_rng(1))
    run(path, "--flips", 5, "--in-place", "--record", record)
    altered, text = path.read_bytes(), record.read_text()
    for digit in [at for at, letter in enumerate(text) if letter.isdigit()][::3]:
        record.write_text(text[:digit] + str((int(text[digit]) + 1) % 10) + text[digit + 1:])
        run(path, "--undo", record, "--in-place", code=1)
        assert path.read_bytes() == altered, f"digit {digit}"
    told = json.loads(text)
    told["files"][0]["bytes"] = 0
    told["undo_crc32c"] = f"0x{crc32c(b'XTUNDO1' + bytes([10])):08x}"
    del told["crc32c"]
    told["crc32c"] = f"0x{crc32c(json.dumps(told, separators=(',', ':')).encode()):08x}"
    record.write_text(json.dumps(told))
    record.with_suffix(".undo").write_bytes(b"XTUNDO1\n")
    assert "would be cut off" in run(path, "--undo", record, "--in-place", code=1)
    assert path.read_bytes() == altered


def test_zip_of_a_stranger(directory):
    """Sizes that reach past the archive's end: the file is refused, and nothing is written there."""
    plain = directory / "model.weights.h5"
    with h5py.File(plain, "w") as file:
        fill(file, "keras", np.random.default_rng(4))
    whole = directory / "whole.zip"
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(plain, "model.weights.h5")
    raw = bytearray(whole.read_bytes())
    entry = raw.rindex(b"PK\1\2")
    end = raw.rindex(b"PK\5\6")
    crc = raw[entry + 16:entry + 20]
    name = struct.unpack_from("<H", raw, 26)[0]
    packed = struct.unpack_from("<I", raw, entry + 20)[0]
    for left in range(13):  # the directory entry before the member, which is refused, too; its descriptor is truncated
        first, last = bytearray(raw[entry:end]), bytearray(raw[end:])
        struct.pack_into("<H", first, 8, struct.unpack_from("<H", first, 8)[0] | 8)
        struct.pack_into("<I", first, 42, 4 + len(first) + len(last))
        struct.pack_into("<I", last, 16, 4)
        member = bytearray(raw[:30 + name + packed])
        struct.pack_into("<H", member, 6, struct.unpack_from("<H", member, 6)[0] | 8)
        tail = bytes(crc) + struct.pack("<II", packed, plain.stat().st_size)
        broken = directory / f"left{left}.keras"
        broken.write_bytes(b"PK\3\4" + first + last + member + tail[:left])
        done = subprocess.run([str(DDL_ALTER), str(broken), "--flips", "1", "--out", str(directory / f"o{left}.keras")],
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, (left, done)
        assert left == 12 or "cut off" in done.stderr, (left, done)


def test_damaged(directory):
    """A truncated or mutated file: one line, or a complete alteration."""
    path = directory / "sound.h5"
    with h5py.File(path, "w") as file:
        for layout in ("keras", "packed", "chunks"):
            fill(file.create_group(layout), layout, np.random.default_rng(2))
    sound = path.read_bytes()
    chance = random.Random(11)
    for number in range(60):
        bad = bytearray(sound)
        if number < 10:
            bad = bad[:chance.randrange(len(bad))]
        else:
            for _ in range(chance.choice((1, 3, 10))):
                bad[chance.randrange(min(len(bad), chance.choice((600, 5000, len(bad)))))] = chance.randrange(256)
        broken = directory / f"bad{number}.h5"
        broken.write_bytes(bad)
        done = subprocess.run([str(DDL_ALTER), str(broken), "--flips", "40", "--in-place"],
                              capture_output=True, text=True, timeout=300, check=False)
        record = directory / f"bad{number}.h5.alteration.json"
        if done.returncode == 0:
            run(broken, "--undo", record, "--in-place")
        else:
            lines = done.stderr.splitlines()
            assert done.returncode == 1 and len(lines) == 1 and len(lines[0]) <= LONGEST, f"{number}: {done}"
            assert not record.exists()
        assert broken.read_bytes() == bad, f"mutation {number}: changed"


def test_undo_after_kill(directory):
    path = directory / "large.h5"
    with h5py.File(path, "w") as file:
        file["w"] = np.random.default_rng(1).standard_normal(3_000_000).astype("<f4")
        file.create_dataset("z", data=np.zeros(500_000, dtype="<f4"), chunks=(1000,), compression="gzip")
    old = sha(path)
    chance = random.Random(3)
    killed = 0
    for number in range(12):
        record = directory / f"kill{number}.json"
        job = subprocess.Popen([str(DDL_ALTER), str(path), "--flips", "60000", "--seed", str(number),
                                "--in-place", "--record", str(record)], stdout=subprocess.DEVNULL)
        while not record.exists() and job.poll() is None and number % 2:
            time.sleep(0.0005)
        time.sleep(chance.uniform(0.0, 0.004 if number % 2 else 0.4))
        job.send_signal(signal.SIGKILL)
        job.wait()
        killed += job.returncode != 0
        if record.exists():
            run(path, "--undo", record, "--in-place")
        assert sha(path) == old, f"killed {number}"
    print(f"{killed} of 12 were killed before their end")
    record = directory / "half.json"
    run(path, "--flips", 1000, "--in-place", "--record", record)
    whole = path.read_bytes()
    run(path, "--undo", record, "--in-place")
    sound = path.read_bytes()
    assert sha(path) == old
    mixed = bytearray(sound)  # any byte may have been written, or not
    for at, (one, other) in enumerate(zip(sound, whole)):
        if one != other and chance.random() < 0.5:
            mixed[at] = other
    path.write_bytes(mixed + whole[len(sound):])
    run(path, "--undo", record, "--in-place")
    assert sha(path) == old
    foreign = bytearray(whole)
    row = rows(record)[0]
    at = whole.index(int(row["after"], 16).to_bytes(4, "little"))
    foreign[at] ^= 0xFF
    path.write_bytes(foreign)
    assert "not the file of the record" in run(path, "--undo", record, "--in-place", code=1)
    assert path.read_bytes() == foreign


def test_two_at_once(directory):
    """A process that has the file open, for writing or reading, has it exclusively; of two with one record one is
    refused."""
    path = directory / "w.h5"
    with h5py.File(path, "w") as file:
        fill(file, "packed", np.random.default_rng(1))
    old = sha(path)
    record = directory / "r.json"
    run(path, "--flips", 5, "--out", directory / "sound.h5", "--record", directory / "sound.json")
    with open(path, "rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        assert "in use" in run(path, "--flips", 5, "--in-place", "--record", record, code=1)
        run(path, "--flips", 5, "--out", directory / "read.h5", "--record", record)
        fcntl.flock(other, fcntl.LOCK_EX)
        assert "in use" in run(path, "--flips", 5, "--out", directory / "x.h5", code=1)
        assert "in use" in run(path, "--undo", directory / "sound.json", "--in-place", code=1)
        run(path, "--list")
    assert sha(path) == old and not list(directory.glob("x.h5*"))
    for number in range(5):
        words = [str(DDL_ALTER), str(path), "--flips", "2000", "--out", str(directory / f"two{number}.h5")]
        jobs = [subprocess.Popen([*words, "--seed", seed], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                for seed in "12"]
        said = [job.communicate()[1] for job in jobs]
        assert sorted(job.returncode for job in jobs) == [0, 2], said
        run(directory / f"two{number}.h5", "--undo", directory / f"two{number}.h5.alteration.json", "--in-place")
        assert sha(directory / f"two{number}.h5") == old
    assert not list(directory.glob("*.tmp*"))


def test_full_disk(directory):
    """No space for the record, or for packed tensors that become longer: no file is changed, and no record is left."""
    disk = directory / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk], capture_output=True,
                      check=False).returncode != 0:
        print("no tmpfs can be mounted: a full disk is left out")
        return
    try:
        path = disk / "w.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("z", data=np.zeros(50_000, dtype="<f4"), chunks=(1000,), compression="gzip")
        old, size = sha(path), path.stat().st_size
        for left, record in ((0, disk / "r.json"), (4096, disk / "r.json"), (4096, directory / "r.json")):
            with open(disk / "ballast", "wb") as ballast:
                ballast.write(bytes(os.statvfs(disk).f_bavail * 4096 - left))
            said = run(path, "--flips", 30000, "--in-place", "--record", record, code=1)
            assert "No space left" in said, said
            assert sha(path) == old and path.stat().st_size == size
            assert not record.exists() and sorted(one.name for one in disk.iterdir()) == ["ballast", "w.h5"]
            run(path, "--flips", 30000, "--out", disk / "copy.h5", "--record", record, code=1)
            assert not record.exists() and sorted(one.name for one in disk.iterdir()) == ["ballast", "w.h5"]
            (disk / "ballast").unlink()
    finally:
        subprocess.run(["umount", disk], check=True)


def test_replay(directory):
    rng = np.random.default_rng(8)
    kernel = rng.standard_normal((5, 7)).astype("<f4")
    convolution = rng.standard_normal((3, 3, 4, 2)).astype("<f4")
    keras, torch = directory / "keras.h5", directory / "torch.h5"
    with h5py.File(keras, "w") as file:
        file["dense/kernel:0"] = kernel
        file["conv/kernel:0"] = convolution
    with h5py.File(torch, "w") as file:
        file["fc.weight"] = kernel.T.copy()
        file["conv.weight"] = convolution.transpose(3, 2, 0, 1).copy()
    run(keras, "--flips", 40, "--out", directory / "keras2.h5", "--record", directory / "r.json")
    run(keras, "--replay", directory / "r.json", "--out", directory / "keras3.h5")
    assert state(directory / "keras2.h5") == state(directory / "keras3.h5")
    (directory / "map.csv").write_text("from,to,permutation\n/dense/kernel:0,fc.weight,1 0\n"
                                       "/conv/kernel:0,conv.weight,3 2 0 1\n")
    run(torch, "--replay", directory / "r.json", "--out", directory / "t.h5", code=1)
    run(torch, "--replay", directory / "r.json", "--map", directory / "map.csv", "--out", directory / "t.h5")
    with h5py.File(directory / "keras2.h5") as one, h5py.File(directory / "t.h5") as other:
        assert one["dense/kernel:0"][()].tobytes() == other["fc.weight"][()].T.tobytes()
        assert one["conv/kernel:0"][()].tobytes() == other["conv.weight"][()].transpose(2, 3, 1, 0).tobytes()
    theirs = {"/dense/kernel:0": [[[0], [1]], [[1, 2], [2, 31]]]}
    (directory / "theirs.json").write_text(json.dumps(theirs))
    run(keras, "--replay", directory / "theirs.json", "--out", directory / "k4.h5")
    told = rows(directory / "k4.h5.alteration.json")
    assert [(row["index"], row["bits"]) for row in told] == [("0", "1"), ("9", "2 31")], told
    (directory / "unplaced.json").write_text(json.dumps({"dense/kernel:0": [[[], [0]]] * 3}))
    run(keras, "--replay", directory / "unplaced.json", "--out", directory / "k5.h5")
    told = rows(directory / "k5.h5.alteration.json")
    assert len({row["index"] for row in told}) == 3 and {row["bits"] for row in told} == {"0"}
    for wrong in ('{"dense/kernel:0": [[[0], [40]]]}', '{"dense/kernel:0": [[[35], [1]]]}', '{"no": [[[0], [1]]]}',
                  "[1]", '{"dense/kernel:0": 3}', '{"dense/kernel:0": [[[0, 1], [1], [2]]]}', "{}",
                  '{"dense/kernel:0": [[0], [1]]}', '{"dense/kernel:0": [[0, 1]]}', '{"dense/kernel:0": [[[0, 7], [1]]]}',
                  '{"dense/kernel:0": [[[0], [4.5]]]}', '{"dense/kernel:0": [[[-1], [1]]]}'):
        (directory / "wrong.json").write_text(wrong)
        run(keras, "--replay", directory / "wrong.json", "--out", directory / "k6.h5", code=1)


def test_replay_of_hdf5_corrupter(directory):
    """Sequences as hdf5_corrupter itself saved them, and the bits that it then flipped in such a file."""
    with h5py.File(directory / "model.h5", "w") as file:
        file["fc/weight"] = np.ones((6, 5), "<f4")
        file["fc/bias"] = np.ones(6, "<f4")
    for number, (sequence, flipped) in enumerate((
            ([[[1, 4], [17]]], [(9, "17")]),
            ([[[1, 4], [25]], [[3, 2], [15]]], [(9, "25"), (17, "15")]),
            ([[[4, 3], [1]], [[3, 1], [23]], [[0, 0], [10]]], [(0, "10"), (16, "23"), (23, "1")]))):
        record, out = directory / f"s{number}.json", directory / f"s{number}.h5"
        record.write_text(json.dumps({"/fc/weight": sequence}))
        run(directory / "model.h5", "--replay", record, "--out", out)
        told = [(int(row["index"]), row["bits"]) for row in rows(directory / f"s{number}.h5.alteration.json")]
        assert told == flipped, (sequence, told)
        words = np.frombuffer(state(out)["fc/weight"][0], "<u4") ^ np.float32(1).view("<u4")
        assert {int(at): int(words[at]) for at in np.nonzero(words)[0]} == \
            {index: 1 << (31 - int(bit)) for index, bit in flipped}


def test_difference(directory):
    path = directory / "a.h5"
    with h5py.File(path, "w") as file:
        for layout in ("keras", "packed", "big-endian"):
            fill(file.create_group(layout), layout, np.random.default_rng(2))
    run(path, "--flips", 200, "--out", directory / "b.h5", "--record", directory / "r.json")
    run("difference", path, directory / "b.h5", "--out", directory / "d")
    run("difference", path, directory / "b.h5", "--out", directory / "d", code=2)
    with open(directory / "d" / "difference.csv", newline="", encoding="utf-8") as file:
        table = {row["path"]: row for row in csv.DictReader(file)}
    told = rows(directory / "r.json")
    with h5py.File(path) as one, h5py.File(directory / "b.h5") as other:
        assert len(table) == 9, table.keys()
        for name, row in table.items():
            old, new = one[name][()], other[name][()]
            assert int(row["differing"]) == sum(told_row["path"] == name for told_row in told), name
            assert int(row["not_finite"]) == int((~np.isfinite(new.astype("f8"))).sum())
            both = np.isfinite(old.astype("f8")) & np.isfinite(new.astype("f8"))
            change = (new.astype("f8") - old.astype("f8"))[both]
            l2 = np.sqrt((change**2).sum())
            assert np.isclose(float(row["l2"]), l2, rtol=1e-9), (name, row, l2)
            assert np.isclose(float(row["relative_l2"]), l2 / np.sqrt((old.astype("f8") ** 2).sum()), rtol=1e-9)
            assert np.isclose(float(row["largest"]), np.abs(change).max(initial=0), rtol=1e-12)
            if old.dtype.kind == "f" and old.dtype.itemsize == 4:  # how many numbers lie between them, by their bits
                places = [np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)[both]
                          for bits in (side.astype("<f4").view("<i4").astype("i8") for side in (old, new))]
                assert int(row["ulp_largest"]) == np.abs(places[1] - places[0]).max(initial=0), (name, row)
    flips = {}
    for row in told:
        for bit in row["bits"].split():
            key = (row["type"], bit)
            flips[key] = flips.get(key, 0) + 1
    with open(directory / "d" / "bits.csv", newline="", encoding="utf-8") as file:
        found = {(row["type"], row["bit"]): int(row["flips"]) for row in csv.DictReader(file) if row["flips"] != "0"}
    assert found == flips


def test_difference_of_huge_numbers(directory):
    """Numbers whose squares do not fit into a double: the truth is computed with fractions."""
    numbers = {"huge": ([3.0, 4.0, 1.0], [3.0, 4.0, 1e200]), "tiny": ([3e-200, 4e-200], [3e-200, 8e-200]),
               "both": ([1e200, 1.0], [2e200, 1.0]), "whole": ([0, 2**62], [2**62, 0])}
    for file, side in (("x.h5", 0), ("y.h5", 1)):
        with h5py.File(directory / file, "w") as out:
            for name, pair in numbers.items():
                out[name] = np.array(pair[side])
    run("difference", directory / "x.h5", directory / "y.h5", "--out", directory / "far")
    with open(directory / "far" / "difference.csv", newline="", encoding="utf-8") as file:
        table = {row["path"]: row for row in csv.DictReader(file)}

    def norm(values):
        scale = max(abs(value) for value in values)
        return scale * sum((value / scale) ** 2 for value in values) ** 0.5

    for name, (old, new) in numbers.items():
        l2 = norm([b - a for a, b in zip(old, new)])
        assert np.isclose(float(table[name]["l2"]), l2, rtol=1e-12, atol=0.0), (name, table[name], l2)
        assert np.isclose(float(table[name]["relative_l2"]), l2 / norm(old), rtol=1e-12, atol=0.0), (name, table[name])


def crc32c(data):
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def test_checkpoint(directory):
    """Checkpoints of ddl-train, in one file and in shards: the training resumes from the altered one."""
    train = BIN / "ddl-train"
    if not train.exists():
        print("ddl-train is not built: its checkpoints are left out")
        return
    words = ("--model", "emulated[compute=100us,gradients=64kB,buckets=2]", "--data", "synthetic[samples=160]",
             "--transport", "self", "--trace", "off", "--batch", 8)
    for by in ("rank0", "sharded"):
        first = directory / by
        run(*words, "--steps", 6, "--checkpoint-every", 3, "--checkpoint-by", by, "--out", first, program=train)
        checkpoint = sorted((first / "train/checkpoints").iterdir())[-1]
        data = checkpoint / ("shard-0.h5" if by == "sharded" else "checkpoint.h5")
        before, old = state(data), sha(data)
        record = directory / f"{by}.json"
        run(checkpoint, "--flips", 30, "--precision", 32, "--in-place", "--record", record)
        compare(before, state(data), rows(record))
        with h5py.File(data) as file:
            for name, (raw, _) in state(data).items():
                assert file[name].attrs["crc32c"] == crc32c(raw), name
        run(*words, "--steps", 8, "--resume", checkpoint, "--out", directory / (by + "2"), program=train)
        run(checkpoint, "--undo", record, "--in-place")
        assert sha(data) == old
        run(checkpoint, "--flips", 3, "--checksum", "keep", "--precision", 32, "--in-place")
        run(*words, "--steps", 8, "--resume", checkpoint, "--out", directory / (by + "3"), program=train, code=1)


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    for name, test in tests:
        if len(sys.argv) > 2 and name not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory() as directory:
            test(pathlib.Path(directory))
        print(name, "passed")


if __name__ == "__main__":
    main()
