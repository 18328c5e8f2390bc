#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trace-os against the kernel's own counters, and against neighbours that this test starts.

    os_test.py BIN    BIN: the folder of the programs
"""
import bisect
import contextlib
import csv
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

FAULTS = """
import ctypes, mmap, os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
size = os.fstat(file).st_size
pages = mmap.mmap(file, size, prot=mmap.PROT_READ)
pages.madvise(mmap.MADV_RANDOM)
sys.stdout.write("ready"); sys.stdout.flush()
sys.stdin.read()
for at in range(0, size, 4096):
    pages[at] if sys.argv[2] == "map" else os.pread(file, 1, at)
"""

CPU_WAITS = ("neighbour", "own_thread", "kernel_thread", "idle_cpu", "unknown_task", "throttled")
# A loop as osnoise has it: it does nothing but read the clock, so gaps are times in which it did not run.
PROBE = """
import array, gc, signal, time
gc.disable()
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
gaps = array.array("q", bytes(64 << 16))
count, last = 0, time.monotonic_ns()
while not ended and count < len(gaps):
    now = time.monotonic_ns()
    if now - last >= 2000:
        gaps[count] = last
        gaps[count + 1] = now
        count += 2
        now = time.monotonic_ns()
    last = now
print(*gaps[:count])
"""
BUSY = "import ctypes, sys\nctypes.CDLL(None).prctl(15, sys.argv[1].encode())\nwhile True: pass\n"


class Busy:
    """A process with the given name that computes on one CPU until the end."""

    def __init__(self, name, cpu):
        self.child = subprocess.Popen([sys.executable, "-c", BUSY, name])
        os.sched_setaffinity(self.child.pid, {cpu})
        self.pid = self.child.pid
        until(lambda: pathlib.Path(f"/proc/{self.pid}/comm").read_text().strip() == name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()


def until(holds, tries=600):
    for _ in range(tries):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError(f"waited {tries // 10} s in vain")


def ran_ns(pid):
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def cpu_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[36])


def waited_ns(pid):
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[1])


def watch(program, pids, out, length):
    run = subprocess.run([program, "--pid", ",".join(map(str, pids)), "-o", out, length], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run, *recorded(out)


def recorded(out):
    (folder,) = (pathlib.Path(out) / "os").iterdir()
    with (folder / "os.csv").open() as table:
        return folder, json.loads((folder / "os.json").read_text()), list(csv.DictReader(table))


def ms(rows, cause, by=None, source="bpf"):
    return sum(int(r["ns"]) for r in rows
               if r["source"] == source and r["cause"] == cause and (by is None or r["by"] == by)) / 1e6


def waits_by_both(rows):
    """Sum of all waits for a CPU in ms, by eBPF and by schedstat."""
    of_ksoftirqd = sum(int(r["ns"]) for r in rows if r["cause"] == "softirq" and r["by"].startswith("ksoftirqd/")) / 1e6
    return sum(ms(rows, cause) for cause in CPU_WAITS) + of_ksoftirqd, ms(rows, "runqueue_wait", source="schedstat")


def interruptions_by_both(program, cpu, out, seconds):
    """Interruptions of a probe next to a process that takes its CPU: (by trace-os, by the probe itself) in ms, and the
    share of those above 20 us at which the probe has a gap."""
    def seconds_seen():
        begins = [line.split(",", 1)[0] for table in out.glob("os/*/os.csv") for line in table.read_text().splitlines()
                  if ",bpf," in line]
        return (int(begins[-1]) - int(begins[0])) / 1e9 if begins else 0

    with Busy("taker", cpu):
        probe = subprocess.Popen([sys.executable, "-c", PROBE], stdout=subprocess.PIPE, text=True)
        os.sched_setaffinity(probe.pid, {cpu})
        watcher = subprocess.Popen([program, "--pid", str(probe.pid), "-o", out], stdout=subprocess.DEVNULL)
        until(lambda: seconds_seen() >= seconds, 600 + 20 * seconds)
        probe.terminate()
        times = list(map(int, probe.communicate()[0].split()))
        assert watcher.wait() == 0
    found = [(int(r["begin_ns"]), int(r["end_ns"]), int(r["ns"])) for r in recorded(out)[2]
             if r["source"] == "bpf" and r["count"] == "1"]
    begin, end = found[0][0], times[-1]
    found = [row for row in found if row[0] >= begin and row[1] <= end]
    gaps = [gap for gap in zip(times[::2], times[1::2]) if gap[0] >= begin - 100_000]
    long = [row for row in found if row[2] > 20_000]
    seen = sum(any(gap[0] < row[1] and gap[1] > row[0] for gap in gaps[max(0, at - 1):at + 1])
               for row in long for at in [bisect.bisect_left(gaps, (row[0],))])
    return sum(ns for _, _, ns in found) / 1e6, sum(b - a for a, b in gaps) / 1e6, seen / len(long)


def test_probe(program, cpu, scratch):
    by_kernel, by_probe, seen = interruptions_by_both(program, cpu, scratch / "probe", 4)
    assert abs(by_kernel - by_probe) < 0.05 * by_probe, (by_kernel, by_probe)
    assert seen > 0.95, seen  # a few lie between two clock reads of a gap


def test_neighbour(program, cpu, scratch):
    """The victim is always runnable, so it waits while the other process runs; all waits are those that schedstat
    counts."""
    with Busy("victim", cpu) as victim, Busy("taker", cpu) as taker:
        ran_before = ran_ns(taker.pid)
        _, folder, record, rows = watch(program, [victim.pid], scratch / "neighbour", "4s")
        if record["sources"]["bpf"] is not True:
            return record["sources"]["bpf"]
        waits, by_kernel = waits_by_both(rows)
        assert abs(waits - by_kernel) < 0.05 * by_kernel, (waits, by_kernel)  # one wait is cut at each end
        assert 0 < ms(rows, "neighbour", "taker") <= (ran_ns(taker.pid) - ran_before) / 1e6
        assert ms(rows, "own_thread") == 0
        assert all(r["cpu"] in ("", str(cpu)) for r in rows), rows
        segments = [r for r in rows if r["by"] == "taker" and r["count"] == "1"]
        assert segments and all(int(r["end_ns"]) - int(r["begin_ns"]) == int(r["ns"]) for r in segments)
        assert {r["by_process"] for r in segments} == {str(taker.pid)}
        listed = subprocess.run([program.parent / "trace-info", "--check", folder / "trace/traces.otf2"],
                                capture_output=True, text=True)
        assert listed.returncode == 0, listed.stdout + listed.stderr
    return None


def test_own_thread(program, cpu, scratch):
    """If that process belongs to the job, the cause is own threads."""
    with Busy("victim", cpu) as victim, Busy("sibling", cpu) as sibling:
        _, _, _, rows = watch(program, [victim.pid, sibling.pid], scratch / "own", "3s")
        assert ms(rows, "own_thread", "sibling") > 0 and ms(rows, "own_thread", "victim") > 0
        assert ms(rows, "neighbour", "sibling") == 0


@contextlib.contextmanager
def group_with_quota(percent):
    """A control group with the given CPU quota, or None if none can be made."""
    top = pathlib.Path("/sys/fs/cgroup")
    group = (top / "cpu" if (top / "cpu").is_dir() else top) / f"crosstalk-os-test-{os.getpid()}"
    try:
        group.mkdir()
        if (group / "cpu.cfs_quota_us").exists():
            (group / "cpu.cfs_quota_us").write_text(str(percent * 1000))
        else:
            (group / "cpu.max").write_text(f"{percent * 1000} 100000")
    except OSError:
        group = None if not group.is_dir() else group.rmdir()
    try:
        yield group
    finally:
        if group:
            group.rmdir()


def test_group(program, cpu, scratch):
    """A neighbour is named with its control group."""
    with group_with_quota(90) as group:
        if group is None:
            return
        with Busy("grouped", cpu) as taker, Busy("victim", cpu) as victim:
            (group / "cgroup.procs").write_text(str(taker.pid))
            _, _, _, rows = watch(program, [victim.pid], scratch / "group", "2s")
            groups = {r["by_cgroup"] for r in rows if r["by"] == "grouped"}
            assert groups == {f"/{group.name}"}, groups


def throttled_ms(group):
    """What the control group itself has counted since it was made."""
    counts = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    return int(counts["throttled_time"]) / 1e6 if "throttled_time" in counts else int(counts["throttled_usec"]) / 1e3


def test_throttled(program, cpu, scratch):
    """While its quota stops a job, other processes have its CPU: the cause is the quota nevertheless."""
    with group_with_quota(2) as group:  # little, so that a busy machine reaches it, too
        if group is None:
            return
        with Busy("taker", cpu), Busy("victim", cpu) as victim:
            (group / "cgroup.procs").write_text(str(victim.pid))
            _, _, _, rows = watch(program, [victim.pid], scratch / "throttled", "4s")
            by_kernel = throttled_ms(group)
            if by_kernel < 500:
                return print(f"not throttled: others left it less than its quota ({by_kernel} ms)")
            # Waits are long, and one is cut at each end.
            assert ms(rows, "throttled") > 0.3 * by_kernel, (by_kernel, ms(rows, "throttled"))


def bpftool(*words):
    listed = subprocess.run(["bpftool", "--json", *map(str, words)], capture_output=True, text=True, env=with_sbin())
    return json.loads(listed.stdout)


def programs():
    """The loaded programs of trace-os processes: by id, the maps that they use."""
    return {p["id"]: p["map_ids"] for p in bpftool("prog", "list") if p.get("name") == "on_switch"}


def jobs_watched():
    """Of each trace-os process, the processes of its job, as its programs know them."""
    for number in {number for maps in programs().values() for number in maps}:
        if bpftool("map", "show", "id", number).get("name") != "groups":  # a map may be gone by now
            continue
        rows = bpftool("map", "dump", "id", number)
        if isinstance(rows, list):
            yield {int.from_bytes(bytes(int(byte, 16) for byte in row["key"]), sys.byteorder) for row in rows}


def test_ended_children(program, cpu, scratch):
    """Processes of the job that have ended leave the list of its processes, whose length is limited."""
    children = "for i in $(seq 40); do /bin/true; done; echo ended; read line"
    job = subprocess.Popen(["sh", "-c", f"read line; {children}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    watcher = subprocess.Popen([program, "--pid", str(job.pid)], stdout=subprocess.DEVNULL)
    until(lambda: {job.pid} in jobs_watched())
    job.stdin.write("begin\n")
    job.stdin.flush()
    assert job.stdout.readline() == "ended\n"
    until(lambda: {job.pid} in jobs_watched())
    job.stdin.write("end\n")
    job.stdin.close()
    assert job.wait() == 0 and watcher.wait() == 0


def test_killed(program, cpu, scratch):
    """The eBPF programs are unloaded when trace-os is killed."""
    before = programs().keys()
    with Busy("victim", cpu) as victim:
        watcher = subprocess.Popen([program, "--pid", str(victim.pid), "60s"], stdout=subprocess.DEVNULL)
        until(lambda: programs().keys() - before)
        mine = programs().keys() - before
        watcher.send_signal(signal.SIGKILL)
        watcher.wait()
        until(lambda: not programs().keys() & mine)


def test_without_bpf(program, cpu, scratch):
    """Without eBPF the counters of /proc give the sum of all waits, and one line names what is missing."""
    with Busy("victim", cpu) as victim, Busy("taker", cpu):
        before = waited_ns(victim.pid)
        out = scratch / "cheap"
        run = subprocess.run([program, "--pid", str(victim.pid), "--bpf", "off", "-o", out, "2s"],
                             capture_output=True, text=True)
        grown_ms = (waited_ns(victim.pid) - before) / 1e6
        assert run.returncode == 0 and run.stderr.count("\n") == 1 and "--bpf off" in run.stderr, run.stderr
        (folder,) = (out / "os").iterdir()
        with (folder / "os.csv").open() as table:
            rows = list(csv.DictReader(table))
        assert 0 < ms(rows, "runqueue_wait", source="schedstat") <= grown_ms
        assert ("throttling, part of the pressure" in run.stdout) == any(r["source"] == "psi" for r in rows), run.stdout
        again = subprocess.run([program, "--pid", str(victim.pid), "-o", out, "1s"], capture_output=True, text=True)
        assert again.returncode == 2 and again.stderr.count("\n") == 1, again.stderr


def test_wakes(program, cpu, scratch):
    """trace-os wakes at most 20 times a second, also if 50 ms do not divide the interval."""
    def sleeps(pid):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])

    watcher = subprocess.Popen([program, "--pid", str(os.getpid()), "--interval", "70ms", "60s"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: sleeps(watcher.pid) > 20)
    begin, before = time.monotonic(), sleeps(watcher.pid)
    time.sleep(4)
    woken, at_most = sleeps(watcher.pid) - before, 20 * (time.monotonic() - begin)
    watcher.terminate()
    watcher.wait()
    assert woken <= at_most + 12, (woken, at_most)  # a few switches are waits for a lock


def test_ranks_of_a_run(program, cpu, scratch):
    """Without --pid the ranks are those of the control file, written here in its documented layout."""
    host = socket.gethostname().split(".")[0]
    run = scratch / "run"
    (run / "control").mkdir(parents=True)
    with Busy("rank", cpu) as rank:
        started = int(pathlib.Path(f"/proc/{rank.pid}/stat").read_text().rpartition(")")[2].split()[19])
        page = bytearray(4096)
        struct.pack_into("=II", page, 0, 0x58544C4B, 3)
        struct.pack_into("=Q", page, 320, started << 22 | rank.pid)
        (run / "control" / host).write_bytes(page)
        done = subprocess.run([program, "-o", run, "--bpf", "off", "1s"], capture_output=True, text=True,
                              env=os.environ | {"SLURMD_NODENAME": ""})
        assert done.returncode == 0, done.stderr
        with (run / "os" / host / "os.csv").open() as table:
            threads = {row["thread"] for row in csv.DictReader(table)} - {""}
        assert threads <= {str(rank.pid)} and threads, threads
    alone = subprocess.run([program, "-o", scratch / "no_run", "1s"], capture_output=True, text=True)
    assert alone.returncode == 2 and "names the ranks" in alone.stderr, alone.stderr


def test_sources(program):
    """Each source has the fields that it offers, or the reason why it is missing."""
    listed = subprocess.run([program, "--sources", "--json"], capture_output=True, text=True)
    assert listed.returncode == 0, listed.stderr
    sources = {s["name"]: s for s in json.loads(listed.stdout)["sources"]}
    assert {"schedstat", "cpu_stat", "psi", "resctrl", "perf", "migrations", "bpf"} <= set(sources), sources
    assert all(s["gives"] for s in sources.values())
    assert sources["schedstat"]["lacks"] == ""
    return {name for name, source in sources.items() if source["lacks"] == ""}


def test_migrations(program, cpu, scratch):
    """A thread that is moved between CPUs migrates as often as perf counts."""
    others = sorted(os.sched_getaffinity(0) - {cpu})
    if not others:
        return
    out = scratch / "migrations"
    with Busy("mover", cpu) as mover:
        watcher = subprocess.Popen([program, "--pid", str(mover.pid), "--bpf", "off", "-o", out],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: any(table.stat().st_size > 200 for table in out.glob("os/*/os.csv")))
        for _ in range(10):
            for to in (others[0], cpu):
                os.sched_setaffinity(mover.pid, {to})
                until(lambda to=to: cpu_of(mover.pid) == to)
                before = ran_ns(mover.pid)
                until(lambda before=before: ran_ns(mover.pid) > before)  # perf counts a migration once the thread runs
        watcher.send_signal(signal.SIGTERM)
        assert watcher.wait() == 0
    (table,) = out.glob("os/*/os.csv")
    with table.open() as rows:
        moves = sum(int(r["count"]) for r in csv.DictReader(rows) if (r["source"], r["cause"]) == ("perf", "migrations"))
    assert moves == 20, moves


def test_pages_from_disk(program, scratch):
    """A wait for a disk in a page fault is another cause than a wait in a system call."""
    data = scratch / "data"
    data.write_bytes(os.urandom(16 << 20))
    os.sync()
    for how, of, other in (("map", "major_faults", "block_io"), ("read", "block_io", "major_faults")):
        out = scratch / how
        reader = subprocess.Popen([sys.executable, "-c", FAULTS, data, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert reader.stdout.read(5) == b"ready"
        with data.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        watcher = subprocess.Popen([program, "--pid", str(reader.pid), "-o", out], stdout=subprocess.DEVNULL)
        until(lambda out=out: any(out.glob("os/*/os.csv")))
        reader.stdin.close()
        assert reader.wait() == 0 and watcher.wait() == 0
        (table,) = out.glob("os/*/os.csv")
        with table.open() as file:
            rows = list(csv.DictReader(file))
        faults = sum(int(r["count"]) for r in rows if (r["source"], r["cause"]) == ("stat", "major_faults"))
        waits = sum(int(r["count"]) for r in rows if r["source"] == "bpf" and r["cause"] in (of, other))
        if waits == 0:
            print(f"no page came from a disk ({how}, {faults} major faults)")
            return
        assert ms(rows, of) > 20 * ms(rows, other), (how, ms(rows, of), ms(rows, other), faults)


def test_wrong(program, cpu, scratch):
    for words, wanted in ((["--pid", "999999999", "1s"], "no process 999999999"), ([], "--pid PID 30s"),
                          (["--pid", "x", "1s"], "x"), (["--pid", str(os.getpid()), "0s"], "more than 0"),
                          (["--pid", str(os.getpid()), "--interval", "1ms", "1s"], "50ms to 10s")):
        run = subprocess.run([program, *words], capture_output=True, text=True)
        assert run.returncode == 2 and run.stderr.count("\n") == 1 and wanted in run.stderr, (words, run.stderr)


def test_program(program, cpu, scratch):
    """A program after -- is watched to its end, on the CPUs that trace-os was started with, and its exit code is
    returned."""
    run = subprocess.run(["taskset", "-c", str(cpu), program, "--", "sh", "-c", "sleep 0.3; exit 7"],
                         capture_output=True, text=True)
    assert run.returncode == 7 and "thread" in run.stdout, run
    assert f"on CPUs {cpu} for" in run.stdout, run.stdout  # even if all its threads have ended
    count = "import os, sys; sys.exit(len(os.sched_getaffinity(0)))"
    run = subprocess.run([program, "--cpus", str(cpu), "--", sys.executable, "-c", count], capture_output=True, text=True)
    assert run.returncode == len(os.sched_getaffinity(0)), run


def with_sbin():
    return os.environ | {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}


def main(program):
    if not pathlib.Path("/proc/self/schedstat").exists():
        print("SKIPPED: the kernel has no /proc/PID/schedstat")
        sys.exit(77)
    cpu = max(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="crosstalk-os.") as scratch:
        scratch = pathlib.Path(scratch)
        test_wrong(program, cpu, scratch)
        test_program(program, cpu, scratch)
        test_without_bpf(program, cpu, scratch)
        test_wakes(program, cpu, scratch)
        test_ranks_of_a_run(program, cpu, scratch)
        if "migrations" in test_sources(program):
            test_migrations(program, cpu, scratch)
        if lacks := test_neighbour(program, cpu, scratch):
            print(f"SKIPPED: no programs in the kernel: {lacks}")
            sys.exit(77)
        test_probe(program, cpu, scratch)
        test_own_thread(program, cpu, scratch)
        test_pages_from_disk(program, scratch)
        test_group(program, cpu, scratch)
        test_throttled(program, cpu, scratch)
        test_ended_children(program, cpu, scratch)
        test_killed(program, cpu, scratch)
    print("all causes as they were made")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve() / "trace-os")
