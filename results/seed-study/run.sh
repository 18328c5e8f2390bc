#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The seed study, from its spec to the tables beside this script: 40 runs in 5 blocks, about 45 minutes on a machine on
# which nothing else runs.
#
#   results/seed-study/run.sh [DIR]     runs it in DIR (default build/seed-study), or continues there, and copies the report
#
# SPEC=FILE and RESULTS=FOLDER try another spec, with its report elsewhere. CROSSTALK_BIN is the folder of the programs.
set -euo pipefail
results=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$results/../.." && pwd)
bin=${CROSSTALK_BIN:-$root/build/release/bin}
campaign=${1:-$root/build/seed-study}
results=${RESULTS:-$results}

[[ -x $bin/crosstalk ]] || { echo "seed-study: build the programs first (cmake --build --preset release)" >&2; exit 2; }
[[ -e $campaign ]] || "$bin/crosstalk" campaign plan "${SPEC:-$root/jobscripts/specs/seed-study.ini}" -o "$campaign"
status=0
"$bin/crosstalk" campaign run "$campaign" || status=$?
((status == 0 || status == 3)) || exit "$status" # 3: some runs do not count, and the report lists them
"$bin/crosstalk" campaign collect "$campaign"

mkdir -p "$results"
cp "$campaign"/plan.csv "$campaign"/report/{runs,effects,designed,left_out,effects_step}.csv \
    "$campaign"/report/effects.{gp,svg} "$results"
# Removes the page's links to the comparisons by phase, which stay in the campaign's folder.
sed -E 's|<a href="compare-[^"]*">phases</a>||' "$campaign/report/index.html" >"$results/index.html"
{
    date -u +"measured until %FT%TZ"
    uname -srm
    lscpu | grep -E '^(Model name|CPU\(s\)|Thread|Hypervisor)'
    echo "load average at the end: $(cut -d' ' -f1-3 /proc/loadavg)"
} >"$results/machine.txt"
exit "$status"
