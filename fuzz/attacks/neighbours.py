# SPDX-License-Identifier: Apache-2.0
"""Programs of job.run that leave their control group, and keepers that are killed or stopped: all processes end, and
those that were not frozen are named."""
import json
import os
import pathlib
import signal
import subprocess
import time

import leftovers

NEEDS = ("noisegen",)
WORK = 'while :; do echo x >>"$CROSSTALK_HARVEST"; sleep 0.002; done\n'


def attempts(context, count):
    for number in context.numbers(count):
        kinds = (_leaves, _keeper)
        yield kinds[number % len(kinds)](context)


def _freezer():
    """The file with the processes of a group, of the kind of freezer of this machine; None if none is writable."""
    for path in ("/sys/fs/cgroup/freezer/cgroup.procs", "/sys/fs/cgroup/cgroup.procs"):
        if os.access(path, os.W_OK):
            return path
    return None


def _job(context, before=""):
    file = context.directory / "neighbour.sh"
    file.write_text(f"#!/bin/sh\n{before}{WORK}")
    file.chmod(0o755)
    return f"job.run[file={file}]"


def _noise(context, job, length):
    return [context.program("noisegen"), "--schedule", f"{job} 100ms; quiet 100ms", "--duration", length, "--cpus",
            str(max(os.sched_getaffinity(0))), "--share", "--out", context.directory / "run"]


def _environment(context):
    # The keeper takes precedence on its CPU; on the same CPU the leak sanitizer would never finish.
    return {leftovers.MARK: str(context.directory), "ASAN_OPTIONS": "detect_leaks=0"}


def _leaves(context):
    """The program moves its processes to another group, as a container's runtime does: they are frozen in other slots
    nevertheless."""
    group = _freezer()
    if group is None:
        return "no control group to leave", None
    gone = context.directory / "gone"
    leave = f"echo $$ >{group}; touch {gone}"
    how = context.random.choice((f"{leave}\n", f"(sh -c '{leave}; {WORK.strip()}') &\n",
                                 f"setsid sh -c '{leave}; {WORK.strip()}' &\n"))
    outcome = context.run(*_noise(context, _job(context, how), "1500ms"), env=_environment(context), timeout=60)
    failure = leftovers.alive_after(context.directory, 5) or leftovers.judged(context, outcome)
    if not failure and gone.exists() and "left its group" not in _record(context):
        failure = "a process left its group, and nothing says so"
    return f"leaves its group by {how.strip()!r}", failure


def _record(context):
    return " ".join(path.read_text() for path in (context.directory / "run/noise").glob("*/noise.json"))


def _keeper(context):
    """The keeper is killed, or stopped while noise is asked to end."""
    kill = context.random.random() < 0.6
    after_s = context.random.uniform(0.1, 1.5)
    with open(context.directory / "said", "wb") as said:
        process = subprocess.Popen(list(map(str, _noise(context, _job(context), "30s"))), stdin=subprocess.DEVNULL,
                                   stdout=said, stderr=said, env={**os.environ, **_environment(context)},
                                   start_new_session=True)
    keeper = _child_of(process.pid)
    time.sleep(after_s)
    if keeper:
        os.kill(keeper, signal.SIGKILL if kill else signal.SIGSTOP)
    if not kill or not keeper:
        process.terminate()
    what = f"keeper {'killed' if kill else 'stopped'} after {after_s:.2f} s"
    try:
        code = process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return what, "noisegen does not end"
    failure = leftovers.alive_after(context.directory, 5)
    if not failure and keeper and kill and code != 1:
        failure = f"exit code {code}, not 1"
    return what, failure or _groups_of(keeper)


def _child_of(pid):
    """The first child that has a child itself, within ten seconds; 0 if there is none."""
    for _ in range(1000):
        for child in _children(pid):
            if _children(child):
                return int(child)
        time.sleep(0.01)
    return 0


def _children(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []


def _groups_of(keeper):
    left = [str(path) for path in pathlib.Path("/sys/fs/cgroup").glob(f"**/crosstalk-{keeper}")]
    return f"groups are left: {json.dumps(left)}" if left else None
