#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and tests the parts that need a GPU, in stages of less than ten minutes each. The machine needs CMake, Ninja, nvcc,
# a compiler, and for LibTorch a Python with torch, but neither MPI nor OTF2: other packages that it lacks come from
# fetch.sh, which runs on another machine.
#
#   results/gpu/run.sh               all stages, one after the other; one that fails says why, and the next one runs
#   results/gpu/run.sh build tests   these stages, with the results of earlier ones in WORK
#   results/gpu/run.sh --list        lists the stages
#
# WORK=DIR      where it builds and runs (default build/gpu)
# PACKAGES=DIR  the packages from fetch.sh (default build/gpu-packages)
# RESULTS=DIR   gets README.md, stages.csv, the tables and the logs (default results/gpu/DATE)
# LIMIT=SECONDS time limit of each stage (default 570)
# Exit codes: 0 all stages are fine or skipped, 1 one failed, 2 wrong usage.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
root=$PWD
work=${WORK:-build/gpu}
packages=${PACKAGES:-build/gpu-packages}
results=${RESULTS:-results/gpu/$(date -u +%F)}
limit=${LIMIT:-570}
skipped=77

say() { echo "run.sh: $*" >&2; }
why() { # sets the line that the summary shows
    echo "$*" >"$work/why"
    echo "$*"
}
lacks() { ! command -v "$1" >/dev/null; }

# ------------------------------------------------------------------------------------------------ stages
stages=(needs packages build tests train quickstart bench designed real emulated)
declare -A about=(
    [needs]="what the machine has" [packages]="unpacks what fetch.sh packed" [build]="configures and builds the programs"
    [tests]="tests labelled gpu" [train]="models and strategies with --device cuda, and on the CPU"
    [quickstart]="the quickstart, on CUDA" [bench]="what tracing costs a step, beside Python's DDP, graphs"
    [designed]="an emulated model on the GPU beside memory.stream, gpu.copy, io.write and controls, 90 s"
    [real]="ResNet-50 beside the same, 150 s"
    [emulated]="emulated[device=cuda] against emulated, in turns, and what designed does beside emulated"
)

