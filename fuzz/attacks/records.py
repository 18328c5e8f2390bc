# SPDX-License-Identifier: Apache-2.0
"""Damaged records of ddl-alter and foreign archives: --undo restores the file to the byte, or refuses and leaves it
unchanged."""
import hashlib
import zipfile

from context import damage

try:
    import h5py
except ImportError:
    h5py = None

NEEDS = ("noisegen",)
TRAINING = ("--model", "emulated[compute=100us,gradients=16kB]", "--data", "synthetic[samples=64,height=8,width=8]",
            "--transport", "self", "--trace", "off", "--steps", 2, "--checkpoint-every", 2)
ENDINGS = (".json", ".json", ".undo", ".csv")


def attempts(context, count):
    sound = None
    for number in context.numbers(count):
        if sound is None:
            sound = _state(context)
        if sound is None:
            return
        kinds = (_digit, _damaged, _archive)
        what, failure = kinds[number % len(kinds)](context, sound)
        yield what, failure


def _state(context):
    """A stored state to be altered: written by h5py, with tensors that become longer, or else by ddl-train; a build may
    lack both."""
    file = context.scratch / "stored.h5"
    if h5py is not None:
        with h5py.File(file, "w") as state:
            state["w"] = [0.5 + number for number in range(500)]
            state.create_dataset("z", data=[0.0] * 4000, chunks=(500,), compression="gzip")
            state.create_dataset("never", shape=(300,), dtype="<f4")
        return file.read_bytes()
    if context.program("ddl-train") is None:
        return None
    out = context.scratch / "stored"
    outcome = context.run("ddl-train", *TRAINING, "--out", out, timeout=3 * context.patience,
                          env={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    if outcome.code != 0:
        raise RuntimeError(f"no stored state: {outcome.err}")
    return next((out / "train/checkpoints").rglob("*.h5")).read_bytes()


def _altered(context, sound):
    """A file, its record, and its bytes after the alteration."""
    file = context.directory / "state.h5"
    file.write_bytes(sound)
    record = context.directory / "r.json"
    outcome = context.run("ddl-alter", file, "--flips", context.random.choice((1, 5, 60)), "--seed",
                          context.random.randrange(1000), "--in-place", "--record", record)
    if outcome.code != 0:
        raise RuntimeError(f"a sound file is not altered: {outcome.err}")
    return file, record


def _undone(context, file, record, sound):
    altered = file.read_bytes()
    outcome = context.run("ddl-alter", file, "--undo", record, "--in-place")
    failure = context.judge(outcome)
    wanted = sound if outcome.code == 0 else altered
    if not failure and file.read_bytes() != wanted:
        return f"exit code {outcome.code}, and {len(altered)} bytes became {file.stat().st_size}"
    return failure


def _digit(context, sound):
    """One digit of R.json is changed."""
    file, record = _altered(context, sound)
    text = record.read_text()
    at = context.random.choice([at for at, letter in enumerate(text) if letter.isdigit()])
    other = context.random.choice("0123456789".replace(text[at], ""))
    record.write_text(text[:at] + other + text[at + 1:])
    return f"digit {at} of R.json is {other}", _undone(context, file, record, sound)


def _damaged(context, sound):
    file, record = _altered(context, sound)
    name = damage(record.with_suffix(context.random.choice(ENDINGS)), context.random)
    return f"damaged {name}", _undone(context, file, record, sound)


def _archive(context, sound):
    """A .keras archive with a damaged directory or sizes: no memory outside of its own is written."""
    file = context.directory / "model.keras"
    with zipfile.ZipFile(file, "w", context.random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        archive.writestr("model.weights.h5", sound)
    content = bytearray(file.read_bytes())
    content[6] |= context.random.choice((0, 8))  # its sizes follow its bytes
    for _ in range(context.random.choice((1, 3))):
        end = context.random.choice((60, len(content)))
        content[-1 - context.random.randrange(min(end, 120))] = context.random.randrange(256)
    file.write_bytes(content[context.random.choice((0, 0, 1)):])
    before = hashlib.sha256(file.read_bytes()).digest()
    outcome = context.run("ddl-alter", file, "--flips", 1, "--out", context.directory / "out.keras")
    failure = context.judge(outcome)
    if not failure and hashlib.sha256(file.read_bytes()).digest() != before:
        failure = "the file itself changed"
    return "a damaged .keras archive", failure
