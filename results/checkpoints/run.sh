#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A small version of the study of checkpoints (jobscripts/specs/checkpoint-study.ini and checkpoint-restarts.ini), and
# its tables beside this script: seven minutes on a machine on which nothing else runs.
#
#   results/checkpoints/run.sh [DIR]     runs it in DIR (default build/checkpoints), or continues it there
#
# RESULTS=FOLDER puts the tables elsewhere. CROSSTALK_BIN is the folder of the programs.
set -euo pipefail
results=${RESULTS:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)}
specs=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../jobscripts/specs" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
PATH=${CROSSTALK_BIN:-$PWD/build/release/bin}:$PATH
mkdir -p "${1:-build/checkpoints}" "$results"
cd "${1:-build/checkpoints}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
model='emulated[compute=20ms,gradients=64MiB]'
write="--checkpoint-every 1s --checkpoint-keep 1"
some_noise="io.write[directory=$PWD], io.fsync[directory=$PWD]"
all_noise="$some_noise, io.checkpoint[every=1s,directory=$PWD], io.smallfiles[directory=$PWD]"
all_noise+=", metadata.create[directory=$PWD]"

# study NAME SPEC KEY=VALUE..: runs the spec with these values in place of its own, in the folder NAME.
study() {
    local name=$1 spec=$2 pair
    shift 2
    if [[ ! -e $name ]]; then
        cp "$specs/$spec" "$name.ini"
        for pair; do
            sed -i "/^${pair%%=*} =/d" "$name.ini"
            echo "${pair%%=*} = ${pair#*=}" >>"$name.ini"
        done
        crosstalk campaign plan "$name.ini" -o "$name"
    fi
    local status=0
    crosstalk campaign run "$name" || status=$?
    ((status == 0 || status == 3)) || exit "$status" # 3: some runs do not count
}

for format in hdf5 raw torch; do
    [[ -e seeds/$format/train ]] || mpirun -n 2 --oversubscribe ddl-train --model "$model" --data synthetic --progress yield \
        --steps 5 --checkpoint-every 5 --checkpoint-format "$format" --trace off --out "seeds/$format" >/dev/null
done
study formats checkpoint-study.ini models="$model" ranks=2 duration=5s noise="$all_noise" \
    options="$write --checkpoint-format hdf5|raw|torch --checkpoint-by rank0 --checkpoint-mode sync|async"
study writers checkpoint-study.ini models="$model" ranks=2 duration=5s noise="io.write[directory=$PWD]" \
    options="$write --checkpoint-format hdf5|raw|torch --checkpoint-by sharded|all --checkpoint-mode sync"
study restarts checkpoint-restarts.ini models="$model" duration=1s repetitions=1 noise="$some_noise" \
    options="--resume seeds/hdf5|seeds/raw|seeds/torch"

rm -rf report
interference checkpoints formats/runs/* writers/runs/* restarts/runs/* --mtbf 24h --out report >answer.txt
cp report/{groups,saves,restart_times}.csv answer.txt "$results"
sed -i "s|$PWD/||" "$results"/*.csv
{
    date -u +"measured until %FT%TZ"
    uname -srm
    lscpu | grep -E '^(Model name|CPU\(s\)|Thread|Hypervisor)'
    df -PT . | awk 'NR == 2 { print "file system: " $2 }'
    echo "load average at the end: $(cut -d' ' -f1-3 /proc/loadavg)"
} >"$results/machine.txt"
