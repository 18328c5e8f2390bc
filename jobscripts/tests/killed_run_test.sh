#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# killed_run_test.sh: kill -9 and SIGTERM of crosstalk run. No process of its job and noise remains, even in a session
# of its own or below a script that ended earlier.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs setpriv crosstalk noisegen interference trace-os
cat >"$scratch/job.sh" <<'SCRIPT'
#!/usr/bin/env bash
setsid sh -c 'while sleep 0.1; do :; done' &
sh -c 'while sleep 0.02; do echo step; done'
SCRIPT
chmod +x "$scratch/job.sh"
CROSSTALK_TEST=$scratch crosstalk run --out "$scratch/run" --duration 60s --step-line step \
    --schedule 'rotation(cpu.spin, placebo, control.pause; slot=200ms)' -- "$scratch/job.sh" \
    >"$scratch/log" 2>&1 </dev/null &
run_pid=$!
noise_takes_turns() { (($(cat "$scratch"/run/noise/*/noise.csv 2>/dev/null | wc -l) > 5)); }
within 60 noise_takes_turns || broken "the noise takes turns" "$(cat "$scratch/log")"
# shellcheck disable=SC2046 # words are file names of /proc
check "trace-os is one of them" grep -qs '^trace-os$' $(with_variable "CROSSTALK_TEST=$scratch" | sed 's|.*|/proc/&/comm|')
check "five processes and more go on" test "$(with_variable "CROSSTALK_TEST=$scratch" | wc -l)" -ge 5
kill -9 "$run_pid"
within 20 none_with_variable "CROSSTALK_TEST=$scratch" ||
    broken "no process of it remains" "$(described "$(with_variable "CROSSTALK_TEST=$scratch")")"
check "the noise's table is whole up to there" whole_csv "$scratch"/run/noise/*/noise.csv

# A signal ends it in good order: steps from output lines are written, and the last line shows the command that makes a
# report of them.
CROSSTALK_TEST=$scratch crosstalk run --out "$scratch/ended" --duration 60s --step-line step \
    --schedule 'rotation(cpu.spin, placebo, control.pause; slot=200ms)' -- \
    sh -c 'while sleep 0.02; do echo step; done' >"$scratch/log" 2>&1 </dev/null &
run_pid=$!
blocks_are_over() { (($(cat "$scratch"/ended/noise/*/noise.csv 2>/dev/null | wc -l) > 30)); }
within 60 blocks_are_over || broken "the noise takes turns" "$(cat "$scratch/log")"
kill -TERM "$run_pid"
code=0
wait "$run_pid" || code=$?
check "it ends with the signal" test "$code" = 143
check "its last line makes a report" grep -q "to report on them: interference analyse $scratch/ended" "$scratch/log"
check "no process of it remains" none_with_variable "CROSSTALK_TEST=$scratch"
interference analyse "$scratch/ended" --draws 99 >"$scratch/analysed" 2>&1 || true
check "there is a report" test -s "$scratch/ended/report/verdict.json"
