# SPDX-License-Identifier: Apache-2.0
"""The disturbances of injections.py: one function for each kind, `kind(place, strength, times)`. It runs in a separate
process on another CPU, and disturbs the job's CPU in the given times (ns, CLOCK_MONOTONIC) with that strength (0 to 1).
Needs root and Linux; settings that it changes for the whole machine are restored."""
import ctypes
import hashlib
import mmap
import os
import pathlib
import random
import socket
import subprocess
import threading
import time
from dataclasses import dataclass

HASHED = bytes(256 << 10)  # 0.2 ms
KSM = pathlib.Path("/sys/kernel/mm/ksm")
CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass
class Place:
    cpu: int             # CPU of the job
    other: int           # CPU of a disturbance that does not run on the job's
    file: str            # file that the job reads and maps
    cold: int            # length of that file in bytes
    group: pathlib.Path  # control group of the job, with the controller cpu
    period_us: int


def now():
    return time.monotonic_ns()


def sleep_until(at_ns):
    while (left := at_ns - now()) > 0:
        time.sleep(left / 1e9)


def in_times(times, once, rest_s=0.0):
    """Calls `once` repeatedly within each of the times."""
    for begin, end in times:
        sleep_until(begin)
        while now() < end:
            once()
            if rest_s:
                time.sleep(rest_s)


def between(strength, low, high):
    return low + strength * (high - low)


def foreign_process(place, strength, times):
    """Uses the job's CPU in bursts of 0.4 to 5 ms, for 30 to 100 % of the given times."""
    os.sched_setaffinity(0, {place.cpu})
    burst = random.uniform(0.4e6, 5e6)
    rest_s = burst / 1e9 * (1 / between(strength, 0.3, 1) - 1)

    def once():
        end = now() + burst
        while now() < end:
            hashlib.sha256(HASHED).digest()

    in_times(times, once, rest_s)


def kernel_thread(place, strength, times):
    """Lets ksmd, bound to the job's CPU, search memory of this process for equal pages."""
    (ksmd,) = [int(p.parent.name) for p in pathlib.Path("/proc").glob("[0-9]*/comm") if p.read_text() == "ksmd\n"]
    mapped = mmap.mmap(-1, 96 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    mapped.write(os.urandom(96 << 20))
    mapped.madvise(12)  # MADV_MERGEABLE
    settings = {"smart_scan": 0, "sleep_millisecs": 1, "pages_to_scan": round(between(strength, 300, 3000))}
    before = {name: (KSM / name).read_text() for name in settings}
    cpus, nice = os.sched_getaffinity(ksmd), os.getpriority(os.PRIO_PROCESS, ksmd)
    try:
        for name, value in settings.items():
            (KSM / name).write_text(str(value))
        os.sched_setaffinity(ksmd, {place.cpu})
        os.setpriority(os.PRIO_PROCESS, ksmd, -10)  # as heavy as the job's group
        for begin, end in times:
            sleep_until(begin)
            (KSM / "run").write_text("1")
            sleep_until(end)
            (KSM / "run").write_text("0")
    finally:
        (KSM / "run").write_text("2")  # unmerges
        (KSM / "run").write_text("0")
        os.sched_setaffinity(ksmd, cpus)
        os.setpriority(os.PRIO_PROCESS, ksmd, nice)
        for name, value in before.items():
            (KSM / name).write_text(value)


def soft_interrupts(place, strength, times):
    """Sends packets over loopback in a separate network namespace; the kernel receives them on the job's CPU (RPS)."""
    if LIBC.unshare(CLONE_NEWNS | CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    subprocess.run("mount --make-rprivate / && mount -t sysfs none /sys && ip link set lo up && "
                   f"echo {1 << place.cpu:x} > /sys/class/net/lo/queues/rx-0/rps_cpus", shell=True, check=True)
    receiver, sender = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    receiver.bind(("127.0.0.1", 0))
    sender.setsockopt(socket.IPPROTO_UDP, 103, 1000)  # UDP_SEGMENT: 60 packets of 1000 bytes a call
    sender.connect(receiver.getsockname())
    packets = bytes(60_000)
    calls = round(between(strength, 3, 10))

    def once():
        for _ in range(calls):
            sender.send(packets)

    in_times(times, once, 0.0005)


def throttled(place, strength, times):
    """Limits the job by the CPU quota of its own control group."""
    quota = round(place.period_us * between(strength, 0.6, 0.2))
    for begin, end in times:
        sleep_until(begin)
        set_quota(place, quota)
        sleep_until(end)
        set_quota(place, -1)


def set_quota(place, quota_us):
    if (place.group / "cpu.max").exists():
        (place.group / "cpu.max").write_text(f"{quota_us if quota_us > 0 else 'max'} {place.period_us}")
    else:
        (place.group / "cpu.cfs_quota_us").write_text(str(quota_us))


def drop(place, offset, times, every_s):
    file = os.open(place.file, os.O_RDONLY)
    in_times(times, lambda: os.posix_fadvise(file, offset, place.cold // 2, os.POSIX_FADV_DONTNEED), every_s)


def cold_reads(place, strength, times):
    """Drops from the page cache the part of the job's file that the job reads."""
    drop(place, 0, times, between(strength, 0.003, 0.001))


def major_faults(place, strength, times):
    """Drops from the page cache the part of the job's file that the job maps."""
    drop(place, place.cold // 2, times, between(strength, 0.003, 0.001))


def disk_competition(place, strength, times):
    """Reads from the job's disk in several threads, bypassing the page cache."""
    file = os.open(place.file, os.O_RDONLY | os.O_DIRECT)
    length = 256 << 10

    def reads():
        piece = mmap.mmap(-1, length)
        in_times(times, lambda: os.preadv(file, [piece], random.randrange(place.cold // length) * length))

    readers = [threading.Thread(target=reads) for _ in range(round(between(strength, 2, 5)))]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()


def memory_bandwidth(place, strength, times):
    """Copies arrays that are larger than the cache."""
    size = 256 << 20
    source, target = bytearray(size), memoryview(bytearray(size))
    piece = 4 << 20

    def once():
        at = random.randrange(size // piece) * piece
        target[at:at + piece] = source[at:at + piece]

    in_times(times, once, between(strength, 0.0005, 0.0))


def cache(place, strength, times):
    """Touches a line in 64 bytes of an array that fits the last-level cache."""
    lines = bytearray(round(between(strength, 8, 48)) << 20)

    def once():
        at = random.randrange(len(lines) >> 20) << 20
        lines[at:at + (1 << 20):64] = bytes(1 << 14)

    in_times(times, once)
