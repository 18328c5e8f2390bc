#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs `crosstalk run` with ddl-train: the options of both on one command line.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/programs.sh"

help() {
    cat <<'TEXT'
local.sh: a training and its noise side by side on this machine, without Slurm

  local.sh --out DIR [option...] [-- further options of ddl-train]

  --out DIR              the run's directory: DIR/train, DIR/noise, DIR/report, DIR/log
  --model MODEL          model                              [resnet18[width=32]]
  --data DATA            data set                           [digits]
  --strategy STRATEGY    how ranks exchange gradients       [ddp]
  --batch N              samples per rank and step          [4]
  --ranks N              ranks of the training              [2]
  --duration TIME        length of the training             [150s]
  --until decided        stop when all verdicts are decided, at the latest after --max-duration TIME   [15min]
  --schedule SCHEDULE    schedule of noisegen, or `auto`: every stressor, placebo and controls as a
                         rotation, or as a factorial if there is a core for each stressor    [auto]
  --control-delay DELAY  known delay as positive control: a time, or a share of a quiet step, measured
                         first; 0: use control.pause instead    [5%]
  --seed N               seed of the schedule               [1]
  --budget PERCENT       acceptable slowdown of a step      [1%]
  --train-cpus LIST      CPUs of the training               [cores not in --noise-cpus, or every other core]
  --noise-cpus LIST      CPUs of the noise                  [cores not in --train-cpus, or every other core]

Example: local.sh --out run1 --model 'emulated[compute=80ms]' --data synthetic --duration 60

It calls `crosstalk run -- mpirun ddl-train`; see crosstalk run --help. Exit codes: 0 fine, 1 a program failed, 2 wrong usage,
3 noise did not cover the training. Programs are searched in CROSSTALK_BIN, next to these scripts, and on PATH.
TEXT
}

fail() { echo "local.sh: ${2//[[:cntrl:]]/?}" >&2; exit "$1"; }

# ------------------------------------------------------------------------------------------------ options
model='resnet18[width=32]' data=digits strategy=ddp batch=4 ranks=2
declare -A of_the_run=() # if an option is repeated, the last one counts
more=()
while (($# > 0)); do
    case $1 in
        --help | -h) help; exit 0 ;;
        --) shift; more=("$@"); break ;;
        --out | --model | --data | --strategy | --batch | --ranks | --duration | --until | --max-duration | --schedule | \
            --control-delay | --seed | --budget | --train-cpus | --noise-cpus)
            (($# >= 2)) || fail 2 "$1 needs a value"
            case $1 in
                --model) model=$2 ;;
                --data) data=$2 ;;
                --strategy) strategy=$2 ;;
                --batch) batch=$2 ;;
                --ranks) ranks=$2 ;;
                --train-cpus) of_the_run[--cpus]=$2 ;;
                *) of_the_run[$1]=$2 ;;
            esac
            shift 2
            ;;
        *) fail 2 "no option '$1' (local.sh --help shows all)" ;;
    esac
done
[[ -n ${of_the_run[--out]:-} ]] || fail 2 "needs --out DIR (local.sh --help shows all)"
[[ $ranks =~ ^[1-9][0-9]{0,3}$ ]] || fail 2 "--ranks: '$ranks' is not a number of ranks"

find_programs crosstalk mpirun || exit 1
run=()
for option in "${!of_the_run[@]}"; do run+=("$option=${of_the_run[$option]}"); done
exec crosstalk run "${run[@]}" -- mpirun -n "$ranks" ddl-train --model "$model" --data "$data" --strategy "$strategy" \
    --batch "$batch" "${more[@]}"
