#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Codes under soft errors, and a coded training that waits for late ranks or skips them beside noise: half an hour on
# a machine on which nothing else runs.
#
#   results/coded/run.sh [DIR]     makes the runs in DIR (default build/coded), or uses existing ones, and puts their
#                                  tables beside this script
#
# RESULTS=FOLDER puts the tables elsewhere. CROSSTALK_BIN is the folder of the programs. PARTS='accuracy noise' (both).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
results=${RESULTS:-$here}
cd "$here/../.."
PATH=${CROSSTALK_BIN:-$PWD/build/release/bin}:$PATH
all=${1:-build/coded}
parts=${PARTS:-accuracy noise}
mkdir -p "$all" "$results"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
status=0

[[ $parts != *accuracy* ]] || "$here/accuracy.py" "$all/accuracy" "$results" | tee "$results/accuracy.txt"

# beside_noise NAME OPTIONS: a coded training in a designed run; its tables as NAME-*.csv.
beside_noise() {
    local run=$all/$1 code=0
    [[ -e $run ]] || crosstalk run --out "$run" --budget 5% --duration 420s --evidence cheap \
        --schedule 'rotation(memory.stream, cpu.spin, placebo, control.delay, control.sham; slot=auto)' \
        -- mpirun -n 11 --oversubscribe --bind-to none ddl-train --model mlp --data digits --batch 32 --lr 0.01 \
        --strategy "coded[code=codenet,grid=3x2,parity=1x1$2]" || code=$?
    [[ -f $run/report/coded_products.csv ]] || { echo "coded: no coded products in $run/report" >&2; exit 1; }
    for table in verdicts coded_products coded_last_ranks; do cp "$run/report/$table.csv" "$results/$1-$table.csv"; done
    cp "$run/report/coded.svg" "$results/$1.svg"
    ((code == 0)) || status=$code
}
if [[ $parts == *noise* ]]; then
    beside_noise wait ,late=wait
    beside_noise skip ,late=skip,spare=0
fi
{
    date -u +"measured until %FT%TZ"
    uname -srm
    lscpu | grep -E '^(Model name|CPU\(s\)|Thread|Hypervisor)'
    ddl-train --version
    echo "load average at the end: $(cut -d' ' -f1-3 /proc/loadavg)"
} >"$results/machine.txt"
exit "$status"
