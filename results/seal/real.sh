#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Real jobs with a neighbour whose harm earlier reports missed: compares the report with a simple calculation from the raw
# step times. Writes DIR/HOW and DIR/HOW.txt; takes five minutes per job.
#
#     results/seal/real.sh DIR [HOW..]      HOW: stall checkpoint load ddl
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
cd "$1"
shift
(($# > 0)) || set -- stall checkpoint load ddl
printf '#!/bin/sh\nexec python3 %q neighbour\n' "$here/victim.py" >neighbour.sh
chmod +x neighbour.sh
seconds=${SECONDS_EACH:-300}
for how in "$@"; do
    if [[ $how == ddl ]]; then # ddl-train that writes a checkpoint every ten steps beside writes of the neighbour
        crosstalk run --out ddl --duration "${seconds}s" \
            --schedule "rotation(io.write, placebo, control.delay, control.sham; slot=400ms)" \
            -- mpirun -n 2 ddl-train --model 'resnet18[width=8]' --batch 4 --data synthetic --checkpoint-every 10 || true
        python3 "$here/victim.py" cost-of-run ddl io.write | tee ddl.txt
        continue
    fi
    crosstalk run --out "$how" --duration "${seconds}s" --steps "$how.steps.csv" \
        --schedule "rotation(neighbour=job.run[file=$PWD/neighbour.sh], placebo, control.pause; slot=400ms)" \
        -- python3 "$here/victim.py" "$how" "$how.steps.csv" "$how.raw.csv" $((seconds + 60)) || true
    python3 "$here/victim.py" cost "$how.raw.csv" | tee "$how.txt"
done
