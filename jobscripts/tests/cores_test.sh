#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# crosstalk cores takes cores from a real job in turns, and ends with their number or the reason why there is none.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs crosstalk noisegen interference python3
(($(nproc) > 1)) || skip "needs two CPUs"

cat >"$scratch/job.py" <<'PYTHON'
import time
for step in range(1000000):
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
    print("step", step, flush=True)
PYTHON
code=0
crosstalk cores --out "$scratch/run" --duration 15s --slot 300ms --budget 50% --step-line step \
    --neighbour cpu.spin -- python3 "$scratch/job.py" >"$scratch/log" 2>&1 || code=$?
check "it ends with an answer, or with a promise that the machine did not keep" test $code -eq 0 -o $code -eq 3
tail -n 1 "$scratch/log" >"$scratch/answer"
check "the answer is the last line" grep -Eq '^(Keep [0-9]+ core|This run does not show how many cores)' "$scratch/answer"
python3 - "$scratch/run/report" <<'PYTHON'
import csv, json, pathlib, sys
report = pathlib.Path(sys.argv[1])
(cores,) = json.loads((report / "cores.json").read_text())["cores"]
assert cores["neighbour"] == "cpu.spin" and cores["most"] >= 1, cores
rows = list(csv.DictReader((report / "cores.csv").open()))
assert [int(row["keep"]) for row in rows] == sorted((int(row["keep"]) for row in rows), reverse=True), rows
assert float(rows[-1]["neighbour_operations_per_s"] or 0) > 0, rows  # it has the core that the job lacks
PYTHON
