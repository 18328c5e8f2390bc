#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A parser of others, or else one by the rules of the specification, accepts the OpenMetrics of noisegen and ddl-train;
the dashboard queries nothing that they do not write.

    openmetrics_test.py     programs in CROSSTALK_BIN; exit code 77: none of them is built
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ["CROSSTALK_BIN"])
SAMPLE = re.compile(r'([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)')


def by_the_rules(text):
    """The labels and value of each sample, by name. Asserts the rules of OpenMetrics 1.0."""
    assert text.endswith("# EOF\n"), "the end is missing"
    samples, family, kind = {}, None, None
    for line in text.splitlines()[:-1]:
        if line.startswith("# TYPE "):
            family, kind = line.split()[2:]
            assert kind in ("counter", "gauge"), line
        elif line.startswith("# UNIT "):
            assert line.split()[2] == family and family.endswith("_" + line.split()[3]), line
        elif line.startswith("# HELP "):
            assert line.split()[2] == family, line
        else:
            match = SAMPLE.fullmatch(line)
            assert match, f"no sample: {line}"
            assert match[1] == family + ("_total" if kind == "counter" else ""), line
            key = match[1], match[2] or ""
            assert key not in samples, f"twice: {line}"
            samples[key] = float(match[3])
    return samples


def read(file):
    text = file.read_text(encoding="utf-8")
    samples = by_the_rules(text)
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        print("no prometheus_client: read by the rules alone")
        return samples
    others = sum(len(family.samples) for family in text_string_to_metric_families(text))
    assert others == len(samples), f"prometheus_client finds {others} samples, {len(samples)} are there"
    return samples


def names_in_dashboard():
    dashboard = json.loads((TREE / "jobscripts/monitoring/crosstalk-dashboard.json").read_text(encoding="utf-8"))
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    return {name for query in queries for name in re.findall(r"crosstalk_\w+", query)}


def main():
    if not (PROGRAMS / "noisegen").exists() or not (PROGRAMS / "ddl-train").exists():
        print("SKIPPED: noisegen or ddl-train is not built")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="crosstalk-test.") as name:
        folder = pathlib.Path(name)
        ended = subprocess.run([PROGRAMS / "noisegen", "--schedule",
                                "odd=cpu.spin[rate=500/s] 300ms; memory.stream[rate=100MB/s] 500ms", "--duration", "800ms",
                                "--cpus", "0", "--share", "--openmetrics", folder / "noise.prom"],
                               stdout=subprocess.DEVNULL, check=False)
        assert ended.returncode in (0, 3), "3: a rate was not reached in so short a time"
        noise = read(folder / "noise.prom")
        assert noise["crosstalk_noise_running", ""] == 0, "it has ended"
        assert noise["crosstalk_noise_factor_on", 'factor="memory.stream",level=""'] == 0, noise
        assert noise["crosstalk_noise_requested_bytes_per_second", 'factor="memory.stream",level=""'] == 100e6, noise
        assert noise["crosstalk_noise_requested_operations_per_second", 'factor="odd",level=""'] == 500, noise
        assert noise["crosstalk_noise_achieved_bytes_total", ""] > 10e6, noise

        model = "emulated[compute=1ms,gradients=4KiB]"
        subprocess.run([PROGRAMS / "ddl-train", "--transport", "self", "--model", model, "--data", "synthetic", "--steps", "40",
                        "--openmetrics", folder / "train.prom", "--out", folder / "run"],
                       check=True, stdout=subprocess.DEVNULL)
        train = read(folder / "train.prom")
        assert train["crosstalk_training_steps_total", f'model="{model}"'] == 40, train
        assert 0.001 <= train["crosstalk_training_step_seconds", f'model="{model}"'] < 1, train
        assert train["crosstalk_training_running", f'model="{model}"'] == 0, train
        written = {key[0] for key in [*noise, *train]}
        assert names_in_dashboard() <= written, f"nobody writes {names_in_dashboard() - written}"
        print(f"{len(written)} names, and those of the dashboard are among them")


if __name__ == "__main__":
    main()
