#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# evidence_test.sh: crosstalk run starts trace-os with a job, and the report has what it recorded. A run whose trace-os
# is refused, or that has it off, succeeds without it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tiny.sh"
needs setpriv crosstalk noisegen interference trace-os trace-info trace-merge trace-convert
[[ -e /proc/self/schedstat ]] || skip "the kernel has no /proc/PID/schedstat"
cat >"$scratch/job.sh" <<'SCRIPT'
#!/bin/sh
exec awk 'BEGIN { while (1) { for (i = 0; i < 30000; ++i) x += i; print "step", ++n; fflush() } }'
SCRIPT
chmod +x "$scratch/job.sh"

job=("$scratch/job.sh")
source_of_steps=(--step-line 'step ([0-9]+)')
control=control.pause

# measured DIR [OPTION...]: a run, repeated and longer if noise did not cover it, as when the machine stalls for
# seconds.
measured() {
    local out=$1
    shift
    for duration in 4s 8s 16s; do
        rm -rf "$out"
        run crosstalk run --out "$out" --duration "$duration" --seed 7 "${source_of_steps[@]}" "$@" \
            --schedule "rotation(cpu.spin, placebo, $control; slot=250ms)" -- "${job[@]}"
        ((status == 3)) || break
    done
    [[ $status == 0 ]] || broken "the run ends well" "it ended with $status: $(cat "$scratch/err"; tail -n 20 "$out"/log/*.log)"
}

measured "$scratch/run"
for file in os.csv os.json trace/traces.otf2; do
    # shellcheck disable=SC2086 # the name of the host
    check "os/HOST/$file is there" test -s "$scratch"/run/os/*/$file
done
check "its archive is sound" trace-info "$scratch"/run/os/*/trace/traces.otf2
check "its table is whole" whole_csv "$scratch"/run/os/*/os.csv
check "the report has a table of it" grep -q '^cpu.spin,' "$scratch/run/report/evidence.csv"
check "the page shows it" grep -q "Time kept from running" "$scratch/run/report/index.html"
check "what was asked for is on record" grep -q '"evidence": "auto"' "$scratch/run/request.json"
recorder=$(sed -n 's/^ *"pid": \([0-9]*\),*/\1/p' "$scratch"/run/os/*/os.json)
check "trace-os has ended" test ! -d "/proc/$recorder"
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$scratch/run/train/run.json" | tail -n 1)
check "rows are of the job's process" grep -q ",$pid," "$scratch"/run/os/*/os.csv

measured "$scratch/cheap" --evidence cheap
check "no programs in the kernel are wanted" grep -q 'bpf off' "$scratch"/cheap/os/*/os.json
check "waits for a CPU are known" grep -q ',schedstat,runqueue_wait,' "$scratch"/cheap/os/*/os.csv

# A run whose trace-os is refused has all other results.
bin=$(dirname "$(command -v crosstalk)")
mkdir "$scratch/bin"
ln -s "$bin"/* "$scratch/bin/"
rm "$scratch/bin/trace-os"
printf '#!/bin/sh\necho "trace-os: refused" >&2\nexit 1\n' >"$scratch/bin/trace-os"
chmod +x "$scratch/bin/trace-os"
CROSSTALK_BIN=$scratch/bin measured "$scratch/refused"
check "one line says so" test "$(grep -c "no evidence of the operating system" "$scratch/err")" = 1
check "there is none" test ! -e "$scratch/refused/os"
check "the report says so" grep -q "no evidence of the operating system" "$scratch/refused/report/index.html"

# trace-merge merges the archives of a job that marks its steps, of the noise and of trace-os.
job=("$CROSSTALK_BIN/../tests/mark-program" 1000000)
source_of_steps=()
control=control.delay,control.sham
if [[ -x ${job[0]} ]]; then
    measured "$scratch/marks"
    merged=$scratch/marks/merged
    run trace-merge "$scratch"/marks/train/trace/traces.otf2 "$scratch"/marks/{noise,os}/*/trace/traces.otf2 \
        --report "$scratch/marks/report" --all-markers -o "$merged"
    [[ $status == 0 ]] || broken "they are merged" "$(cat "$scratch/err")"
    check "the merged archive is sound" trace-info --check "$merged/traces.otf2"
    check "it goes to Perfetto" trace-convert "$merged/traces.otf2" --perfetto "$scratch/perfetto.json"
    for process in 'noise on' 'threads on'; do
        check "'$process' is a process of it" grep -q "\"name\": \"$process" "$scratch/perfetto.json"
    done
    check "interruptions are slices of it" grep -Eq '"name": "(neighbour|kernel_thread|interrupt|softirq|idle_cpu)' "$scratch/perfetto.json"
fi
job=("$scratch/job.sh")
source_of_steps=(--step-line 'step ([0-9]+)')
control=control.pause

measured "$scratch/off" --evidence off
check "none is wanted" test ! -e "$scratch/off/os" -a ! -e "$scratch/off/log/trace-os.log"
check "no line says that it is missing" test -z "$(grep "no evidence" "$scratch/err" "$scratch/off/report/index.html")"
refused 2 "omit --evidence" crosstalk run --extend "$scratch/off" --evidence off
refused 2 "did you mean" crosstalk run --evidence chep -- true
