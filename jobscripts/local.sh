#!/usr/bin/env bash
# A training and its noise side by side on this machine, without Slurm: one run directory, ended by the report.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/guard.sh"
. "$here/programs.sh"
. "$here/cores.sh"

help() {
    cat <<'TEXT'
local.sh: a training and its noise side by side on this machine, without Slurm

  local.sh --out DIR [option...] [-- further options of ddl-train]

  --out DIR              the run's directory: DIR/train, DIR/noise, DIR/report, DIR/log
  --model MODEL          what is trained                    [resnet18[width=32]]
  --data DATA            its input                          [digits]
  --strategy STRATEGY    how ranks share gradients          [ddp]
  --batch N              samples of one rank and step       [4]
  --ranks N              ranks of the training              [2]
  --duration SECONDS     length of the training             [150]
  --schedule SCHEDULE    what noise does, as noisegen has it, or `auto`: every stressor, placebo and controls as a
                         rotation, or as a factorial where each stressor can have a core of its own    [auto]
  --control-delay DELAY  length of the known delay: a time, or a share of a quiet step, which a short training finds
                         out first; 0: the training is stopped for known times instead (control.pause)    [5%]
  --seed N               of the schedule                    [1]
  --budget PERCENT       what the training may lose         [1%]
  --train-cpus LIST      CPUs of the training               [cores not in --noise-cpus; without it every other core]
  --noise-cpus LIST      CPUs of the noise                  [cores not in --train-cpus; without it every other core]

Example: local.sh --out run1 --model 'emulated[compute=80ms]' --data synthetic --duration 60

Exit codes: 0 fine, 1 a program failed, 2 wrong usage, 3 noise did not cover the training. Programs are looked for in
CROSSTALK_BIN, beside these scripts, and on PATH.
TEXT
}

say() { echo "local.sh: ${*//[[:cntrl:]]/?}" >&2; }
fail() { say "$2"; exit "$1"; }

# ------------------------------------------------------------------------------------------------ options
out='' model='resnet18[width=32]' data=digits strategy=ddp batch=4 ranks=2 duration=150 schedule=auto control_delay=5%
seed=1 budget=1% given_train_cpus='' given_noise_cpus=''
more=()
given=("$@")
while (($# > 0)); do
    case $1 in
        --help | -h) help; exit 0 ;;
        --) shift; more=("$@"); break ;;
        --out | --model | --data | --strategy | --batch | --ranks | --duration | --schedule | --control-delay | --seed | \
            --budget | --train-cpus | --noise-cpus)
            (($# >= 2)) || fail 2 "$1 needs a value"
            case $1 in
                --out) out=$2 ;;
                --model) model=$2 ;;
                --data) data=$2 ;;
                --strategy) strategy=$2 ;;
                --batch) batch=$2 ;;
                --ranks) ranks=$2 ;;
                --duration) duration=${2%s} ;;
                --schedule) schedule=$2 ;;
                --control-delay) control_delay=$2 ;;
                --seed) seed=$2 ;;
                --budget) budget=$2 ;;
                --train-cpus) given_train_cpus=$2 ;;
                --noise-cpus) given_noise_cpus=$2 ;;
            esac
            shift 2
            ;;
        *) fail 2 "no option '$1' (local.sh --help shows all)" ;;
    esac
done
[[ -n $out ]] || fail 2 "--out is needed (local.sh --help shows all)"
[[ $ranks =~ ^[1-9][0-9]{0,3}$ ]] || fail 2 "--ranks: '$ranks' is not a number of ranks"
[[ $duration =~ ^[1-9][0-9]{0,6}$ ]] || fail 2 "--duration: '$duration' is not a number of whole seconds"
number='[0-9]+([.][0-9]+)?'
[[ $control_delay =~ ^(0|$number(%|ns|us|ms|s|min|m|h))$ ]] ||
    fail 2 "--control-delay: '$control_delay' is neither a time, such as 4ms, nor a share of a step, such as 5%"
[[ $control_delay == *[1-9]* ]] || control_delay=0
[[ $budget =~ ^$number%$ && $budget == *[1-9]* ]] ||
    fail 2 "--budget: '$budget' is not a percentage above zero, such as 1%"
for list in "$given_train_cpus" "$given_noise_cpus"; do
    [[ -z $list ]] || is_cpu_list "$list" || fail 2 "'$list' is not a list of CPUs, such as 0-3,8"
