#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# interference controls summarises runs: a control that was not connected is counted as such only.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs interference

# verdict RUN DELAY LOW HIGH TRUE TRUSTWORTHY
verdict() {
    local run=$scratch/runs/emulated.$1
    mkdir -p "$run/report"
    echo '{"exit_code": 0}' >"$run/status.json"
    cat >"$run/report/verdict.json" <<JSON
{
  "trustworthy": $6,
  "quiet_step_ms": 80.0,
  "controls": {
    "placebo": {"effect_percent": 0.1, "low_percent": -0.1, "high_percent": 0.3},
    "delay": {"effect_percent": $2, "low_percent": $3, "high_percent": $4, "true_percent": $5},
    "pause": {"effect_percent": $2, "low_percent": $3, "high_percent": $4, "true_percent": 4.85, "judged": true}
  }
}
JSON
}
verdict 1 5.1 4.9 5.3 5.0 true
verdict 2 4.8 4.6 4.9 5.0 true
verdict 3 0.0 -0.2 0.2 0.0 false

run interference controls "$scratch"/runs/emulated.{1,2,3} --victim emulated --out "$scratch/summed.csv"
check "it ends well" test "$status" = 0
check "runs are counted" grep -q "emulated: 3 runs.* 2 of them trustworthy" "$scratch/out"
check "the one without a control is counted apart" grep -q "not connected in 1 of 3" "$scratch/out"
check "the truth is that of the others" grep -q "true value 5.000 .* in 1 of 2, half width 0.175" "$scratch/out"
check "a mean over runs is one over the others" grep -q "delay measured minus true, pooled: -0.050" "$scratch/out"
check "pauses are counted by their own truth" grep -q "control pause, true value 4.850 .* in 1 of 3, half width 0.183" "$scratch/out"
check "the placebo counts in all of them" grep -q "placebo: 0 inside the 95 % interval in 3 of 3" "$scratch/out"

verdict 1 0.0 -0.2 0.2 0.0 false
run interference controls "$scratch/runs/emulated.1" --victim emulated --out "$scratch/none.csv"
check "it ends well without any control" test "$status" = 0
check "it says so" grep -q "not connected in 1 of 1" "$scratch/out"
