#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill_test.sh noisegen|rank|mpirun: kill -9 of one of these. After five seconds no process of its job is left, no file
# of ours is left outside the run directory, CSVs are readable up to the kill, and a cut-off archive is refused with one
# clear line.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tiny.sh"
needs setpriv mpirun noisegen ddl-train trace-info
split_cores
victim=$1
run=$scratch/run
mkdir "$scratch/io" "$scratch/tmp"

TMPDIR=$scratch/tmp CROSSTALK_TEST=$scratch.training mpi_run 2 ddl-train --model "$tiny_model" --data "$tiny_data" \
    --strategy ddp --cpus "$train_cpus" --progress yield --steps 100000 --control-delay 1ms --out "$run" \
    >"$scratch/training.log" 2>&1 </dev/null &
mpirun_pid=$!
check "the training takes steps" within 60 rows_reach "$run/train/steps.csv" 20

TMPDIR=$scratch/tmp CROSSTALK_TEST=$scratch.noise noisegen --schedule "$(tiny_schedule_in "$scratch/io")" --duration 10min \
    --cpus "$noise_cpus" --share --out "$run" >"$scratch/noise.log" 2>&1 </dev/null &
noise_pid=$!
noise_csv() { cat "$run"/noise/*/noise.csv; }
noise_phases_reach() { (($(noise_csv 2>/dev/null | wc -l) > $1)); }
check "the noise takes turns" within 60 noise_phases_reach 8

case $victim in
    noisegen) kill -9 "$noise_pid" ;;
    mpirun) kill -9 "$mpirun_pid" ;;
    rank)
        # shellcheck disable=SC2013 # process ids hold no blanks
        for child in $(cat "/proc/$mpirun_pid/task/$mpirun_pid/children"); do
            [[ $(cat "/proc/$child/comm") != ddl-train ]] || rank_pid=$child
        done
        kill -9 "$rank_pid"
        ;;
esac
job=training
[[ $victim != noisegen ]] || job=noise
within 5 none_with_variable "CROSSTALK_TEST=$scratch.$job" ||
    broken "after five seconds nothing of the $job runs" "$(described "$(with_variable "CROSSTALK_TEST=$scratch.$job")")"

# The other job does not end with it, and ends in good order when asked to.
if [[ $victim == noisegen ]]; then
    rows=$(rows_of "$run/train/steps.csv")
    check "the training continues" within 10 rows_reach "$run/train/steps.csv" $((rows + 10))
    kill -TERM "$mpirun_pid"
    check "the training ends" within 20 none_with_variable "CROSSTALK_TEST=$scratch.training"
    check "its archive is complete" trace-info "$run/train/trace/traces.otf2"
else
    check "the noise continues" kill -0 "$noise_pid"
    kill -TERM "$noise_pid"
    status=0
    wait "$noise_pid" || status=$?
    check "the noise ends well" test "$status" = 0
    check "its archive is complete" trace-info "$run"/noise/*/trace/traces.otf2
fi

check "no scratch file of the noise is left" test -z "$(ls -A "$scratch/io")"
# OpenMPI's own session directories remain when it is killed; Crosstalk does not remove them.
check "no temporary file of ours is left" test -z "$(find "$scratch/tmp" -mindepth 1 -maxdepth 1 ! -name 'ompi.*')"
check "steps.csv is whole up to there" whole_csv "$run/train/steps.csv"
check "noise.csv is whole up to there" whole_csv "$run"/noise/*/noise.csv
check "the training's archive is sound, or refused in one line" sound_or_refused "$run/train/trace/traces.otf2"
check "the noise's archive is sound, or refused in one line" sound_or_refused "$run"/noise/*/trace/traces.otf2
