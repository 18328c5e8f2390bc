#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Archives of noisegen and ddl-train as other tools want them, read by OTF2's Python bindings: one class of metrics with
all members and a value for each (pipit knows the first class only), regions in groups (Vampir gives each a colour), and
the CPUs of each location.

    archive_conventions_test.py BIN     exit code 77: no python3-otf2, or a program is not built
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import otf2
except ImportError:
    print("SKIPPED: no python3-otf2")
    sys.exit(77)


def read(anchor):
    """Names of the members of each metric class, groups of regions, CPUs of locations, sizes of metric events."""
    with otf2.reader.open(str(anchor)) as trace:
        definitions = trace.definitions
        classes = [[member.name for member in one.members] for one in definitions.metrics]
        groups = {group.name: {region.name for region in group.members} for group in definitions.groups
                  if group.group_type == otf2.GroupType.REGIONS}
        cpus = {one.location.name: one.value for one in definitions.location_properties
                if one.name == "crosstalk::cpus"}
        sizes = {len(event.values) for _, event in trace.events if isinstance(event, otf2.events.Metric)}
    return classes, groups, cpus, sizes


def check(anchor, members, groups, cpus):
    found_classes, found_groups, found_cpus, sizes = read(anchor)
    assert len(found_classes) == 1, f"{len(found_classes)} classes of metrics: {found_classes}"
    assert set(members) <= set(found_classes[0]), f"{found_classes}"
    assert sizes == {len(found_classes[0])}, f"events of {sizes} values, {len(found_classes[0])} members"
    for name, regions in groups.items():
        assert regions <= found_groups.get(name, set()), f"group {name}: {found_groups}"
    for location, bound in cpus.items():
        assert found_cpus.get(location) == bound, f"{location}: {found_cpus}"


def main(programs):
    if not (programs / "noisegen").exists():
        print("SKIPPED: no noisegen")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="crosstalk-test.") as name:
        run = pathlib.Path(name) / "run"
        subprocess.run([programs / "noisegen", "--schedule", "cpu.spin 300ms; quiet 100ms", "--duration", "800ms",
                        "--cpus", "0", "--share", "--out", run], check=True, stdout=subprocess.DEVNULL)
        check(next(run.glob("noise/*/trace/traces.otf2")), ["achieved bytes", "requested duty"],
              {"noise": {"cpu.spin"}, "no noise": {"quiet"}}, {"cpu 0": "0"})
        if (programs / "ddl-train").exists():
            subprocess.run([programs / "ddl-train", "--model", "emulated[compute=2ms,gradients=1MiB]", "--steps", "30",
                            "--cpus", "0", "--out", run], check=True, stdout=subprocess.DEVNULL)
            check(run / "train/trace/traces.otf2", ["loss", "queue_depth", "bytes_reduced"],
                  {"phases": {"step", "forward", "backward"}, "exchange": {"bucket_exchange"}, "I/O": {"read"}},
                  {"main": "0", "transport": "0"})
        print("one class of metrics, groups of regions, and the CPUs of locations")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
