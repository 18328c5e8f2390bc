#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# campaign_test.sh local|proof|wrong_cpus|full|designed|kill|slurm|slurm_at_once|slurm_two_jobs|slurm_kill|nodes|nodes_two_jobs|nodes_serial|nodes_caught: a small
# campaign is planned, run, cut off and collected; nodes: each run on two virtual nodes under Slurm.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tiny.sh"
needs setpriv crosstalk noisegen interference
how=$1
[[ $how != nodes* ]] || on_virtual_nodes "$how"
campaign=$scratch/campaign
bin=$(dirname "$(command -v crosstalk)")

# A job with steps of a few ms that runs until it is asked to end.
cat >"$scratch/job.py" <<'PYTHON'
for step in range(1000000):
    sum(x * x for x in range(30000))
    print("step", step, flush=True)
PYTHON
# plan REPETITIONS [LINE...]: plans a campaign whose blocks have three runs.
plan() {
    local repetitions=$1
    shift
    printf '%s\n' "about = <a> & b" "command = python3 $scratch/job.py" "step-line = step ([0-9]+)" \
        "noise = cpu.spin, placebo" "repetitions = $repetitions" "duration = 1s" "wait = 100ms" "$@" >"$scratch/spec.ini"
    for line; do
        [[ $(grep -c "^${line%% =*} =" "$scratch/spec.ini") != 2 ]] || sed -i "0,/^${line%% =*} =/{/^${line%% =*} =/d}" "$scratch/spec.ini"
    done
    [[ $* != *models* ]] || sed -i '/^command\|^step-line/d' "$scratch/spec.ini"
    rm -rf "$campaign"
    check "it is planned" crosstalk campaign plan "$scratch/spec.ini" -o "$campaign"
}
status_is() { crosstalk campaign status --json "$campaign" | grep -q -- "$1"; }
counting() { find "$campaign/runs" -mindepth 1 -maxdepth 1 ! -name '*.partial' | wc -l; }
begun() { compgen -G "$campaign/runs/*.partial/noise" >/dev/null || compgen -G "$campaign/runs/*.partial/train" >/dev/null; }
counting_reach() { (($(counting) >= $1)); }
# Checks a campaign of $1 runs, however often it was interrupted.
complete() {
    check "all runs count" status_is "\"done\":$1,"
    check "no run is there twice, or half" test "$(find "$campaign/runs" -mindepth 1 -maxdepth 1 | wc -l)" = "$1"
    check "the table is collected" crosstalk campaign collect "$campaign"
    check "it has a row for each run" test "$(rows_of "$campaign/report/runs.csv")" = "$1"
    check "the rows are different runs" test "$(tail -n +2 "$campaign/report/runs.csv" | cut -d, -f1 | sort -u | wc -l)" = "$1"
    within 10 none_left || broken "no process of it remains" "$(described "$(processes_of_it)")"
    check "no scratch file is left" test -z "$(ls -A "$scratch/tmp")"
}
processes_of_it() { grep -lsz -- "^CROSSTALK_CAMPAIGN_RUN=$campaign/" /proc/[0-9]*/environ | tr -cd '0-9\n'; }
none_left() { [[ -z $(processes_of_it) ]]; }
noise_is_on() { [[ -n $(started noisegen) ]]; }
# all_started NAME: ids of the processes with that name in a run in progress; started NAME: one of them, or nothing.
all_started() {
    local pid
    for pid in $(processes_of_it); do
        [[ $(cat "/proc/$pid/comm" 2>/dev/null) != "$1" ]] || echo "$pid"
    done
}
started() { all_started "$1" | sed -n 1p; }
use_sandbox() {
    [[ -f ${CROSSTALK_SANDBOX_NOTE:?} ]] || skip "no Slurm here"
    sandbox=$(cat "$CROSSTALK_SANDBOX_NOTE")
    eval "$("$jobscripts/slurm-sandbox.sh" env "$sandbox")"
    PATH=$PATH:/usr/sbin
}
use_drained_nodes() {
    local nodes
    nodes=$(sinfo -h -t drain -o %N 2>/dev/null) || true
    [[ -z $nodes ]] || scontrol update NodeName="$nodes" State=RESUME 2>/dev/null || true
}
queue_is_empty() { [[ -z $(squeue -h) ]]; }
mkdir "$scratch/tmp"
export TMPDIR=$scratch/tmp