stage_needs() {
    local program missing=()
    for program in cmake ninja nvcc g++ python3; do
        if lacks "$program"; then missing+=("$program"); else "$program" --version 2>&1 | head -n 1; fi
    done
    nvidia-smi --query-gpu=name,driver_version,memory.total,pci.bus_id --format=csv || why "nvidia-smi shows no GPU"
    python3 -c 'import torch; print("torch", torch.__version__, "CUDA", torch.version.cuda, torch.cuda.is_available())' ||
        echo "no torch"
    command -v mpirun otf2-config || echo "no MPI or no OTF2: as expected"
    ((${#missing[@]} == 0)) || { why "missing: ${missing[*]}"; return 1; }
    lacks nvidia-smi || nvidia-smi -L | grep -q GPU || { why "no GPU here"; return 1; }
    ! lacks nvidia-smi || { why "no GPU here: no nvidia-smi"; return 1; }
}

stage_packages() {
    local package
    compgen -G "$packages/*.deb" >/dev/null || { why "no packages in $packages: run results/gpu/fetch.sh on a Debian 12"; return 1; }
    mkdir -p "$work/prefix"
    for package in "$packages"/*.deb; do
        if ! lacks dpkg-deb; then
            dpkg-deb -x "$package" "$work/prefix" || { why "cannot unpack $package"; return 1; }
        else
            unpack_by_hand "$package" || { why "cannot unpack $package"; return 1; }
        fi
    done
    # The .pc files get the new prefix.
    find "$work/prefix" -name '*.pc' -exec sed -i "s|^prefix=/usr|prefix=$(cd "$work" && pwd)/prefix/usr|" {} +
    why "$(find "$packages" -name '*.deb' | wc -l) packages"
}

# Unpacks a Debian package: an ar archive with a tar archive inside.
unpack_by_hand() {
    local member
    member=$(ar t "$1" | grep '^data\.tar') && ar p "$1" "$member" | tar -x -C "$work/prefix" "$(
        case $member in *.xz) echo --xz ;; *.zst) echo --zstd ;; *) echo --gzip ;; esac
    )"
}

stage_build() {
    local prefix libraries torch=()
    prefix=$(cd "$work" && pwd)/prefix/usr
    libraries=$prefix/lib/$(uname -m)-linux-gnu
    python3 -c 'import torch' 2>/dev/null && torch=("-DCROSSTALK_LIBTORCH=$(command -v python3)")
    export PKG_CONFIG_PATH=$libraries/pkgconfig:$prefix/share/pkgconfig
    if lacks pkg-config; then
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%q exec %q "$@"\n' "$libraries" "$prefix/bin/pkgconf" >"$work/pkg-config"
        chmod +x "$work/pkg-config"
        PKG_CONFIG=$(cd "$work" && pwd)/pkg-config
        export PKG_CONFIG
    fi
    # DT_RPATH, because libraries of the packages also use it to find each other.
    cmake -S . -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DCROSSTALK_CUDA=ON \
        -DCMAKE_PREFIX_PATH="$prefix;$libraries" -DCMAKE_BUILD_RPATH="$libraries;$libraries/hdf5/serial" \
        -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags,-rpath-link,"$libraries" "${torch[@]}" ||
        { why "CMake does not configure: see build.log"; return 1; }
    cmake --build "$work/build" --target programs tests-gpu || { why "the build fails: see build.log"; return 1; }
    [[ -x $work/build/bin/ddl-train ]] || why "built, but ddl-train was left out"
}

needs_program() {
    [[ -x $work/build/bin/$1 ]] || { why "no $1 in $work/build/bin: what did the stage build say?"; return "$skipped"; }
}

stage_tests() {
    needs_program noisegen || return
    ctest --test-dir "$work/build" -L gpu --output-on-failure --no-tests=error -O "$work/ctest.txt" ||
        { why "$(grep -m 1 'tests passed' "$work/ctest.txt" || echo 'no test ran: see tests.log')"; return 1; }
    why "$(grep -m 1 'tests passed' "$work/ctest.txt")$(grep -c 'Skipped' "$work/ctest.txt" | sed 's/^/, lines of skipped ones: /')"
}

# train_row MODEL DATA PRECISION HOW [OPTION...]: trains 60 steps on the GPU, and adds a row to train.csv.
train_row() {
    local status=0
    rm -rf "$work/train"
    ddl-train --model "$1" --data "$2" --device cuda --precision "$3" --deterministic --batch 32 --steps 60 \
        --trace off --json --out "$work/train" "${@:5}" >"$work/train.json" || status=$?
    ((status == 0)) || { why "ddl-train --model $1 ${*:5} ends with $status"; return 1; }
    python3 - "$work" "$1" "$3" "$4" <<'CODE' | tee -a "$results/train.csv"
import csv, json, pathlib, sys
work, (model, precision, how) = pathlib.Path(sys.argv[1]), sys.argv[2:]
result = json.loads((work / "train.json").read_text().splitlines()[-1])
record = work / "train/train/run.json"
rank = json.loads(record.read_text())["result"]["each_rank"][0]["computing"] if record.exists() else {}
csv.writer(sys.stdout, lineterminator="\n").writerow([model, how, precision, result["mean_step_ms"], result.get("loss"),
                                                      result.get("checksum"), rank.get("peak_device_memory_bytes")])
CODE
}

# Checks that rows of the same model and precision end with the same bits, for every kind of exchange.
same_bits() {
    python3 - "$results/train.csv" <<'CODE'
import csv, sys
first = {}
for row in csv.DictReader(open(sys.argv[1])):
    expected = first.setdefault((row["model"], row["precision"]), row)
    if row["checksum"] != expected["checksum"]:
        sys.exit(f"{row['model']} with {row['how']} does not end with the bits that {expected['how']} ends with")
CODE
}

stage_train() {
    needs_program ddl-train || return
    grep -q resnet18 <<<"$(ddl-train --list)" || { why "ddl-train was built without LibTorch"; return "$skipped"; }
    local text="text[path=$root/docs/statistics.md,length=128]" model data strategy apart
    echo model,how,precision,mean_step_ms,loss,checksum,peak_device_memory_bytes >"$results/train.csv"
    for model in mlp resnet18 resnet50 'gpt[size=micro]' dlrm; do
        data=synthetic
        [[ $model != gpt* ]] || data=$text
        [[ $model != dlrm ]] || data=clicks
        for strategy in none naive ddp cycle zero1; do
            train_row "$model" "$data" fp32 "$strategy" --transport self --strategy "$strategy" || return
        done
        train_row "$model" "$data" fp32 "ddp over nccl" --transport nccl --strategy ddp || return
        [[ $model == dlrm ]] || train_row "$model" "$data" fp32 graphs --transport self --strategy none --cuda-graphs || return
        train_row "$model" "$data" bf16 ddp --transport self --strategy ddp || return
    done
    apart=$(same_bits 2>&1) || { why "$apart"; return 1; }
    why "rows: $(($(wc -l <"$results/train.csv") - 1)), in train.csv"
}

model_on_gpu='emulated[device=cuda,compute=20ms,gradients=1MiB]'

# beside NAME DURATION SCHEDULE MODEL [OPTION...]: makes a run of that name, and copies its tables to the results.
beside() {
    needs_program ddl-train && needs_program crosstalk || return
    local run=$work/$1 status=0
    rm -rf "$run"
    crosstalk run --out "$run" --duration "$2" --budget 5% --schedule "$3" -- ddl-train --model "$4" "${@:5}" || status=$?
    [[ -f $run/report/verdicts.csv ]] || { why "no report: crosstalk run ended with $status"; return 1; }
    local table
    for table in verdicts effects_step gpu_effects; do
        [[ ! -f $run/report/$table.csv ]] || cp "$run/report/$table.csv" "$results/$1-$table.csv"
    done
    why "$(sed -n 's/^ *"headline": *"\(.*\)",*$/\1/p' "$run/report/verdict.json" | head -n 1) (exit code $status)"
    ((status == 0))
}

stage_quickstart() {
    needs_program noisegen || return
    noisegen probe memory.stream cache.llc --blocks 5
    beside quickstart 45s auto "$model_on_gpu" --data synthetic --transport self
}

stage_bench() {
    needs_program ddl-train || return
    cmake --build "$work/build" --target gpu-bench || { why "no gpu-bench"; return 1; }
    rm -f "$results/bench.csv"
    CROSSTALK_BENCH_CSV=$(realpath "$results")/bench.csv "$work/build/bin/gpu-bench" --script ddl-workloads/peers/ddp.py ||
        { why "gpu-bench fails"; return 1; }
    why "rows: $(($(wc -l <"$results/bench.csv") - 1))"
}

controlled='rotation(memory.stream, gpu.copy, io.write, placebo, control.delay, control.sham; slot=auto)'

stage_designed() {
    beside designed 90s "$controlled" "$model_on_gpu" --data synthetic --transport self --trace-gpu
}

stage_real() {
    needs_program ddl-train || return
    grep -q resnet50 <<<"$(ddl-train --list)" || { why "ddl-train was built without LibTorch"; return "$skipped"; }
    beside real 150s "$controlled" resnet50 --data 'synthetic[samples=64000]' --device cuda --batch 64 \
        --transport nccl --strategy ddp --trace-gpu
}

stage_emulated() {
    needs_program ddl-train || return
    local pair kind model
    echo pair,kind,mean_step_ms >"$results/emulated.csv"
    for pair in 1 2 3; do
        for kind in cuda cpu; do
            model='emulated[compute=20ms,gradients=1MiB]'
            [[ $kind == cpu ]] || model=$model_on_gpu
            rm -rf "$work/emulated"
            ddl-train --model "$model" --data synthetic --duration 5s --transport self --json --out "$work/emulated" \
                >"$work/emulated.json" || { why "ddl-train with $model ends with $?"; return 1; }
            echo "$pair,$kind,$(sed -n 's/.*"mean_step_ms": *\([0-9.]*\).*/\1/p' "$work/emulated.json")" |
                tee -a "$results/emulated.csv"
        done
    done
    beside emulated 75s "$controlled" 'emulated[compute=20ms,gradients=1MiB]' --data synthetic --transport self
}

# ------------------------------------------------------------------------------------------------ running them
# Runs a stage in its own process group, so that the time limit ends all of its processes.
run_stage() {
    local stage=$1 began=$SECONDS status=0 outcome
    rm -f "$work/why"
    say "$stage: ${about[$stage]}"
    timeout --kill-after=10 "$limit" bash "${BASH_SOURCE[0]}" --stage "$stage" >"$results/logs/$stage.log" 2>&1 </dev/null ||
        status=$?
    case $status in
        0) outcome=fine ;;
        "$skipped") outcome=skipped ;;
        124 | 137) outcome="cut off after $limit s" ;;
        *) outcome=failed ;;
    esac
    local said
    said=$(head -c 300 "$work/why" 2>/dev/null | tr -d '\r\n",')
    say "$stage: $outcome${said:+: $said}"
    sed -i "/^$stage,/d" "$results/stages.csv"
    echo "$stage,$((SECONDS - began)),$outcome,$said" >>"$results/stages.csv"
    [[ $outcome == fine || $outcome == skipped ]]
}

