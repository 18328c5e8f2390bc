#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# co_schedule_test.sh covered|extended|ends_early|never_ready|too_short|fails|wrong_mpi|array|at_once: co-schedule.sbatch as a real
# job of the Slurm sandbox; nodes_covered|nodes_late|nodes_array: on two virtual nodes.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tiny.sh"
[[ $1 != nodes_* ]] || on_virtual_nodes "$1"
[[ -f ${CROSSTALK_SANDBOX_NOTE:?} ]] || skip "no Slurm here"
needs noisegen ddl-train trace-info
eval "$("$jobscripts/slurm-sandbox.sh" env "$(cat "$CROSSTALK_SANDBOX_NOTE")")"

mkdir "$scratch/io"
out=$scratch/run
mapfile -t cores < <(allowed_cores)
((${#cores[@]} >= 2)) || skip "needs two cores"
train_cpu=${cores[0]%%,*} noise_cpu=${cores[1]%%,*}
export CROSSTALK_OUT=$out
# Virtual nodes share their cores, so ranks of different nodes must yield like ranks of one node.
run_options=(--cpus "$train_cpu" --noise-cpus "$noise_cpu" --control-delay 1ms --schedule "$(tiny_schedule_in "$scratch/io")")
training=(ddl-train --model "$tiny_model" --data "$tiny_data" --progress yield)
duration=8

# noisegen_first COMMAND: makes the shell run COMMAND before noisegen on each node.
noisegen_first() {
    local bin
    bin=$(dirname "$(command -v noisegen)")
    mkdir "$scratch/bin"
    ln -s "$bin"/* "$scratch/bin/"
    rm "$scratch/bin/noisegen"
    printf '#!/bin/sh\n%s %q "$@"\n' "$1" "$bin/noisegen" >"$scratch/bin/noisegen"
    chmod +x "$scratch/bin/noisegen"
    export CROSSTALK_BIN=$scratch/bin
}

nodes=1 expected=0
case $1 in
    covered | nodes_covered)
        nodes=2 duration=15
        mkdir "$scratch/metrics"
        run_options+=(--openmetrics "$scratch/metrics")
        ;;
    nodes_late) # as if a file system, or a prolog, delayed the noise of the second node
        nodes=2 expected=3
        # shellcheck disable=SC2016 # the words are the script's own
        noisegen_first 'case " $* " in *dry-run*) ;; *) [ "$(uname -n)" != n2 ] || sleep 100 ;; esac; exec'
        training+=(--steps 800)
        ;;
    extended) duration=20 ;;
    ends_early)
        expected=3 duration=15
        # shellcheck disable=SC2016
        noisegen_first 'case " $* " in *dry-run*) exec ;; esac; exec timeout --preserve-status 8'
        ;;
    never_ready) expected=2 run_options=(--schedule "rotation(memory.strem; slot=1s)") ;;
    too_short) expected=3 && training+=(--steps 3) ;;
    fails) expected=2 && training=(ddl-train --model emulatd) ;;
    wrong_mpi) nodes=2 expected=2 && export CROSSTALK_MPI=none ;;
    array) run_options+=(--evidence off) ;;
    at_once) ;;
    nodes_array) nodes=2 duration=25 ;;
esac
submission=(sbatch --parsable --nodes="$nodes" --output="$scratch/job.log")
if [[ $1 == array ]]; then
    # The programs must be found by the folder in which the job is submitted.
    mkdir -p "$scratch/submitted/build/release"
    bin=$(dirname "$(command -v ddl-train)")
    ln -s "$bin" "$scratch/submitted/build/release/bin"
    cd "$scratch/submitted"
    elsewhere=$(tr : '\n' <<<"$PATH" | while read -r folder; do
        [[ -x $folder/ddl-train ]] || echo "$folder"
    done | paste -sd:)
    submission=(env -u CROSSTALK_BIN PATH="$elsewhere" "${submission[@]}" --array=7)
    out=$out/7
fi
words=(--duration "${duration}s" "${run_options[@]}" -- "${training[@]}")
job_is_over() { [[ -z $(squeue -h --jobs="$job" 2>/dev/null) ]]; }
# `sbatch --wait` would poll less and less often, up to every half minute.
submit() { # [SECONDS]
    job=$("${submission[@]}" "$jobscripts/co-schedule.sbatch" "${words[@]}")
    guard_finally scancel --quiet "$job"
    within "${1:-200}" job_is_over || broken "the job ends" "$(scontrol show job "$job"; sinfo -N; cat "$scratch"/job*.log; tail -n 5 "$out"/log/*.log "$out"/*/log/*.log 2>/dev/null)"
    status=$(scontrol --oneliner show job "$job" | sed -n 's/.* ExitCode=\([0-9]*\):.*/\1/p')
}
# Checks from both tables that noise covered each rank on the CPU that it was given, by the clock of each node. One rank
# per node, the first on n1.
cat >"$scratch/overlap.py" <<'PYTHON'
import csv
import glob
import sys

out, noise_cpu = sys.argv[1:]
with open(f"{out}/train/steps.csv", newline="", encoding="utf-8") as file:
    steps = list(csv.DictReader(file))
for rank, node in enumerate(("n1", "n2")):
    (table,) = glob.glob(f"{out}/noise/{node}.*/noise.csv")
    with open(table, newline="", encoding="utf-8") as file:
        slots = list(csv.DictReader(file))
    begins = [int(step["begin_ns"]) for step in steps if step["rank"] == str(rank)]
    ends = [int(step["end_ns"]) for step in steps if step["rank"] == str(rank)]
    first, last = min(int(slot["begin_ns"]) for slot in slots), max(int(slot["end_ns"]) for slot in slots)
    assert begins[0] < first < (begins[0] + ends[-1]) / 2, f"on {node} noise begins in the first half"
    assert last >= ends[-1], f"on {node} it lasts longer than the training"
    assert {slot["cpu"] for slot in slots if slot["cpu"]} == {noise_cpu}, f"on {node} it is on its CPU"
    print(f"{node}: noise for {(last - first) / 1e9:.1f} s of {(ends[-1] - begins[0]) / 1e9:.1f} s")
PYTHON
# of_task NUMBER: exit code of the array task's run.
of_task() { sed -n 's/.*"exit_code": *\([0-9]*\).*/\1/p' "$out/$1/status.json" 2>/dev/null; }
if [[ $1 == at_once ]]; then
    # One of them has the number of the whole array, and must not take the other one's steps for its own.
    submission=(sbatch --parsable --nodes=1 --output="$scratch/job.%a.log" --array=1-2)
    submit
    for task in 1 2; do
        [[ $(of_task "$task") == [03] ]] || broken "task $task ends well" "$(cat "$scratch/job.$task.log")"
        check "noise of task $task has a trace" trace-info "$out/$task"/noise/*/trace/traces.otf2
        check "task $task ends its own steps" test -z "$(grep scancel "$scratch/job.$task.log")"
    done
    exit
fi
if [[ $1 == nodes_array ]]; then
    tasks=1,2,3
    for _ in 1 2 3; do
        submission=(sbatch --parsable --nodes=2 --output="$scratch/job.%a.log" --array="$tasks")
        submit 450
        tasks=''
        for task in 1 2 3; do
            case $(of_task "$task") in
                0) ;;
                3) tasks+=${tasks:+,}$task && rm -rf "${out:?}/$task" ;; # as if the machine stalled for seconds
                *) broken "task $task ends well" "$(cat "$scratch/job.$task.log"; tail -n 20 "$out/$task"/log/*.log)" ;;
            esac
        done
        [[ -n $tasks ]] || break
    done
    [[ -z $tasks ]] || broken "noise covers each task's training" "$(cat "$scratch"/job.*.log)"
    for task in 1 2 3; do
        run python3 "$scratch/overlap.py" "$out/$task" "$noise_cpu"
        ((status == 0)) || broken "noise of task $task overlaps its training on both nodes" "$(cat "$scratch/err")"
        sed "s/^/task $task, /" "$scratch/out"
        check "the task's number is the seed on both nodes" test "$(grep -l "\"seed\": $task" "$out/$task"/noise/*/noise.json | wc -l)" = 2
    done
    check "nothing of the job is left" within 5 none_with_variable "CROSSTALK_OUT=$CROSSTALK_OUT"
    exit
fi
submit
# 3: noise did not cover the training, for example because the machine stalled for seconds.
for longer in 2 4; do
    [[ $1 =~ covered|extended|array && $status == 3 ]] || break
    rm -rf "$out"
    words[1]=$((longer * duration))s
    submit
done
[[ $status == "$expected" ]] || broken "the job ends with $expected" \
    "$status: $(cat "$scratch/job.log"; tail -n 20 "$out"/log/*.log)"
[[ $1 == never_ready ]] || check "the status file says the same" grep -q "\"exit_code\": *$expected" "$out/status.json"
check "nothing of the job is left" within 5 none_with_variable "CROSSTALK_OUT=$CROSSTALK_OUT"

case $1 in
    covered | nodes_covered)
        if [[ -f $out/report/summary.json ]]; then
            check "the status file carries trust and verdicts" grep -q '"trustworthy":.*"verdicts":' "$out/status.json"
        fi
        if [[ $1 == nodes_covered ]]; then
            check "they are n1 and n2" test -d "$out/noise/n1.0" -a -d "$out/noise/n2.1"
            check "noise overlaps the training on both" python3 "$scratch/overlap.py" "$out" "$noise_cpu"
        fi
        check "noise and training have told Prometheus, and have ended" test \
            "$(grep -hc '^crosstalk_\(noise\|training\)_running.* 0$' "$scratch"/metrics/{noise,training}.prom | paste -sd,)" = 1,1
        check "threads were watched on two nodes" test "$(find "$out"/os -name os.csv | wc -l)" = 2
        check "two nodes made noise" test "$(find "$out"/noise -name noise.csv | wc -l)" = 2
        for archive in "$out"/train/trace/traces.otf2 "$out"/noise/*/trace/traces.otf2; do
            check "$archive is sound" trace-info "$archive"
        done
        mask=$(printf '0x%x' $((1 << train_cpu)))
        check "Slurm bound the training" grep -q "cpu-bind=MASK.*mask $mask set" "$out/log/job.log"
        ;;
    extended)
        words=(--extend "$out" --duration 15s)
        submit
        check "the part ends well, or the machine stood still" test "$status" = 0 -o "$status" = 3
        check "the part is added to its run" test -d "$out/part-2/train"
        check "in another order" test "$(grep -ho '"seed": [0-9]*' "$out"/noise/plan.json "$out"/part-2/noise/plan.json | sort -u | wc -l)" = 2
        check "both parts are pooled" grep -q '^1 run in 2 parts' "$scratch/job.log"
        check "the report of before is kept" test -s "$out/report.1/index.html"
        words=(--extend "$scratch/nothing")
        submit
        check "what is no run is refused" test "$status" = 1
        ;;
    ends_early)
        grep -q "noise did not cover the training" "$out/status.json" || broken "it says why" "$(cat "$out/status.json")"
        ;;
    nodes_late) check "it names the node" grep -q "before noise was on (not on n2)" "$out/status.json" ;;
    never_ready) check "it says why" grep -q "no stressor 'memory.strem'" "$scratch/job.log" ;;
    too_short) check "it says what to do" grep -q "run it longer\|must run for more than a few seconds" "$out/status.json" ;;
    fails) check "it says where to look" grep -q "job.log" "$out/status.json" ;;
    array)
        check "the task's number is the seed" grep -q '"seed": 7' "$out"/noise/*/noise.json
        check "threads were not watched" test ! -e "$out/os"
        ;;
    wrong_mpi) check "it says what to try" grep -q "2 tasks but MPI sees 1: try --mpi=pmix" "$out/log/job.log" ;;
esac
