#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Is the positive control unbiased where ranks share a core? Short runs, and the mean of measured minus true delay.
#
#   results/seal/control_delay.sh [DIR]    makes RUNS runs in DIR (default build/control-delay), keeps those that are
#                                          complete, and writes control-delay.csv beside this script
#
# RUNS (40), DURATION (25s), MODEL, DELAY (2ms), SLOT (400ms), CPU (0) of both ranks and NOISE_CPU (1) may be set.
# RESULTS=FOLDER puts the table elsewhere. CROSSTALK_BIN is the folder of the programs.
set -euo pipefail
results=${RESULTS:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
PATH=${CROSSTALK_BIN:-$PWD/build/release/bin}:$PATH
runs=${RUNS:-40}
work=${1:-build/control-delay}
slot=${SLOT:-400ms}
mkdir -p "$work" "$results"
directories=()
for ((run = 1; run <= runs; ++run)); do
    directory=$work/$run
    if [[ ! -f $directory/report/verdict.json ]]; then
        rm -rf "$directory"
        # Exit codes 1 and 3 are verdicts, not failures: the report decides.
        crosstalk run --out "$directory" --seed "$run" --duration "${DURATION:-25s}" --cpus "${CPU:-0}" \
            --noise-cpus "${NOISE_CPU:-1}" --control-delay "${DELAY:-2ms}" \
            --schedule "rotation(placebo, control.delay, control.sham; slot=$slot)" \
            -- mpirun -n 2 ddl-train --model "${MODEL:-resnet18[width=8]}" --data digits --batch 4 \
            >"$directory.log" 2>&1 || true
        [[ -f $directory/report/verdict.json ]] || { echo "control_delay.sh: no report: see $directory.log" >&2; exit 1; }
    fi
    directories+=("$directory")
done
python3 - "$results/control-delay.csv" "${directories[@]}" <<'PYTHON'
import csv, json, statistics, sys

table, directories = sys.argv[1], sys.argv[2:]
rows = []
for number, directory in enumerate(directories, 1):
    verdict = json.load(open(directory + "/report/verdict.json"))
    delay = verdict["controls"]["delay"]
    rows.append([number, round(verdict["quiet_step_ms"], 4)] +
                [round(delay[name], 4) for name in ("effect_percent", "low_percent", "high_percent", "true_percent")])
with open(table, "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["run", "quiet_step_ms", "delay_percent", "low_percent", "high_percent", "true_percent"])
    writer.writerows(rows)
errors = [row[2] - row[5] for row in rows]
half = statistics.mean((row[4] - row[3]) / 2 for row in rows)
mean, error = statistics.mean(errors), statistics.stdev(errors) / len(errors) ** 0.5
inside = sum(row[3] <= row[5] <= row[4] for row in rows)
print(f"{len(rows)} runs, quiet step {statistics.median(row[1] for row in rows):.1f} ms (median), "
      f"true delay {statistics.mean(row[5] for row in rows):.2f} %")
print(f"measured - true: mean {mean:+.3f}, standard error {error:.3f}, median {statistics.median(errors):+.3f} points")
print(f"half width of the 95 % interval: mean {half:.2f} points; |mean| is {abs(mean) / half:.2f} of it; "
      f"the true delay lies inside in {inside} of {len(rows)}")
PYTHON