done
[[ $out != -* ]] || out=./$out
[[ ! -e $out || -O $out ]] || fail 2 "$out belongs to another user: give another directory"
for part in train noise report; do
    [[ ! -e $out/$part && ! -L $out/$part ]] || fail 2 "$out/$part is already there; give another path, or move it away"
done

# ------------------------------------------------------------------------------------------------ who runs where
split_cores "$given_train_cpus" "$given_noise_cpus"
[[ -n $train_cpus ]] || fail 2 "--noise-cpus $noise_cpus leaves no core to the training: give it --train-cpus"
[[ -n $noise_cpus ]] || fail 2 "--train-cpus $train_cpus leaves no core to the noise: give it --noise-cpus"
shared=$({ each_cpu "$train_cpus"; each_cpu "$noise_cpus"; } | sort -n | uniq -d | paste -sd,)
[[ -z $shared || $noise_cpus == "$train_cpus" ]] ||
    fail 2 "--train-cpus and --noise-cpus both have $shared: make them disjoint, or the same"
train_cores=$(allowed_cores "$train_cpus" | wc -l)
noise_cores=$(allowed_cores "$noise_cpus" | wc -l)
train_place=(--cpus "$train_cpus")
if ((train_cores < ranks)); then
    # A rank that waits must leave the core to the one it waits for.
    train_place+=(--progress yield)
    say "$ranks ranks share $train_cores core(s): they compute in turn, so a step takes longer than on cores of their own"
fi
noise_place=(--cpus "$noise_cpus")
if [[ $noise_cpus == "$train_cpus" ]]; then
    noise_place+=(--share)
    say "noise and training share their cores: this measures what sharing a core costs, which idle cores don't"
else
    noise_place+=(--avoid "$train_cpus")
fi
if [[ $schedule == auto ]]; then
    # A factorial needs a core for each of its three stressors, or "on" would not be the same treatment every time.
    design=rotation
    ((noise_cores < 3)) || design=factorial
    controls=placebo
    if [[ $control_delay == 0 ]]; then controls+=', control.pause'; else controls+=', control.delay, control.sham'; fi
    schedule="$design(memory.stream, network.exchange, io.write, $controls; slot=auto)"
fi
say "training on CPUs $train_cpus, noise on $noise_cpus: $schedule"

# ------------------------------------------------------------------------------------------------ what is started
find_programs setpriv mpirun noisegen ddl-train interference || exit 1
guard_begin
mkdir -p "$out/log"
training_options=(--model "$model" --data "$data" --strategy "$strategy" --batch "$batch" "${train_place[@]}" "${more[@]}")
noise_options=(--schedule "$schedule" --seed "$seed" "${noise_place[@]}")

# Nobody should wait for a training only to read that the schedule is malformed.
noisegen "${noise_options[@]}" --duration "${duration}s" --designed --dry-run >"$out/log/slots.txt" || exit $?

# finish CODE REASON: the status file says how it went, and what the report says.
finish() {
    ((${1} == 0)) || say "$2"
    local summary=', "covered": null'
    if [[ -f $out/report/summary.json ]]; then
        summary=$(sed 's/^{/, /; s/}$//' "$out/report/summary.json")
    elif (($1 == 3)); then
        summary=', "covered": false'
    fi
    printf '{"job": "local", "nodes": 1, "exit_code": %d, "reason": "%s"%s, "analysis_exit_code": %s}\n' \
        "$1" "$2" "$summary" "${analysis_status:-null}" >"$out/.status.json"
    mv "$out/.status.json" "$out/status.json"
    exit "$1"
}

# This command with another length and directory; interference puts the length in.
again() {
    local words='' word skip=no end=no
    for word in "${given[@]}"; do
        if [[ $skip == yes ]]; then
            skip=no
        elif [[ $end == no && ($word == --out || $word == --duration) ]]; then
            skip=yes
        else
            [[ $end == yes || $word != -- ]] || words+=' --duration {seconds} --out NEW_DIR'
            [[ $word != -- ]] || end=yes
            words+=" $(printf %q "$word")"
        fi
    done
    [[ $end == yes ]] || words+=' --duration {seconds} --out NEW_DIR'
    echo "jobscripts/local.sh$words"
}

