#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Text from files and the environment is never run as a command, and a run's directory that other users prepared is
# refused. Slurm, MPI and the programs are stubs here, since only the scripts' handling of their output is tested.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs crosstalk
crosstalk=$(command -v crosstalk)
mkdir "$scratch/bin" "$scratch/work"
cd "$scratch/work"
attack="nodes[\$(touch $scratch/executed)]"
nothing_was_executed() { [[ ! -e $scratch/executed ]]; }

stand_in() { # NAME, its script on stdin
    { echo '#!/usr/bin/env bash' && cat; } >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}
stand_in ddl-train <<'TEXT'
while [[ $1 != --out ]]; do shift; done
mkdir -p "$2/train"
{ echo rank,step,begin_ns,end_ns; for step in {0..23}; do echo "0,$step,0,1000000"; done; } >"$2/train/steps.csv"
sleep "${TRAINING_TAKES:-1}"
TEXT
stand_in noisegen <<'TEXT'
for word; do [[ $word != --dry-run ]] || exit 0; done
while [[ $1 != --out ]]; do shift; done
mkdir -p "$2/noise/n1.0/trace"
touch "$2/noise/n1.0/trace/traces.otf2"
echo '"realtime_minus_monotonic_ns": 0,' >"$2/noise/n1.0/noise.json"
printf 'begin_ns,end_ns\n%s,%s\n' "$NOISE_BEGINS" "$NOISE_ENDS" >"$2/noise/n1.0/noise.csv"
printf '{"schedule": "s", "slot_ns": 1, "start_realtime_ns": %s}' "$(date +%s%N)" >"$2/noise/plan.json"
trap 'exit 0' TERM
while sleep 0.1; do :; done
TEXT
stand_in mpirun <<'TEXT'
while [[ $1 != */ddl-train ]]; do shift; done
exec "$@"
TEXT
stand_in srun <<'TEXT'
while [[ $1 != ddl-train && $1 != noisegen ]]; do shift; done
[[ $1 == ddl-train ]] || echo $$ >noise.pid
exec "$@"
TEXT
stand_in squeue <<'TEXT'
echo "$SLURM_JOB_ID.1 noise"
TEXT
stand_in scancel <<'TEXT'
kill "$(cat noise.pid)"
TEXT
stand_in scontrol <<<'exit 0'
stand_in interference <<'TEXT'
exit "${ANALYSIS:-0}"
TEXT

# ------------------------------------------------------------------------------------------------ co-schedule.sbatch
ln -s "$crosstalk" "$scratch/bin/crosstalk"
export SLURM_JOB_ID=$own_slurm_job SLURM_JOB_NUM_NODES=1 CROSSTALK_BIN=$scratch/bin
job=$jobscripts/co-schedule.sbatch
out=crosstalk-$SLURM_JOB_ID

for variable in SLURM_JOB_ID SLURM_JOB_NUM_NODES SLURM_GPUS_PER_NODE SLURM_ARRAY_TASK_ID; do
    for value in "$attack" "\$(touch $scratch/executed)" '-f%f' '0-99999999999' '08x' $'1\n2'; do
        refused 2 "$variable\|--gpus-per-node\|--seed" env "$variable=$value" bash "$job" -- ddl-train
        check "$variable is not evaluated" nothing_was_executed
    done
done
mkdir -p "$out/noise/x"
refused 2 "$out/noise is already there" bash "$job" -- ddl-train
rm -r "$out"
mkdir "$out"
ln -s /nowhere "$out/train"
refused 2 "$out/train is already there" bash "$job" -- ddl-train
rm -r "$out"
if ((EUID == 0)); then
    mkdir "$out"
    chown 65534 "$out"
    refused 2 "belongs to another user" bash "$job" -- ddl-train
    refused 2 "belongs to another user" "$jobscripts/local.sh" --out "$out"
    rm -r "$out"
fi
check "nothing was begun" test ! -e "$out"

# ------------------------------------------------------------------------------------------------ local.sh
export TRAINING_TAKES=1 ANALYSIS=0
tmp="$scratch/it's \$(touch executed) \`touch executed\`"
mkdir "$tmp"
for out in -dash -- "$attack" "it's"; do
    run env TMPDIR="$tmp" "$jobscripts/local.sh" --out "$out" --train-cpus 0 --noise-cpus 1 --ranks 1
    ((status == 0)) || broken "a run in '$out' ends well" "$status: $(cat "$scratch/err")"
    check "the status file of '$out' is where it was wanted" test -s "./$out/status.json"
    check "nothing of the first, short training is left" test ! -e "./$out/log/quiet_step"
    check "nothing was executed" nothing_was_executed
    check "nothing was executed here either" test ! -e executed
done
check "nothing is left in TMPDIR" test -z "$(ls -A "$tmp")"
mkdir -p killed/log/quiet_step/train
run "$jobscripts/local.sh" --out killed --train-cpus 0 --noise-cpus 1 --ranks 1
check "what a killed run left of the short training is not in the way" test "$status" = 0
refused 2 "is not a list of CPUs" "$jobscripts/local.sh" --out run --train-cpus 0-99999999999
