#!/usr/bin/env bash
# scorep_test.sh: a C program whose archive is as Score-P writes it, is measured by its own regions: noise and pauses beside
# it, then `interference exposure --step-region`.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs noisegen interference trace-info
command -v cc >/dev/null || skip "there is no C compiler"
program=$scratch/scorep_like
cc -O2 "$jobscripts/../trace-tools/tests/scorep_like.c" -o "$program" -lopen-trace-format2 2>"$scratch/cc" ||
    skip "it does not link with OTF2: $(head -n 1 "$scratch/cc")"
mapfile -t cores < <(allowed_cores)
((${#cores[@]} >= 2)) || skip "needs two cores"

taskset --cpu-list "${cores[0]%%,*}" "$program" "$scratch/scorep" 25 >"$scratch/job" &
job=$!
run noisegen --victim "$job" --avoid "pid:$job" --cpus "${cores[1]%%,*}" --duration 22s --out "$scratch/run" \
    --schedule "rotation(cpu.spin, placebo, control.pause; slot=500ms)"
[[ $status == 0 || $status == 3 ]] || broken "noise runs" "$(cat "$scratch/err")"
wait "$job"
archive=$scratch/scorep/traces.otf2
check "the archive is Score-P's" grep -q 'written by *Score-P' <(trace-info "$archive")
noise=("$scratch"/run/noise/*/trace/traces.otf2)
refused 1 "clock" interference exposure --train "$archive" --noise "${noise[@]}" --step-region step --out "$scratch/none"
run interference exposure --train "$archive" --noise "${noise[@]}" --step-region step --clock-offset 0s --warmup 1s \
    --out "$scratch/report"
[[ $status == 0 || $status == 3 ]] || broken "it is analysed" "$(cat "$scratch/err")"
check "noise has a verdict" grep -Eq '^cpu.spin .*(safe|unsafe|undecided)' "$scratch/out"
check "the pauses were found" grep -Eq 'control pause .*true value [1-9]' "$scratch/out"
check "all of its steps are there" test "$(cut -d, -f2 "$scratch/report/exposure.csv" | tail -n +2 | sort -u | wc -l)" = "$(cut -d' ' -f1 "$scratch/job")"
