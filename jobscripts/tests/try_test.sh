#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# crosstalk try names the source of a job's steps, and so does crosstalk run while there are no steps: a script may hide
# the source, the job reads crosstalk's standard input, and a run that cannot get a report ends immediately.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tiny.sh"
needs setpriv crosstalk noisegen interference trace-record python3
[[ -z ${CROSSTALK_PRELOAD_FIRST:-} ]] || export LD_PRELOAD=$CROSSTALK_PRELOAD_FIRST ASAN_OPTIONS=detect_leaks=0

cat >"$scratch/lines.py" <<'PYTHON'
import sys, time
name = sys.stdin.readline().strip() or "step"
for step in range(100000):
    time.sleep(0.01)
    print(f"{name:>8} {step:6d} {(-1) ** step * 10.0 ** (step % 7 - 3):12.5g}", flush=True)
PYTHON
cat >"$scratch/marks.sh" <<'SHELL'
#!/bin/sh
exec /usr/bin/python3 - <<'PYTHON'
import time, crosstalk
for step in crosstalk.steps(range(100000)):
    with crosstalk.phase("forward"):
        time.sleep(0.01)
        with crosstalk.phase("load"):
            time.sleep(0.01)
PYTHON
SHELL
chmod +x "$scratch/marks.sh"

# This run waits for a step beside the tries that follow.
crosstalk run --first-step 12s --out "$scratch/silent" -- sleep 60 >"$scratch/silent.log" 2>&1 &
silent=$!

echo layer >"$scratch/input"
# run starts its command in the background, which would lose its standard input.
with_input() { run bash -c 'exec "$@" <"$0"' "$scratch/input" "$@"; }
with_input crosstalk try --duration 3s -- python3 "$scratch/lines.py"
[[ $status == 0 || $status == 3 ]] || broken "a job with lines is tried" "it ended with $status: $(cat "$scratch/out" "$scratch/err")"
check "its lines are of one kind, with what it read" grep -q "^steps .*from one line 'layer # #' to the next" "$scratch/out"
check "it says how long a run is" grep -Eq '^a report +needs [0-9]+s of noise' "$scratch/out"

with_input crosstalk try --step-every 4 --duration 3s -- python3 "$scratch/lines.py"
check "steps of four lines" grep -q "to the 4. after it" "$scratch/out"

run crosstalk try --duration 3s -- "$scratch/marks.sh"
[[ $status == 0 || $status == 3 ]] || broken "marks in a script are found" "it ended with $status: $(cat "$scratch/out" "$scratch/err")"
check "it tells its steps" grep -q '^steps  *a step as the job marks it' "$scratch/out"
check "a phase inside of another takes its place" grep -Eq '^phases .*load [0-9.]+ %, forward [0-9.]+ %' "$scratch/out"
check "so the known delay is in the schedule" grep -q '^schedule .*control.delay' "$scratch/out"

status=0
wait "$silent" || status=$?
[[ $status == 1 ]] || broken "a job without steps is given up" "it ended with $status: $(cat "$scratch/silent.log")"
check "it says so while it waits" \
    grep -q 'no step after 10 s: processes: sleep; steps come from MPI calls' "$scratch/silent.log"

run crosstalk run --first-step 2s --step-line 'epoch ([0-9]+)' --out "$scratch/never" -- python3 "$scratch/lines.py"
[[ $status == 1 ]] || broken "lines that never match are given up" "it ended with $status: $(cat "$scratch/err")"
check "it says what would match" grep -q "0 lines match --step-line .*--step-line 'step \*\[0-9\]' would match others" "$scratch/err"

run crosstalk run --duration 4s --schedule "rotation(memory.stream[bytes=16MiB], placebo, control.delay, control.sham; slot=auto)" \
    --out "$scratch/short" -- "$scratch/marks.sh"
((status == 0)) || broken "two blocks of short slots are enough" "it ended with $status: $(cat "$scratch/err")"
check "noise is on before its time begins" grep -q 'noise is on' "$scratch/err"
for format in md json html text; do
    check "a report is printed again as $format" interference analyse "$scratch/short" --format $format
done
