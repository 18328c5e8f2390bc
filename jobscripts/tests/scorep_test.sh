#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scorep_test.sh run|script|exposure: a C program that writes an archive like Score-P's is measured by its own regions:
# by `crosstalk run`, even if only a script of the job sets up Score-P, and by `interference exposure` with its archive.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs crosstalk noisegen interference trace-info trace-record
command -v cc >/dev/null || skip "there is no C compiler"
program=$scratch/scorep_like
cc -O2 "$jobscripts/../trace-tools/tests/scorep_like.c" -o "$program" -lopen-trace-format2 2>"$scratch/cc" ||
    skip "it does not link with OTF2: $(head -n 1 "$scratch/cc")"
mapfile -t cores < <(allowed_cores)
((${#cores[@]} >= 2)) || skip "needs two cores"
schedule='rotation(cpu.spin, placebo, control.pause; slot=500ms)'
has_verdict() {
    check "noise has a verdict" grep -Eq '^cpu.spin .*(safe|unsafe|undecided|insensitive|untrusted)' "$scratch/out"
    check "the pauses were found" grep -Eq 'control pause .*true value [1-9]' "$scratch/out"
}
# all_steps TABLE JOB: checks that the table has as many steps as the program printed.
all_steps() {
    check "all of its steps are there" test \
        "$(cut -d, -f2 "$1" | tail -n +2 | sort -u | wc -l)" = "$(sed -n 's/^\([0-9]*\) steps.*/\1/p' "$2")"
}

case $1 in
    run)
        # The run is shorter than the job; SIGTERM would keep the job from writing its archive.
        run crosstalk run --out "$scratch/run" --duration 20s --schedule "$schedule" -- "$program" 30
        [[ $status == 0 ]] || broken "the run ends well" "$(cat "$scratch/err")"
        check "it waits for the archive" grep -q "ignores SIGTERM" "$scratch/err"
        check "the archive is Score-P's" grep -q 'written by *Score-P' <(trace-info "$scratch/run/train/trace/traces.otf2")
        ;;
    script)
        printf '#!/bin/sh\nSCOREP_ENABLE_TRACING=true %q 30\n' "$program" >"$scratch/job.sh"
        chmod +x "$scratch/job.sh"
        cd "$scratch"
        [[ -z ${CROSSTALK_PRELOAD_FIRST:-} ]] || export LD_PRELOAD=$CROSSTALK_PRELOAD_FIRST ASAN_OPTIONS=detect_leaks=0
        run crosstalk run --out "$scratch/run" --duration 60s --schedule "$schedule" -- ./job.sh
        [[ $status == 0 ]] || broken "the run ends well" "$(cat "$scratch/err")"
        check "it says whose steps they are" grep -q "steps are those of Score-P's archive .*/scorep-" "$scratch/err"
        check "its archive stays where it is" test -f "$(echo "$scratch"/scorep-*/traces.otf2)"
        ;;
    exposure)
        SCOREP_ENABLE_TRACING=true SCOREP_EXPERIMENT_DIRECTORY=$scratch/scorep \
            taskset --cpu-list "${cores[0]%%,*}" "$program" 25 >"$scratch/job" &
        job=$!
        run noisegen --victim "$job" --avoid "pid:$job" --cpus "${cores[1]%%,*}" --duration 22s --out "$scratch/run" \
            --schedule "$schedule"
        [[ $status == 0 || $status == 3 ]] || broken "noise runs" "$(cat "$scratch/err")"
        wait "$job"
        archive=$scratch/scorep/traces.otf2
        check "the archive is Score-P's" grep -q 'written by *Score-P' <(trace-info "$archive")
        noise=("$scratch"/run/noise/*/trace/traces.otf2)
        refused 1 "clock" interference exposure --train "$archive" --noise "${noise[@]}" --step-region step \
            --out "$scratch/none"
        run interference exposure --train "$archive" --noise "${noise[@]}" --step-region step --clock-offset 0s \
            --warmup 1s --out "$scratch/report"
        [[ $status == 0 || $status == 3 ]] || broken "it is analysed" "$(cat "$scratch/err")"
        has_verdict
        all_steps "$scratch/report/exposure.csv" "$scratch/job"
        exit
        ;;
esac
has_verdict
all_steps "$scratch/run/report/exposure.csv" "$scratch/run/log/job.log"
check "what its steps are is told" grep -q 'a step is a visit of step' "$scratch/run/report/index.html"
check "the clocks were compared" grep -q 'clocks were aligned by --clock-offset' "$scratch/run/report/index.html"
check "no step before the noise is used" python3 - "$scratch/run/report/exposure.csv" <<'PYTHON'
import csv
import sys

rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8")))
used = [row for row in rows if row["used"] == "1"]
assert len(used) > len(rows) / 3, f"{len(used)} of {len(rows)} are used"
assert sum(float(row["cpu.spin"]) == 1.0 for row in used) > 20, "some were wholly under noise"
assert sum(float(row["cpu.spin"]) == 0.0 for row in used) > 20, "and some without"
PYTHON
