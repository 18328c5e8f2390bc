#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A neighbour that is too strong, and the same one under a limit: four minutes on a machine on which nothing else runs.
#
#   results/limits/run.sh [DIR]     makes the run DIR (default build/limits), or uses an existing one, and copies
#                                   its tables beside this script
#
# RESULTS=FOLDER puts the tables elsewhere. CROSSTALK_BIN is the folder of the programs.
set -euo pipefail
results=${RESULTS:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
PATH=${CROSSTALK_BIN:-$PWD/build/release/bin}:$PATH
run=${1:-build/limits}
status=0
[[ -e $run ]] || crosstalk run --out "$run" --budget 5% --duration 240s \
    --schedule 'rotation(memory.stream[limit=none|cpu.max:20%|cpu.max:5%], placebo, control.delay, control.sham; slot=auto)' \
    -- mpirun -n 2 --oversubscribe ddl-train --model 'emulated[compute=20ms,gradients=4MiB,device=memory]' \
    --data synthetic --progress yield || status=$?
[[ -f $run/report/verdicts.csv ]] || { echo "limits: no report in $run" >&2; exit "$((status > 0 ? status : 1))"; }
mkdir -p "$results"
cp "$run"/report/{verdicts,effects_step,harvest}.csv "$results"
exit "$status"
