# SPDX-License-Identifier: Apache-2.0
"""Links, pipes, devices and directories instead of a file."""
import os


def pipe(file):
    file.unlink()
    os.mkfifo(file)
    return f"{file.name} is a pipe"


def device(file):
    file.unlink()
    file.symlink_to("/dev/zero")
    return f"{file.name} is a device"


def empty(file):
    os.truncate(file, 0)
    return f"{file.name} is empty"


def sparse(file):
    os.truncate(file, 5 << 30)
    return f"{file.name} has 5 GiB"


ANY = (pipe, device, empty, sparse)
