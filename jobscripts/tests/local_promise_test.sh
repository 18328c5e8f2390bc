#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Exit code and status file of local.sh: 3 if noise ended before the training did, or the training before noise began, 2
# before anything starts if the schedule is malformed. If it is stopped half way, no process remains.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tiny.sh"
needs setpriv mpirun noisegen ddl-train interference gnuplot
mkdir "$scratch/io"
tiny=(--model "$tiny_model" --data "$tiny_data" --control-delay 1ms --schedule "$(tiny_schedule_in "$scratch/io")")

run "$jobscripts/local.sh" --out "$scratch/bad" "${tiny[@]}" --schedule "rotation(memory.strem; slot=1s)"
check "a malformed schedule is wrong usage" test "$status" = 2
check "the right word is offered" grep -q "memory.stream" "$scratch/err"
check "nothing was trained" test ! -e "$scratch/bad/train"

run "$jobscripts/local.sh" --out "$scratch/bad" "${tiny[@]}" --duration 60 \
    --schedule "ramp(memory.stream[bytes=16MiB]; rate=0..1GiB/s; steps=8; hold=5s)"
check "a schedule of which there could be no report is wrong usage" test "$status" = 2
check "the length that it needs is said" grep -q -- "--duration 80s" "$scratch/err"
check "nothing was trained" test ! -e "$scratch/bad/train"

run "$jobscripts/local.sh" --out "$scratch/short" "${tiny[@]}" -- --steps 3
[[ $status == 3 ]] || broken "a training too short for noise makes exit code 3" "$status: $(cat "$scratch/err")"
check "the status file says the same" grep -q '"exit_code": *3' "$scratch/short/status.json"

run "$jobscripts/local.sh" --out "$scratch/wrong" "${tiny[@]}" --model emulatd
[[ $status == 2 ]] || broken "a training with a wrong option makes exit code 2" "$status: $(cat "$scratch/err")"
check "the right word is offered" grep -q "emulated" "$scratch/err"
check "the status file says the same" grep -q '"exit_code": *2' "$scratch/wrong/status.json"

export CROSSTALK_TEST=$scratch.local
"$jobscripts/local.sh" --out "$scratch/early" "${tiny[@]}" --duration 8s 2>"$scratch/early.log" &
script=$!
noise_began() { (($(cat "$scratch/early"/noise/*/noise.csv 2>/dev/null | wc -l) > 10)); }
check "noise begins" within 60 noise_began
for pid in $(with_variable "CROSSTALK_TEST=$scratch.local"); do
    [[ $(cat "/proc/$pid/comm" 2>/dev/null) != noisegen ]] || kill -TERM "$pid"
done
status=0
wait "$script" || status=$?
[[ $status == 3 ]] || broken "noise that ends early makes exit code 3" "$status: $(cat "$scratch/early.log")"
check "it says so" grep -q "did not cover the training" "$scratch/early.log"
check "the status file says the same" grep -q '"exit_code": *3' "$scratch/early/status.json"
check "it says so of the coverage, too" grep -q '"covered": *false' "$scratch/early/status.json"
check "nothing runs afterwards" none_with_variable "CROSSTALK_TEST=$scratch.local"

"$jobscripts/local.sh" --out "$scratch/stopped" "${tiny[@]}" --duration 60s 2>"$scratch/stopped.log" &
script=$!
check "the training takes steps" within 60 rows_reach "$scratch/stopped/train/steps.csv" 20
kill -TERM "$script"
status=0
wait "$script" || status=$?
check "a script that is stopped says so" test "$status" = 143
check "nothing runs afterwards" none_with_variable "CROSSTALK_TEST=$scratch.local"