# Makes a program that replaces noisegen and runs WORDS before it.
stand_in() {
    mkdir "$scratch/bin"
    ln -s "$bin"/* "$scratch/bin/"
    rm "$scratch/bin/noisegen"
    printf '#!/usr/bin/env bash\n%s\n' "$1" >"$scratch/bin/noisegen"
    chmod +x "$scratch/bin/noisegen"
    export CROSSTALK_BIN=$scratch/bin
}
# Makes noise use the training's CPUs instead of its own: "--cpus 1 --avoid 0" becomes "--cpus 0 --share".
on_cpus_of_training="given=()
while ((\$#)); do case \$1 in --cpus) given+=(--cpus 0); shift ;; --avoid) given+=(--share); shift ;; *) given+=(\"\$1\") ;; esac; shift; done
exec taskset --cpu-list 0-1 $bin/noisegen \"\${given[@]}\""
# Starts noise, and ends it when the training has taken steps that count.
in_training="$bin/noisegen \"\$@\" & until ((\$(wc -l <\"\${!#}/train/steps.csv\") > 40)); do sleep 0.1; done;"
# plan_on_nodes REPETITIONS [LINE...]: plans runs that are trainings of two ranks on two nodes.
plan_on_nodes() {
    plan "$1" "nodes = 2" "models = $tiny_model" "data = $tiny_data" "ranks = 2" "start-within = 60s" "duration = 6s" "${@:2}"
}
# covered_on_both_nodes RUNS: checks that this many runs with noise count.
covered_on_both_nodes() {
    check "each noisy run had noise on both nodes" test "$(grep -l '"node":"n1".*"noise_cpus":"[01]".*"node":"n2".*"noise_cpus":"[01]"' "$campaign"/runs/*/status.json | wc -l)" = "$1"
    check "nothing is left in the queue" within 10 queue_is_empty
}
# does_not_count REASON: checks that no run with noise counts, and that REASON is reported; on a busy machine an attempt
# may first fail for another reason.
does_not_count() {
    run crosstalk campaign run "$campaign" --retries 1
    [[ $status == 3 ]] || broken "the campaign ends with 3" "$status: $(cat "$scratch/out" "$scratch/err")"
    check "the quiet run counts" test "$(counting)" = 1
    check "collecting names what was left out" crosstalk campaign collect "$campaign"
    [[ $(wc -l <"$campaign/report/left_out.csv") == 5 && $(grep -c -- "$1" "$campaign/report/left_out.csv") -ge 2 ]] ||
        broken "each try is listed, with '$1'" "$(cat "$campaign/report/left_out.csv")"
}

