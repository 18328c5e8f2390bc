#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# quick_test.sh [run]: the options that crosstalk run --quick implies; with `run` a quick run, which reports its
# coarseness.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tiny.sh"
needs setpriv crosstalk noisegen interference ddl-train
job=(ddl-train --transport self --model 'emulated[compute=4ms,gradients=64KiB]' --data synthetic)

if [[ ${1:-} == run ]]; then
    run crosstalk run --quick --control-delay 400us --out "$scratch/run" -- "${job[@]}"
    ((status == 0 || status == 3)) || broken "a quick run ends well" "it ended with $status: $(cat "$scratch/err")"
    check "30 s were asked for" grep -q '"duration_ns": 30000000000' "$scratch/run/request.json"
    check "two noises have a verdict" grep -Eq '^(memory.stream|io.write) ' "$scratch/out"
    check "it never measured the third" test -z "$(grep network.exchange "$scratch/out")"
    if grep -q '^TRUSTWORTHY' "$scratch/out"; then
        check "it says what it could have seen" \
            grep -q 'coarse (--quick): this run could have seen .* % of ' "$scratch/err"
    fi
    exit 0
fi

for other in '--duration 9s' '--until decided' '--max-duration 9s' '--runs 2'; do
    # shellcheck disable=SC2086 # an option and its value
    refused 2 "cannot be combined with ${other%% *}" crosstalk run --quick $other -- "${job[@]}"
done
refused 2 "omit --quick" crosstalk run --quick --extend "$scratch"
refused 2 "no job given" crosstalk run --quick
refused 2 "for --schedule auto" crosstalk run --noises io.write --schedule 'cpu.spin 1s' -- "${job[@]}"
refused 2 "did you mean memory.stream" crosstalk run --quick --noises memory.strem --out "$scratch/no" -- "${job[@]}"
refused 2 "nothing between two commas" crosstalk run --quick --noises '' --out "$scratch/no" -- "${job[@]}"
refused 2 "" crosstalk run --quick --noises ')' --out "$scratch/no" -- "${job[@]}"
check "a refused run leaves nothing" test ! -e "$scratch/no"

schedule_of() {
    run crosstalk run --quick --dry-run "$@"
    ((status == 0)) || broken "'$*' is shown" "$(cat "$scratch/err")"
    grep -o "'[a-z]*(.*)'" "$scratch/out"
}
check "a training that marks its steps has slots by these" \
    grep -q '(memory.stream, io.write, placebo, control.delay, control.sham; slot=auto)' <<<"$(schedule_of -- "${job[@]}")"
check "any other job has slots of half a second" \
    grep -q '(memory.stream, io.write, placebo, control.pause; slot=500ms)' <<<"$(schedule_of -- sleep 9)"
check "given options take precedence" grep -q 'cpu.spin, placebo.*slot=2s' <<<"$(schedule_of --noises cpu.spin --slot 2s -- sleep 9)"
check "a schedule of one's own is taken" grep -q 'ramp(cpu.spin' \
    <<<"$(schedule_of --schedule 'ramp(cpu.spin; duty=0..100%; steps=2; hold=1s)' -- sleep 9)"