# The median step of a short training without noise, in ns: sets quiet_step_ns. What a killed one left is in the way.
measure_quiet_step() {
    local scratch=$out/log/quiet_step
    rm -rf "$scratch"
    guard_finally rm -rf "$scratch"
    guard_run mpi_run "$ranks" ddl-train "${training_options[@]}" --steps 24 --out "$scratch" \
        >"$out/log/quiet_step.log" 2>&1 || training_failed $? "$out/log/quiet_step.log"
    quiet_step_ns=$(awk -F, '$1 == 0 && $2 >= 8 { printf "%.0f\n", $4 - $3 }' "$scratch/train/steps.csv" |
        sort -n | sed -n 8p)
    rm -rf "$scratch"
    [[ $quiet_step_ns =~ ^[1-9][0-9]*$ ]] || finish 1 "the short training took fewer than 16 steps: see log/quiet_step.log"
}

# training_failed STATUS LOG: ends the script with what ddl-train said, once and without what mpirun makes of it.
training_failed() {
    { grep '^ddl-train: ' "$2" || tail -n 5 "$2"; } | sort -u | tail -n 5 >&2
    finish $(($1 == 2 ? 2 : 1)) "the training failed: see log/${2##*/}"
}

running() { kill -0 "$1" 2>/dev/null; }

# Steps that all ranks have taken.
steps_taken() {
    local rows=0
    [[ ! -f $out/train/steps.csv ]] || rows=$(wc -l <"$out/train/steps.csv")
    echo $((rows > 0 ? (rows - 1) / ranks : 0))
}

# ------------------------------------------------------------------------------------------------ the known delay
if [[ $control_delay == *% ]]; then
    say "finding out how long a quiet step takes"
    measure_quiet_step
    control_delay=$(awk -v step="$quiet_step_ns" -v percent="${control_delay%\%}" \
        'BEGIN { printf "%.0fus", step * percent / 100 / 1000 }')
    say "a quiet step takes $((quiet_step_ns / 1000)) us; the control delay is $control_delay"
fi

# What is known of the effects so far, in a line. Found out on the noise's CPUs, with what the noise leaves.
so_far() {
    taskset --cpu-list "$noise_cpus" nice -n 19 interference so-far "$out" --budget "$budget" 2>/dev/null ||
        echo "$(steps_taken) steps"
}

# ------------------------------------------------------------------------------------------------ training and noise
mpi_run "$ranks" ddl-train "${training_options[@]}" --duration "${duration}s" --control-delay "$control_delay" \
    --out "$out" >"$out/log/training.log" 2>&1 </dev/null &
training=$!
until (($(steps_taken) >= 5)); do
    if ! running $training; then
        guard_wait $training || training_failed $? "$out/log/training.log"
        finish 3 "the training ended before noise could begin: give it a longer --duration"
    fi
    sleep 0.2
done

# Noise gets a limit of its own only so that it cannot outlive a script that was killed for long.
noisegen "${noise_options[@]}" --duration "$((duration + 600))s" --out "$out" >"$out/log/noise.log" 2>&1 </dev/null &
noise=$!

noise_ended_early=no
next=$SECONDS
while running $training; do
    if [[ $noise_ended_early == no ]] && ! running $noise; then
        noise_ended_early=yes
        say "noise ended before the training:"
        tail -n 3 "$out/log/noise.log" >&2
    fi
    if ((SECONDS >= next)); then
        say "$(so_far)"
        next=$((next + 10))
    fi
    sleep 0.5
done
guard_wait $training || training_failed $? "$out/log/training.log"

# SIGTERM lets noise finish its trace.
! running $noise || kill -TERM $noise
noise_status=0
guard_wait $noise || noise_status=$?

# ------------------------------------------------------------------------------------------------ proof and report
if ((noise_status != 0 && noise_status != 3)); then
    tail -n 3 "$out/log/noise.log" >&2
    finish 3 "noise did not cover the training: it failed ($noise_status)"
fi
# The proof is the analysis's: what both recorded, on the same clock.
analysis_status=0
guard_run interference analyse "$out" --budget "$budget" --again "$(again)" || analysis_status=$?
case $analysis_status in
    0) finish 0 "noise covered the training" ;;
    3) finish 3 "noise did not cover the training" ;;
esac
[[ $noise_ended_early == no ]] || finish 3 "noise did not cover the training, and there is no report"
finish 1 "there is no report: interference ended with $analysis_status"