case $how in
    local)
        plan 2
        check "the plan depends on spec and seed only" \
            cmp "$campaign/plan.csv" <(crosstalk campaign plan "$scratch/spec.ini" -o "$scratch/again" >/dev/null && cat "$scratch/again/plan.csv")
        printf 'kind = soft-errors\n' >"$scratch/trials.ini"
        check "trials are planned" crosstalk campaign plan "$scratch/trials.ini" -o "$scratch/trials"
        refused 2 "has soft-error trials" crosstalk campaign stop "$scratch/trials"
        printf 'kind = soft-errors\nmodel = emulated\nguards = none, range=2+nrom:rollback\n' >"$scratch/trials.ini"
        run crosstalk campaign plan "$scratch/trials.ini" -o "$scratch/misspelt"
        [[ $status == 0 ]] || broken "trials can be planned where they will not run" "$(cat "$scratch/err")"
        check "which a line says, too" grep -q "cannot run here: no guard 'nrom'; did you mean norm?" "$scratch/err"
        refused 2 "no guard 'nrom'" crosstalk campaign run "$scratch/misspelt"
        for wrong in "noise = placebo, memory.strem|no stressor 'memory.strem'; did you mean memory.stream?" \
            "designed = rotation(placebo, a=memory.strem[rate=1GiB/s|2GiB/s]; slot=1s)|did you mean memory.stream?" \
            "noise = memory.stream[rat=1GiB/s]|memory.stream has no option 'rat'; did you mean rate?"; do
            printf 'command = true\n%s\n' "${wrong%|*}" >"$scratch/wrong.ini"
            refused 2 "${wrong##*|}" crosstalk campaign plan "$scratch/wrong.ini" -o "$scratch/wrong"
        done
        check "no campaign is left of them" test ! -e "$scratch/wrong"
        printf 'command = true\nnoise = memory.stream[bytes=900TiB]\n' >"$scratch/wrong.ini"
        run crosstalk campaign plan "$scratch/wrong.ini" -o "$scratch/wrong"
        [[ $status == 0 ]] || broken "it can be planned where it will not run" "$(cat "$scratch/err")"
        check "which a line says" grep -q "cannot run here: .*--max-memory" "$scratch/err"
        refused 2 "cannot run here: .*--max-memory" crosstalk campaign run "$scratch/wrong"
        check "no run of it was tried" test -z "$(ls -A "$scratch/wrong/runs")"
        refused 2 "blocks are 1 to 2" crosstalk campaign run "$campaign" --block 3
        crosstalk campaign run "$campaign" --dry-run >"$scratch/commands"
        check "a dry run shows the commands" grep -q "noisegen --schedule 'cpu.spin 500ms'" "$scratch/commands"
        check "and starts nothing" test "$(counting)" = 0
        crosstalk campaign run "$campaign" >/dev/null 2>&1 &
        driver=$!
        check "runs are made" within 60 counting_reach 1
        check "its status says that it is being run" status_is '"is_being_run":true'
        refused 2 "is run by process" crosstalk campaign run "$campaign"
        check "it can be stopped" crosstalk campaign stop "$campaign"
        status=0
        wait "$driver" || status=$?
        check "which ends it with 3" test "$status" = 3
        check "and leaves nothing half" test -z "$(find "$campaign/runs" -name '*.partial' -exec find {} -name status.json \;)"
        kept=$(find "$campaign/runs" -name status.json -exec stat -c '%n %Y' {} + | sort)
        run crosstalk campaign run "$campaign"
        [[ $status == 0 ]] || broken "it continues until all runs count" "$(cat "$scratch/out" "$scratch/err")"
        check "what counted was not made again" test -z "$(comm -13 <(find "$campaign/runs" -name status.json -exec stat -c '%n %Y' {} + | sort) <(echo "$kept"))"
        complete 6
        check "each noise has its effect" test "$(rows_of "$campaign/report/effects.csv")" = 2
        check "the page escapes what people write" grep -q '&lt;a&gt; &amp; b' "$campaign/report/index.html"
        check "a comparison of phases is next to it" test -f "$campaign/report/compare-1/index.html"
        run crosstalk campaign run "$campaign"
        check "there is nothing left to run" grep -q '6 of 6 runs count' "$scratch/out"
        ;;
    proof)
        plan 1
        stand_in "timeout -s TERM 3 $bin/noisegen \"\$@\"; exit 0"
        sed -i 's/^duration = .*/duration = 4s/' "$campaign/spec.ini"
        does_not_count 'noise ended early'
        ;;
    wrong_cpus)
        plan 1 "duration = 2s"
        stand_in "$on_cpus_of_training"
        does_not_count 'noise on .* ran on CPUs 0, of which the training uses'
        ;;
    full)
        mkdir "$scratch/disk"
        mount -t tmpfs -o size=12m tmpfs "$scratch/disk" 2>/dev/null || skip "no file system can be mounted here"
        guard_finally umount "$scratch/disk"
        campaign=$scratch/disk/campaign
        plan 2 "duration = 4s"
        fill() { head -c 20M /dev/zero >"$scratch/disk/filler" 2>/dev/null || true; }
        fill
        truncate -s -200K "$scratch/disk/filler"
        refused 1 "is full: a run takes about" crosstalk campaign run "$campaign"
        check "no run was tried" test -z "$(ls -A "$campaign/runs")"
        rm "$scratch/disk/filler"
        # The disk becomes full during a run.
        crosstalk campaign run "$campaign" --retries 20 >"$scratch/out" 2>"$scratch/err" &
        driver=$!
        within 150 counting_reach 1 || broken "runs are made" "$(cat "$scratch/err")"
        check "another begins" within 60 begun
        fill
        status=0
        wait "$driver" || status=$?
        [[ $status == 1 ]] || broken "it ends with 1" "$status: $(cat "$scratch/out" "$scratch/err")"
        check "it says why" grep -q "No space left\|is full: a run takes about" "$scratch/err"
        check "that is no failure of a run" test -z "$(grep -rl "No space" "$campaign/failed" --include=status.json 2>/dev/null)"
        rm "$scratch/disk/filler"
        run crosstalk campaign run "$campaign" --retries 20
        [[ $status == 0 ]] || broken "it continues until all runs count" "$(cat "$scratch/out" "$scratch/err")"
        complete 6
        ;;
    designed)
        plan 1 "noise = placebo" "duration = 12s" "designed = rotation(cpu.spin, placebo, control.pause; slot=300ms)"
        run crosstalk campaign run "$campaign"
        [[ $status == 0 ]] || broken "all count" "$(cat "$scratch/out" "$scratch/err" "$campaign"/failed/*/log/run.log)"
        complete 3
        check "the designed run has its report" test -f "$(echo "$campaign"/runs/*/report/index.html)"
        check "its effect is in the table" grep -q '^b01.*cpu.spin' "$campaign/report/designed.csv"
        check "which is on the page" grep -q 'Designed runs' "$campaign/report/index.html"
        ;;
    kill)
        plan 4 # three runs each
        # Kills the driver, the noise or the job 30 times, at any moment.
        kills=0
        while ((kills < 30)) && ! counting_reach 12; do
            if [[ -z ${driver:-} ]] || ! kill -0 "$driver" 2>/dev/null; then
                crosstalk campaign run "$campaign" --retries 50 >>"$scratch/driver.log" 2>&1 &
                driver=$!
            fi
            if ((RANDOM % 5 == 0)); then sleep 2.5; else sleep "0.$((RANDOM % 9 + 1))"; fi
            victim=$driver
            case $((RANDOM % 3)) in
                0) victim=$(started noisegen) ;;
                1) victim=$(started python3) ;;
            esac
            [[ -z $victim ]] || ! kill -9 "$victim" 2>/dev/null || kills=$((kills + 1))
        done
        kill -9 "$driver" 2>/dev/null || true
        run crosstalk campaign run "$campaign" --retries 50
        [[ $status == 0 ]] || broken "it continues until all runs count" "$(cat "$scratch/out" "$scratch/err" "$scratch/driver.log")"
        complete 12
        echo "$kills kills, $(rows_of "$campaign/report/left_out.csv") attempts that do not count, 12 runs that do"
        ;;
    slurm)
        plan 2
        use_sandbox
        printf '#SBATCH --partition=batch --time=10\nexport CROSSTALK_OF_SITE=yes\n' >"$scratch/site.sh"
        crosstalk campaign run "$campaign" --back-end slurm --jobs 1 --site "$scratch/site.sh" >"$scratch/out" 2>"$scratch/err" &
        driver=$!
        # An srun is killed, for example by the out-of-memory killer.
        within 60 noise_is_on || broken "noise is on" "$(cat "$scratch/err" "$campaign"/log/*)"
        mapfile -t lost < <(all_started srun)
        check "srun is killed" kill -9 "${lost[@]}"
        status=0
        wait "$driver" || status=$?
        [[ $status == 0 ]] || broken "the campaign ends well" "$(cat "$scratch/out" "$scratch/err" "$campaign"/log/*)"
        check "a run was repeated" test "$(find "$campaign/failed" -mindepth 1 -maxdepth 1 | wc -l)" -ge 1
        complete 6
        check "they were jobs of Slurm" test -z "$(grep -L '"job":"[0-9]' "$campaign"/runs/*/status.json)"
        check "nothing is left in the queue" within 10 queue_is_empty
        ;;
    slurm_at_once)
        # Two tasks of a job array, one of which has the number of the whole array: it must not end the other one's
        # noise.
        plan 2 "duration = 3s"
        use_sandbox
        run crosstalk campaign run "$campaign" --back-end slurm --jobs 2
        [[ $status == 0 ]] || broken "the campaign ends well" "$(cat "$scratch/out" "$scratch/err" "$campaign"/log/*)"
        check "both blocks ran at a time" test "$(grep -hoE '"job":"[0-9]+"' "$campaign"/runs/*/status.json | sort -u | wc -l)" = 2
        check "no noise was ended by the other block" test -z "$(grep -rlE 'ended early|failed \(14' "$campaign/failed" --include=status.json 2>/dev/null)"
        complete 6
        ;;
    nodes_serial)
        # An srun without --overlap, a common mistake: the second step waits for the first without a message.
        plan_on_nodes 1 "start-within = 20s" "noise = cpu.spin"
        use_sandbox
        mkdir "$scratch/forgetful"
        # shellcheck disable=SC2016 # the words are its own
        printf '#!/usr/bin/env bash\nfor word; do shift; [[ $word == --overlap ]] || set -- "$@" "$word"; done\nexec %s "$@"\n' \
            "$(command -v srun)" >"$scratch/forgetful/srun"
        chmod +x "$scratch/forgetful/srun"
        PATH=$scratch/forgetful:$PATH run crosstalk campaign run "$campaign" --back-end slurm --retries 0
        [[ $status == 3 ]] || broken "the campaign ends with 3" "$status: $(cat "$scratch/out" "$scratch/err" "$campaign"/log/*)"
        check "collecting names what was left out" crosstalk campaign collect "$campaign"
        grep -q -- "cpu.spin.*srun without --overlap" "$campaign/report/left_out.csv" ||
            broken "the noisy run is listed with the cause" "$(cat "$campaign/report/left_out.csv")"
        ;;
    slurm_two_jobs)
        plan 1 "duration = 4s" "cores = 1" "models = $tiny_model" "data = $tiny_data" "ranks = 1" "start-within = 60s"
        use_sandbox
        printf '#SBATCH --partition=shared\n' >"$scratch/site.sh"
        # As if the driver's machine had failed: its noise continues, and would run during the quiet run.
        name=$(crosstalk campaign run "$campaign" --back-end slurm --two-jobs --dry-run | sed -n 's/.*--job-name=\([^ ]*-noise\) .*/\1/p' | sed -n 1p)
        left=$(sbatch --parsable --job-name="$name" --partition=shared --output="$scratch/lost.log" --wrap='sleep 500')
        run crosstalk campaign run "$campaign" --back-end slurm --two-jobs --site "$scratch/site.sh"
        [[ $status == 0 ]] || broken "the campaign ends well" "$(cat "$scratch/out" "$scratch/err")"
        complete 3
        check "what was left of an earlier run was ended" grep -q JobState=CANCELLED <(scontrol --oneliner show job "$left")
        check "nothing is left in the queue" within 10 queue_is_empty
        ;;
    nodes)
        plan_on_nodes 2 "cores = 1"
        use_sandbox
        run crosstalk campaign run "$campaign" --back-end slurm
        [[ $status == 0 ]] || broken "the campaign ends well" "$(cat "$scratch/out" "$scratch/err" "$campaign"/log/*)"
        complete 6
        covered_on_both_nodes 4
        check "the blocks were tasks of a job array" test "$(cd "$campaign/log" && echo block-*.log)" = "block-1.log block-2.log"
        ;;
    nodes_two_jobs)
        plan_on_nodes 1 "cores = 1"
        use_sandbox
        printf '#SBATCH --partition=shared\n' >"$scratch/site.sh"
        run crosstalk campaign run "$campaign" --back-end slurm --two-jobs --site "$scratch/site.sh"
        [[ $status == 0 ]] || broken "the campaign ends well" "$(cat "$scratch/out" "$scratch/err")"
        complete 3
        covered_on_both_nodes 2
        ;;
    nodes_caught)
        plan_on_nodes 1 "noise = cpu.spin"
        use_sandbox
        for wrong in \
            "noise on n2 ended early|$in_training kill \$!; wait; exit 0" \
            "noise on n2 was on for|$in_training kill -STOP \$!; sleep 2; kill -CONT \$!; trap \"kill \$!\" TERM; wait; wait" \
            "noise on n2 ran on CPUs 0, of which the training uses|$on_cpus_of_training"; do
            rm -rf "${scratch:?}/bin" "$campaign/failed" "$campaign/runs"/b*
            stand_in "if [[ \$(uname -n) == n2 ]]; then ${wrong#*|}; else exec $bin/noisegen \"\$@\"; fi"
            run crosstalk campaign run "$campaign" --back-end slurm --retries 0
            [[ $status == 3 ]] || broken "the campaign ends with 3" "$status: $(cat "$scratch/out" "$scratch/err")"
            grep -o "${wrong%%|*}.*" "$scratch/out" || broken "it says '${wrong%%|*}'" "$(cat "$scratch/out" "$scratch/err")"
        done
        ;;
    slurm_kill)
        plan 4
        use_sandbox
        kills=0 controllers=0 nodes_lost=0 slurmd=''
        while ((kills < 30)) && ! counting_reach 12; do
            if [[ -z ${driver:-} ]] || ! kill -0 "$driver" 2>/dev/null; then
                crosstalk campaign run "$campaign" --back-end slurm --jobs 1 --retries 50 >>"$scratch/driver.log" 2>&1 &
                driver=$!
            fi
            sleep "$((RANDOM % 3)).$((RANDOM % 9 + 1))"
            case $((RANDOM % 6)) in
                0) victim=$driver ;;
                4) victim=$(cat "$sandbox/run/slurmctld.pid") ;;
                1) victim=$(started noisegen) ;;
                2) victim=$(started python3) ;;
                3) victim=$(started srun) ;;
                5) victim=$(cat "$sandbox/run/slurmd-n$((RANDOM % 2 + 1)).pid") && slurmd=$victim ;;
            esac
            [[ -z $victim ]] || ! kill -9 "$victim" 2>/dev/null || kills=$((kills + 1))
            # Processes restarted here must outlive this test.
            if [[ -n $victim && $victim == "$slurmd" ]]; then
                nodes_lost=$((nodes_lost + 1))
                sleep "$((RANDOM % 3))"
                check "its slurmd comes back" env CROSSTALK_GUARD= "$jobscripts/slurm-sandbox.sh" up "$sandbox" 2
            fi
            # As an operator would do: the controller is restarted a moment later, and nodes that it marked down are
            # resumed.
            if ! scontrol ping >/dev/null 2>&1; then
                controllers=$((controllers + 1))
                sleep "$((RANDOM % 3))"
                check "the controller comes back" env CROSSTALK_GUARD= "$jobscripts/slurm-sandbox.sh" up "$sandbox" 2
            fi
            use_drained_nodes
        done
        kill -9 "$driver" 2>/dev/null || true
        while sleep 2; do use_drained_nodes; done &
        run crosstalk campaign run "$campaign" --back-end slurm --jobs 1 --retries 50
        [[ $status == 0 ]] || broken "it continues until all runs count" "$(cat "$scratch/out" "$scratch/err" "$scratch/driver.log")"
        complete 12
        check "nothing is left in the queue" within 20 queue_is_empty
        echo "$kills kills ($controllers of slurmctld, $nodes_lost of slurmd), $(rows_of "$campaign/report/left_out.csv") attempts that do not count, 12 runs that do"
        ;;
esac
