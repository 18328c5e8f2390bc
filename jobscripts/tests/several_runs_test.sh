#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# several_runs_test.sh [until]: sets of runs, and runs that are extended; with `until` a run that ends when all verdicts
# are decided.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tiny.sh"
needs setpriv crosstalk noisegen interference ddl-train
schedule='rotation(memory.stream[bytes=16MiB], placebo, control.delay, control.sham; slot=100ms)'
job=(ddl-train --transport self --model 'emulated[compute=4ms,gradients=64KiB]' --data synthetic)
measure=(crosstalk run --schedule "$schedule" --control-delay 400us)

# well COMMAND...: checks that COMMAND succeeds; exit code 3 (the machine stalled for seconds) is accepted, too.
well() {
    run "$@"
    ((status == 0 || status == 3)) || broken "'$*' ends well" "it ended with $status: $(cat "$scratch/err")"
}

if [[ ${1:-} == until ]]; then
    # A delay that is found immediately, and a budget that no disturbance of a busy machine reaches.
    well crosstalk run --schedule "$schedule" --control-delay 2ms --until decided --budget 500% --max-duration 60s \
        --out "$scratch/run" -- "${job[@]}"
    check "it ended when all was decided" grep -q 'every verdict is decided' "$scratch/err"
    check "its intervals are valid at every check" grep -q 'intervals are valid at every check' "$scratch/out"
    check "the verdict is there" grep -Eq '^memory.stream .* (safe|unsafe) ' "$scratch/out"
    check "and says how it was ended" grep -q '"first_look_block": 10' "$scratch/run/report/verdict.json"
    exit 0
fi

refused 2 "takes no --duration" crosstalk run --until decided --duration 3s -- "${job[@]}"
refused 2 "reports its steps" crosstalk run --until decided -- sleep 9
refused 2 "omit --seed" crosstalk run --extend "$scratch" --seed 2
refused 1 "not a run of crosstalk run" crosstalk run --extend "$scratch" --duration 3s
refused 2 "--runs must be from 1 to" crosstalk run --runs 0 -- "${job[@]}"

cat >"$scratch/unless_broken" <<TEXT
#!/bin/sh
[ ! -e "$scratch/broken" ] || exit "\$(cat "$scratch/broken")"
exec "\$@"
TEXT
chmod +x "$scratch/unless_broken"
job=("$scratch/unless_broken" "${job[@]}")
mkdir "$scratch/metrics"
well "${measure[@]}" --runs 2 --duration 3s --openmetrics "$scratch/metrics" --out "$scratch/set" -- "${job[@]}"
check "the last noise has ended" grep -q '^crosstalk_noise_running 0' "$scratch/metrics/noise.prom"
check "and so has its training" grep -q '^crosstalk_training_running.* 0' "$scratch/metrics/training.prom"
check "both runs are pooled" grep -q '^2 runs, each with its own' "$scratch/out"
check "each run has its own order" test "$(grep -ho '"seed": [0-9]*' "$scratch"/set/run-?/request.json | sort -u | wc -l)" = 2
check "the verdict rests on runs" grep -q '"unit": "run"' "$scratch/set/report/verdict.json"
check "the status is that of all" grep -q '"verdicts"' "$scratch/set/status.json"

cd "$scratch"
well crosstalk run --extend "$scratch/set/run-1" --duration 3s --export-json extended.json
check "its verdict is where it was asked for" cmp extended.json "$scratch/set/run-1/report/verdict.json"
check "the part is added to its run" test -d "$scratch/set/run-1/part-2/train"
check "in another order" test "$(grep -ho '"seed": [0-9]*' "$scratch"/set/run-1/request.json "$scratch"/set/run-1/part-2/request.json | sort -u | wc -l)" = 2
check "both parts are pooled" grep -q '^1 run in 2 parts' "$scratch/out"
check "the report of before is kept" test -s "$scratch/set/run-1/report.1/index.html"
check "the report names no new run to be made" test -z "$(grep -o 'NEW_DIR' "$scratch/set/run-1/report/index.html")"

echo 1 >"$scratch/broken"
run crosstalk run --extend "$scratch/set" --duration 3s
check "a job that fails ends the set" test "$status" = 1
check "and says when" grep -q 'the job failed before noise could begin' "$scratch/err"
check "a run that was not measured is none of the set" test ! -e "$scratch/set/run-3" -a -d "$scratch/set/failed-1/log"
echo 0 >"$scratch/broken"
run crosstalk run --extend "$scratch/set" --duration 3s
check "and so does one that ends at once" test "$status" = 3
check "whose directory is kept, too" test ! -e "$scratch/set/run-3" -a -d "$scratch/set/failed-2/log"