write_readme() {
    {
        echo "# On a GPU, $(date -u '+%F %H:%M') UTC"
        echo
        echo "Written by \`results/gpu/run.sh\` from what it saw."
        echo
        echo "- GPU: $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null |
            paste -sd';' | grep . || echo none)"
        echo "- CPUs: $(nproc), $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)"
        echo "- system: $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release), kernel $(uname -r)"
        echo "- $(nvcc --version 2>/dev/null | sed -n 's/.*release/CUDA/p' | grep . || echo 'no nvcc')," \
            "torch $(python3 -c 'import torch; print(torch.__version__)' 2>/dev/null || echo none)"
        echo "- Crosstalk: $(git -c safe.directory='*' describe --always --dirty 2>/dev/null || echo unknown)"
        echo
        echo "| stage | seconds | outcome | what it said |"
        echo "|---|---|---|---|"
        sed '1d; s/,/ | /; s/,/ | /; s/,/ | /; s/^/| /; s/$/ |/' "$results/stages.csv"
    } >"$results/README.md"
}

case ${1-} in
    --help | -h) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 0 ;;
    --list) for stage in "${stages[@]}"; do echo "$stage: ${about[$stage]}"; done; exit 0 ;;
    --stage)
        mkdir -p "$work"
        PATH=$root/$work/build/bin:$PATH
        [[ $work != /* ]] || PATH=$work/build/bin:$PATH
        "stage_$2"
        exit
        ;;
esac
chosen=("${@:-${stages[@]}}")
(($# > 0)) || chosen=("${stages[@]}")
for stage in "${chosen[@]}"; do
    [[ -n ${about[$stage]-} ]] || { say "no stage '$stage' (run.sh --list shows all)"; exit 2; }
done
mkdir -p "$work" "$results/logs" || exit 1
export WORK=$work PACKAGES=$packages RESULTS=$results
[[ -f $results/stages.csv ]] || echo stage,seconds,outcome,said >"$results/stages.csv"
failed=()
for stage in "${chosen[@]}"; do
    run_stage "$stage" || failed+=("$stage")
    write_readme
done
((${#failed[@]} == 0)) || { say "failed: ${failed[*]}; logs are in $results/logs"; exit 1; }
