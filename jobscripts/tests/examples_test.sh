#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# examples_test.sh c|fortran|pytorch|campaign|slurm|stressor: the example works as examples/README.md says, in a small
# size.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
examples=$(cd "$jobscripts/../examples" && pwd)
needs crosstalk
lib=$CROSSTALK_BIN/../lib
mark=$jobscripts/../trace-tools/mark

while read -r file; do
    check "$file has at most 60 lines" test "$(wc -l <"$file")" -le 60
done < <(find "$examples" -type f ! -name README.md)

# records RANKS: checks that the program in the scratch directory leaves 30 steps of each rank.
records() {
    [[ -z ${CROSSTALK_PRELOAD_FIRST:-} ]] || export LD_PRELOAD=$CROSSTALK_PRELOAD_FIRST ASAN_OPTIONS=detect_leaks=0
    CROSSTALK_OUT=$scratch/run run mpirun -n "$1" --oversubscribe --bind-to none --allow-run-as-root "${@:2}"
    ((status == 0)) || broken "it runs" "$(cat "$scratch/err")"
    check "each rank has 30 steps, the last of which may be open" test \
        "$(tail -n +2 "$scratch/run/train/steps.csv" | wc -l)" -ge $((29 * $1))
}

case $1 in
    c)
        needs mpicc mpirun
        check "it compiles" mpicc -std=c11 -Wall -Wextra -I "$mark" "$examples/mpi/allreduce.c" -o "$scratch/allreduce" \
            -L "$lib" -Wl,-rpath,"$lib" -lcrosstalk-mark
        records 2 "$scratch/allreduce" 30
        check "the phase is there" grep -q "wait_exchange_ns" "$scratch/run/train/steps.csv"
        ;;
    fortran)
        needs mpif90 mpirun
        command -v gfortran >/dev/null || skip "there is no gfortran"
        check "it compiles" mpif90 -J "$scratch" "$mark/crosstalk_mark.f90" "$examples/mpi/allreduce.f90" \
            -o "$scratch/allreduce" -L "$lib" -Wl,-rpath,"$lib" -lcrosstalk-mark
        records 2 "$scratch/allreduce" 30
        ;;
    pytorch)
        needs crosstalk-python mpirun
        /usr/bin/python3 -c "import torch" 2>/dev/null || skip "there is no PyTorch (Debian: python3-torch)"
        export PYTHON=/usr/bin/python3 CROSSTALK_MARK_LIBRARY=$lib/libcrosstalk-mark.so
        export PYTHONPATH=$jobscripts/../python
        records 1 "$CROSSTALK_BIN/crosstalk-python" "$examples/pytorch/train.py" --steps 30
        check "phases of the training are there" grep -q "backward_ns" "$scratch/run/train/steps.csv"
        ;;
    campaign)
        run crosstalk campaign plan "$examples/campaign/levels.ini" -o "$scratch/campaign"
        check "it is planned" test "$status" = 0
        check "20 runs in 5 blocks" grep -q "^20 runs in 5 blocks" "$scratch/out"
        ;;
    stressor) # built against the installation, and loaded by this build's noisegen
        needs noisegen trace-info cmake c++
        for component in mark stressor; do
            check "$component is installed" cmake --install "$CROSSTALK_BIN/.." --component "$component" --prefix "$scratch/prefix"
        done
        check "a foreign project finds the package" cmake -S "$examples/stressor" -B "$scratch/build" \
            -DCMAKE_PREFIX_PATH="$scratch/prefix"
        check "and builds with it alone" cmake --build "$scratch/build"
        library=$scratch/build/libcpu-divide.so
        run noisegen --load "$library" --list
        check "it is listed with its options" grep -A1 "^  cpu.divide .*divider" "$scratch/out"
        schedule="cpu.divide[rate=100000/s,operations=1000] 400ms; quiet 100ms"
        run noisegen --load "$library" --schedule "$schedule" --duration 1s --cpus 0 --share --out "$scratch/run"
        ((status == 0 || status == 3)) || broken "it stresses" "$(cat "$scratch/err")" # 3: busy machine, rate not reached
        record=("$scratch"/run/noise/*/noise.json)
        check "the record names the stressor" grep -q '"stressor": "cpu.divide"' "${record[0]}"
        check "and the library" grep -q "\"$library\"" "${record[0]}"
        # shellcheck disable=SC2016 # for awk
        check "it divided" awk -F, '$5 == "cpu.divide" { n += $13 } END { exit !(n > 0) }' "${record[0]%/*}/noise.csv"
        check "the trace has a region of it" grep -q "^ *cpu.divide  *user" <(trace-info "${record[0]%/*}/trace/traces.otf2")
        CROSSTALK_LOAD=$library run noisegen --list
        check "the variable loads it, too" grep -q "^  cpu.divide" "$scratch/out"
        printf 'command = true\nnoise = cpu.divide\n' >"$scratch/spec.ini"
        refused 2 "no stressor 'cpu.divide'" crosstalk campaign plan "$scratch/spec.ini" -o "$scratch/campaign"
        CROSSTALK_LOAD=$library run crosstalk campaign plan "$scratch/spec.ini" -o "$scratch/campaign"
        check "a campaign may use it then" test "$status" = 0

        version=$(sed -nE 's/^project\(crosstalk VERSION ([0-9.]+) .*/\1/p' "$jobscripts/../CMakeLists.txt")
        other=${version//[0-9]/9} # of the same length, since it is written into a binary
        sed "s/${version//./\\.}/$other/" "$library" >"$scratch/other.so"
        refused 2 "made for Crosstalk $other, this is $version: build it again" noisegen --load "$scratch/other.so" --list
        cp "$library" "$scratch/copy.so"
        refused 2 "there is a stressor 'cpu.divide' already" noisegen --load "$library" --load "$scratch/copy.so" --list
        refused 2 "cannot open shared object file" noisegen --load "$scratch/none.so" --list
        refused 2 "a library without a stressor" noisegen --load "$lib/libcrosstalk-mark.so" --list
        ;;
    slurm)
        SLURM_JOB_ID=$own_slurm_job CPUS=0 NOISE_CPUS=1 run bash "$examples/slurm/measure.sbatch" --dry-run
        [[ $(nproc) -ge 2 ]] || skip "needs two CPUs"
        check "job and noise are two steps of the job" test "$(grep -c "^  srun --job-name=\(training\|noise\)" "$scratch/out")" = 2
        SLURM_JOB_ID=$own_slurm_job SLURM_ARRAY_TASK_ID=5 run bash "$jobscripts/co-schedule.sbatch" --cpus 0 \
            --noise-cpus 1 --dry-run -- ddl-train --seed 9
        check "the task's number is the noise's seed, whatever the command's is" grep -q "noisegen .*--seed 5 " "$scratch/out"
        ;;
esac
