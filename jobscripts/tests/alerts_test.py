#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Alerts and dashboard of verdicts use what `interference summary --openmetrics` writes, and Prometheus' own promtool
takes its file, the alerts and every query; alerts.yml says when each alert fires.

    alerts_test.py     interference in CROSSTALK_BIN; exit code 77: it, or promtool (Debian: prometheus), is not there
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from openmetrics_test import read

TREE = pathlib.Path(__file__).resolve().parents[2]
INTERFERENCE = pathlib.Path(os.environ["CROSSTALK_BIN"]) / "interference"
MONITORING = TREE / "jobscripts/monitoring"


def write_report(folder):
    """Writes the members of a verdict.json that a summary reads."""
    noise = {"verdict": "unsafe", "effect_percent": 4.0, "low_percent": 3.0, "high_percent": 5.0, "level": "2GiB/s",
             "stressor": "memory.stream"}
    identity = {"hosts": ["n1", "n2"], "model": 'a "model"', "data": "digits", "strategy": "ddp", "ranks": 2,
                "cpu_model": "fast", "started": "2026-11-21T05:44:58Z"}
    folder.mkdir(parents=True)
    (folder / "verdict.json").write_text(json.dumps({
        "format": 1, "trustworthy": True, "covered": True, "quiet_step_ms": 20.0, "budget_percent": 1.0,
        "identity": identity, "factors": {"mem": {"levels": {"2GiB/s": noise}}}}))


def queries():
    """Queries of the dashboard, with values for its variables."""
    dashboard = json.loads((MONITORING / "crosstalk-verdicts.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield target["expr"].replace("$node_type", ".*").replace("$workload", ".*")


def promtool(*words, **more):
    done = subprocess.run(["promtool", *words], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, f"promtool {' '.join(map(str, words))}\n{done.stdout}{done.stderr}"


def main():
    if not INTERFERENCE.exists() or shutil.which("promtool") is None:
        print("SKIPPED: interference is not built" if not INTERFERENCE.exists() else
              "SKIPPED: there is no promtool (Debian: prometheus)")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="crosstalk-test.") as name:
        folder = pathlib.Path(name)
        write_report(folder / "run/report")
        subprocess.run([INTERFERENCE, "summary", folder / "run", "--openmetrics", folder / "crosstalk.prom"],
                       check=True, stdout=subprocess.DEVNULL)
        labels = ('workload="a \\"model\\"",data="digits",strategy="ddp",ranks="2",node_type="fast",hosts="n1 n2",noises="mem"')
        written = read(folder / "crosstalk.prom")
        assert written["crosstalk_effect_ratio", labels + ',noise="mem[2GiB/s]"'] == 0.04, written
        # 2026-11-21T05:44:58Z, by date(1)
        assert written["crosstalk_run_timestamp_seconds", labels] == 1795239898, written
        promtool("check", "metrics", input=(folder / "crosstalk.prom").read_text(encoding="utf-8"))

        alerts = (MONITORING / "crosstalk-alerts.yml").read_text(encoding="utf-8")
        used = set(re.findall(r"crosstalk_\w+", alerts + " ".join(queries())))
        names = {key[0] for key in written}
        assert used and used <= names, f"nobody writes {used - names}"

        shutil.copy(MONITORING / "crosstalk-alerts.yml", folder)
        shutil.copy(TREE / "jobscripts/tests/alerts.yml", folder)
        promtool("check", "rules", folder / "crosstalk-alerts.yml")
        promtool("test", "rules", folder / "alerts.yml")
        rules = [{"record": f"dashboard:query{n}", "expr": query} for n, query in enumerate(queries())]
        (folder / "dashboard.yml").write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
        promtool("check", "rules", folder / "dashboard.yml")
        print(f"{len(names)} names, {len(rules)} queries of the dashboard")


if __name__ == "__main__":
    main()
