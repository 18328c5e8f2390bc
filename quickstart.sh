#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Crosstalk and measures, on this machine, what noise on idle cores costs a real training. On a fresh Debian 12
# the only command needed. Ends with the verdict and the path of the report; takes two to six minutes once built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. jobscripts/setup.sh

longest=5min
first_programs=(crosstalk noisegen ddl-train interference trace-os)
configure=() # more for CMake
# For the training. Slots of short steps are shorter than the turns of seconds that tenants of a shared host take, and
# five minutes hold hundreds of them.
train=(--model 'resnet18[width=8]')
# On fewer than four CPUs, ranks would take turns on one, and a neighbour's noise often costs about 10 %, which minutes
# cannot distinguish from a budget of 10 %.
if (($(nproc) < 4)); then ranks=1 budget=20%; else ranks=2 budget=10%; fi

help() {
    cat <<TEXT
quickstart.sh: builds Crosstalk and measures, on this machine, what noise on idle cores costs a real training

  quickstart.sh [--build] [--libtorch PATH] [--cuda]

With programs already installed (on PATH), only 3 and 4.

  --build          builds in any case
  --libtorch PATH  builds with a LibTorch other than Debian's: its folder, or a Python (environment) with PyTorch
  --cuda           builds with CUDA, or fails; the training's steps keep a GPU busy (emulated[device=cuda])

1. On Debian, installs those of these packages that are missing, with apt-get:
$(in_lines "${packages_to_build[@]}" "${packages_to_run[@]}")
   Without root, prints the missing ones and exits. Nothing else on the machine is changed.
2. Builds the programs for this into build/release (some minutes the first time, on two cores).
3. Measures for ten seconds how a neighbour slows a core here.
4. Trains under noise until each verdict is decided, at most $longest, and leaves the report in results/quickstart.
   An earlier report is kept. The budget is 20% of a step on fewer than four CPUs, else 10%, which minutes can
   decide. For a finer one:
   crosstalk run --budget 1% --duration 15min -- mpirun -n 2 ddl-train
5. Builds the other programs; then cmake --install build/release --prefix DIR installs all.

Exit codes: 0 fine, 1 something failed, 2 wrong usage, 3 noise did not cover the training.
TEXT
}
build=no
while [[ ${1-} == --* && ${1-} != --help ]]; do
    case $1 in
        --build) ;;
        --libtorch)
            libtorch=$(realpath -es -- "${2-}" 2>/dev/null) || {
                say "--libtorch needs the PATH of an existing LibTorch or Python, not '${2-}'"
                exit 2
            }
            configure+=("-DCROSSTALK_LIBTORCH=$libtorch")
            mapfile -t packages_to_build < <(printf '%s\n' "${packages_to_build[@]}" | grep -vx libtorch-dev)
            shift
            ;;
        --cuda)
            configure+=(-DCROSSTALK_CUDA=ON)
            train=(--model 'emulated[device=cuda,compute=20ms,gradients=1MiB]' --data synthetic)
            ;;
        *) only_help "$@" ;;
    esac
    build=yes
    shift
done
only_help "$@"
# Uses programs of a package or a module, if it has all that are needed.
for program in "${first_programs[@]}" mpirun; do
    command -v "$program" >/dev/null || build=yes
done
# Programs of an earlier build here may be older than the source.
[[ $(command -v noisegen) != "$PWD"/build/* ]] || build=yes

guard_begin
if [[ $build == yes ]]; then
    need_packages "${packages_to_build[@]}" "${packages_to_run[@]}"
    limit_jobs
    say "building (log: build/release/build.log)"
    build_release() {
        mkdir -p build/release
        { cmake --preset release "${configure[@]}" && cmake --build --preset release --target "${first_programs[@]}"; } \
            >build/release/build.log 2>&1
    }
    guard_run build_release || {
        tail -n 30 build/release/build.log >&2
        say "the build failed"
        exit 1
    }
    programs=$PWD/build/release/bin
else
    programs=$(dirname "$(command -v noisegen)")
    say "using the programs installed in $programs (--build builds them here)"
fi

say "how a neighbour slows a core on this machine:"
guard_run "$programs/noisegen" probe memory.stream cache.llc --blocks 5 || say "not on this machine"

say "measuring a training under noise until all is decided, at most $longest, with a budget of $budget of a step:"
run=results/quickstart

# An earlier result is kept under a number.
if [[ -e $run ]]; then
    number=1
    while [[ -e $run.$number ]]; do number=$((number + 1)); done
    mv "$run" "$run.$number"
    say "the earlier result is now $run.$number"
fi

# Prefers the programs just built, or found, to others on PATH.
status=0
CROSSTALK_BIN=$programs guard_run jobscripts/local.sh --out "$run" --until decided --max-duration "$longest" \
    --budget "$budget" --control-delay "$budget" --ranks "$ranks" "${train[@]}" || status=$?

if [[ $build == yes ]]; then
    say "building the other programs (log: build/release/build.log)"
    guard_run cmake --build --preset release --target programs >>build/release/build.log 2>&1 ||
        say "the other programs could not be built: see build/release/build.log"
fi
((status == 0)) || exit "$status"
say "the report is $run/report/index.html"
