#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# local.sh from start to end: a short run makes a report, noise covered it, and all files are in place.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tiny.sh"
needs setpriv mpirun noisegen ddl-train interference trace-info gnuplot
run=$scratch/run
mkdir "$scratch/io"

# 3: noise did not cover the training, for example because the machine stalled for seconds.
for duration in 12s 30s 60s; do
    rm -rf "$run"
    run "$jobscripts/local.sh" --out "$run" --model "$tiny_model" --data "$tiny_data" --duration "$duration" \
        --schedule "$(tiny_schedule_in "$scratch/io")" --seed 7
    ((status == 3)) || break
done
[[ $status == 0 ]] || broken "local.sh ends well" "it ended with $status: $(cat "$scratch/err"; tail -n 20 "$run"/log/*.log)"
check "it names the report" grep -q "report: $run/report/index.html" "$scratch/out"
for file in train/steps.csv train/run.json train/trace/traces.otf2 noise/*/noise.csv noise/*/noise.json \
    noise/*/trace/traces.otf2 report/index.html report/verdict.json report/effects.csv report/exposure.csv; do
    # shellcheck disable=SC2086 # the name of the host
    check "$file is there" test -s "$run"/$file
done
for archive in "$run"/train/trace/traces.otf2 "$run"/noise/*/trace/traces.otf2; do
    check "$archive is sound" trace-info "$archive"
done
check "the control was connected" grep -q '"true_percent": [0-9.]*[1-9]' "$run/report/verdict.json"
check "the status file tells a campaign" grep -q '"exit_code": *0' "$run/status.json"
summary=$(sed 's/^{//; s/}$//' "$run/report/summary.json")
check "the status file carries trust and verdicts of the report" grep -qF "$summary" "$run/status.json"
check "noise covered the training there, too" grep -q '"covered":true' "$run/status.json"
check "no scratch file of the noise is left" test -z "$(ls -A "$scratch/io")"

refused 2 "is already there" "$jobscripts/local.sh" --out "$run"
