#!/usr/bin/env bash
# Do the controls hold on this machine? Runs with a known delay and a placebo, many times, and how often the intervals
# contained the truth.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/guard.sh"
. "$here/programs.sh"

help() {
    cat <<'TEXT'
controls.sh: how often the intervals of known effects contain the truth on this machine

  controls.sh [option...]

  --runs N          runs of each victim                                              [10]
  --victim VICTIM   emulated (computing leaves the CPU idle), gemm (it does not), resnet18 or all    [all]
  --duration TIME   of each run's training, in seconds                               [120s]
  --delay SHARE     of the control delay, in percent of a quiet step                 [5%]
  --schedule S      what noise does besides, as local.sh has it   [a rotation with all controls]
  --work DIR        the runs' directories; a run that is complete is not repeated    [build/controls]
  --out DIR         VICTIM.csv (a row a run) and summary.txt                         [results/controls]

It takes some 70 minutes: 10 runs of 3 victims, a little more than 2 minutes each. Stopped, it goes on where it was.

Exit codes: 0 fine, 1 a run failed, 2 wrong usage.
TEXT
}

say() { echo "controls.sh: $*" >&2; }
fail() { say "$2"; exit "$1"; }

runs=10 victim=all duration=120s delay=5% work=build/controls out=results/controls
schedule='rotation(memory.stream, network.exchange, io.write, placebo, control.delay, control.sham, control.pause; slot=auto)'
while (($# > 0)); do
    case $1 in
        --help | -h) help; exit 0 ;;
        --runs | --victim | --duration | --delay | --schedule | --work | --out)
            (($# >= 2)) || fail 2 "$1 needs a value"
            declare "${1#--}=$2"
            shift 2
            ;;
        *) fail 2 "no option '$1' (controls.sh --help shows all)" ;;
    esac
done
[[ $runs =~ ^[1-9][0-9]{0,3}$ ]] || fail 2 "--runs: '$runs' is not a number of runs"
case $victim in
    all) victims=(emulated gemm resnet18) ;;
    emulated | gemm | resnet18) victims=("$victim") ;;
    *) fail 2 "no victim '$victim': emulated, gemm, resnet18 or all" ;;
esac

# What each victim is.
declare -A model=([emulated]='emulated[compute=80ms,gradients=16MiB]'
    [gemm]='emulated[compute=80ms,gradients=16MiB,device=gemm]' [resnet18]='resnet18[width=32]')
declare -A data=([emulated]=synthetic [gemm]=synthetic [resnet18]=digits)

complete() { grep -qs '"exit_code": *0' "$1/status.json"; }

[[ $work != -* ]] || work=./$work
[[ $out != -* ]] || out=./$out
find_programs interference || exit 1
guard_begin
mkdir -p "$work" "$out"
for ((run = 1; run <= runs; ++run)); do
    # Victims take turns, so that a drift of the machine meets both.
    for victim in "${victims[@]}"; do
        dir=$work/$victim.$run
        if complete "$dir"; then continue; fi
        if [[ -e $dir ]]; then
            number=1
            while [[ -e $dir.incomplete.$number ]]; do number=$((number + 1)); done
            mv "$dir" "$dir.incomplete.$number"
        fi
        say "$victim, run $run of $runs"
        guard_run "$here/local.sh" --out "$dir" --model "${model[$victim]}" --data "${data[$victim]}" \
            --duration "$duration" --control-delay "$delay" --schedule "$schedule" --seed "$run" >/dev/null ||
            fail 1 "$victim, run $run failed: see $dir/log (what is complete is kept; start again to go on)"
    done
done

for victim in "${victims[@]}"; do
    reports=()
    for ((run = 1; run <= runs; ++run)); do reports+=("$work/$victim.$run"); done
    rm -f "$out/$victim.csv"
    interference controls "${reports[@]}" --victim "$victim" --out "$out/$victim.csv" >"$out/$victim.txt"
done
for victim in emulated gemm resnet18; do
    [[ ! -f $out/$victim.txt ]] || cat "$out/$victim.txt"
done | tee "$out/summary.txt"
