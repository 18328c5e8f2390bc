#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A hyper-parameter search as the neighbour of a training, and the same search on the empty node: five minutes on a
# machine on which nothing else runs.
#
#   results/harvest/run.sh [DIR]    makes the runs in DIR (default build/harvest), or uses existing ones, and
#                                   copies their tables beside this script
#
# RESULTS=FOLDER puts the tables elsewhere. CROSSTALK_BIN is the folder of the programs.
set -euo pipefail
results=${RESULTS:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
PATH=${CROSSTALK_BIN:-$PWD/build/release/bin}:$PATH
all=${1:-build/harvest}
# The run's shell expands the variable.
# shellcheck disable=SC2016
trials='trials=job.run[command=crosstalk sweep jobscripts/specs/harvest-trials.ini -o $CROSSTALK_HARVEST.sweep]'
status=0
[[ -e $all/run ]] || crosstalk run --out "$all/run" --budget 5% --duration 180s --cpus 0 --noise-cpus 1 \
    --schedule "rotation($trials, placebo, control.delay, control.sham; slot=2s)" \
    -- mpirun -n 2 --oversubscribe ddl-train --model 'emulated[compute=40ms,gradients=16MiB]' \
    --data synthetic --progress yield || status=$?
[[ -f $all/run/report/verdicts.csv ]] || { echo "harvest: no report in $all/run" >&2; exit "$((status > 0 ? status : 1))"; }
[[ -e $all/empty ]] || noisegen --schedule "rotation($trials; slot=2s)" --cpus 1 --duration 60s --out "$all/empty"
[[ -e $all/priced ]] || interference analyse "$all/run" --budget 5% --empty-node "$all/empty" --node-hour-cost 2.40 \
    --out "$all/priced" || status=$?
mkdir -p "$results"
cp "$all"/priced/{verdicts,effects_step,harvest}.csv "$results"
cp "$all"/run/log/*.sweep/sweep.csv "$results"
exit "$status"
