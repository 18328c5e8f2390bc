#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# own_job_test.sh calls|mpi4py|lines|table|marks|python|pytorch: one command measures a job that was not written for
# Crosstalk, with steps found from its MPI calls, its output lines, a table that it writes, its marks, or PyTorch.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tiny.sh"
needs setpriv crosstalk noisegen interference trace-record
how=$1
control=control.pause
duration=12
slot=300ms
run=$scratch/run
mkdir "$scratch/io"

# A program with steps of a few ms, which runs much longer than the measurement.
cat >"$scratch/job.py" <<'PYTHON'
import sys, time
table = open(sys.argv[1], "w", buffering=1) if len(sys.argv) > 1 else None
if table:
    print("rank,step,begin_ns,end_ns", file=table)
for step in range(1000000):
    begin = time.monotonic_ns()
    sum(x * x for x in range(40000))
    if table:
        print(0, step, begin, time.monotonic_ns(), sep=",", file=table)
    else:
        print("step", step, "loss", 1 / (step + 1))
PYTHON

case $how in
    calls)
        needs mpirun
        job=(mpirun -n 2 "$CROSSTALK_BIN/../tests/mpi-calls" reduce)
        [[ -x ${job[3]} ]] || skip "there is no mpi-calls"
        options=(--export-markdown "$scratch/table.md" --export-json "$scratch/verdict.json"
            --export-junit "$scratch/junit.xml")
        duration=6
        [[ -z ${CROSSTALK_PRELOAD_FIRST:-} ]] || export LD_PRELOAD=$CROSSTALK_PRELOAD_FIRST
        ;;
    mpi4py)
        needs mpirun
        /usr/bin/python3 -c "import mpi4py" 2>/dev/null || skip "there is no mpi4py (Debian: python3-mpi4py)"
        cat >"$scratch/allreduce.py" <<'PYTHON'
import array
from mpi4py import MPI
ours, all = array.array("d", [1.0] * 4096), array.array("d", [0.0] * 4096)
while True:
    sum(x * x for x in range(40000))
    MPI.COMM_WORLD.Allreduce(ours, all)
PYTHON
        job=(mpirun -n 2 /usr/bin/python3 "$scratch/allreduce.py")
        options=()
        slot=1s
        duration=40
        [[ -z ${CROSSTALK_PRELOAD_FIRST:-} ]] || export LD_PRELOAD=$CROSSTALK_PRELOAD_FIRST ASAN_OPTIONS=detect_leaks=0
        ;;
    lines)
        needs python3
        job=(python3 "$scratch/job.py")
        options=(--step-line 'step ([0-9]+) ')
        ;;
    table)
        needs python3
        job=(python3 "$scratch/job.py" "$scratch/own.csv")
        options=(--steps "$scratch/own.csv")
        ;;
    marks)
        job=("$CROSSTALK_BIN/../tests/mark-program" 1000000)
        [[ -x ${job[0]} ]] || skip "there is no mark-program"
        options=()
        control=control.delay,control.sham
        ;;
    python)
        needs python3
        cat >"$scratch/marked.py" <<'PYTHON'
import time
import crosstalk
for step in crosstalk.steps(range(1000000)):
    with crosstalk.phase("forward"):
        sum(x * x for x in range(40000))
PYTHON
        job=(/usr/bin/python3 "$scratch/marked.py")
        options=()
        control=control.delay,control.sham
        [[ -z ${CROSSTALK_PRELOAD_FIRST:-} ]] || export LD_PRELOAD=$CROSSTALK_PRELOAD_FIRST ASAN_OPTIONS=detect_leaks=0
        ;;
    pytorch)
        needs mpirun crosstalk-python
        export PYTHON=/usr/bin/python3
        "$PYTHON" -c "import torch" 2>/dev/null || skip "there is no PyTorch"
        source=$(cd "$jobscripts/.." && pwd)
        job=(mpirun -n 2 crosstalk-python "$source/python/tests/train_digits.py"
            "$source/ddl-workloads/data/digits/digits.csv.gz" 3600)
        mkdir "$scratch/metrics"
        options=(--openmetrics "$scratch/metrics")
        control=control.delay,control.sham
        duration=25
        [[ -z ${CROSSTALK_PRELOAD_FIRST:-} ]] || export LD_PRELOAD=$CROSSTALK_PRELOAD_FIRST ASAN_OPTIONS=detect_leaks=0
        ;;
esac

# 3: noise did not cover the job, for example because the machine stalled for seconds.
for longer in 1 2 3; do
    rm -rf "$run" "$scratch/own.csv"
    run crosstalk run --out "$run" --duration $((longer * duration))s --seed 7 "${options[@]}" --schedule \
        "rotation(memory.stream[bytes=16MiB], io.write[directory=$scratch/io,block=64KiB], placebo, $control; slot=$slot)" \
        -- "${job[@]}"
    ((status == 3)) || break
done
[[ $status == 0 ]] || broken "the run ends well" "it ended with $status: $(cat "$scratch/err"; tail -n 20 "$run"/log/*.log)"
check "it names the report" grep -q "report: $run/report/index.html" "$scratch/out"
check "each noise has a verdict" grep -Eq '^(memory.stream|io.write) .*(safe|unsafe|undecided|insensitive|untrusted)' "$scratch/out"
if [[ $control == control.pause ]]; then
    check "the job was stopped for known times" grep -Eq 'control pause .*true value [1-9]' "$scratch/out"
else
    check "the job made the known delay" grep -Eq 'control delay .*true value [1-9]' "$scratch/out"
    check "its sham had the barriers" grep -q 'control sham' "$scratch/out"
    check "it says which job that was" grep -Eq "^  .*${job[0]##*/}.*, [12] ranks? on " "$scratch/out"
fi
check "the status file tells a campaign" grep -q '"exit_code":0.*"covered":true' "$run/status.json"
check "the report names the job" grep -q "${job[0]##*/}" "$run/report/index.html"
check "no scratch file of the noise is left" test -z "$(ls -A "$scratch/io")"
if [[ $how == pytorch ]]; then
    check "Prometheus is told its steps" grep -q '^crosstalk_training_steps_total{.*} [1-9]' "$scratch/metrics/training.prom"
    check "and that it has ended" within 5 grep -q '^crosstalk_training_running{.*} 0' "$scratch/metrics/training.prom"
fi
if [[ $how == mpi4py ]]; then
    check "what its steps are is told" grep -q 'MPI_Allreduce to MPI_Allreduce' "$run/report/index.html"
fi
if [[ $how == calls ]]; then
    check "what its steps are is told" grep -q 'MPI_Allreduce to MPI_Allreduce' "$run/report/index.html"
    check "the verdicts are a table of Markdown" grep -q '^| memory.stream | ' "$scratch/table.md"
    check "CI is told one test a noise, and one of the run" python3 -c '
import sys, xml.etree.ElementTree as xml
suite = xml.parse(sys.argv[1]).getroot()[0]
names = [case.get("name") for case in suite]
assert names == ["io.write stays within the budget", "memory.stream stays within the budget", "the run can be trusted"], names
assert int(suite.get("failures")) == len(suite.findall(".//failure")), suite.attrib' "$scratch/junit.xml"
    check "the verdict is where it was asked for" cmp "$scratch/verdict.json" "$run/report/verdict.json"
fi
refused 2 "is already there" crosstalk run --out "$run" -- "${job[@]}"
if [[ $how == table ]]; then
    run crosstalk run --extend "$run" --duration 8s
    ((status == 0 || status == 3)) || broken "a part is added" "it ended with $status: $(cat "$scratch/err")"
    check "each part has its own table" test -s "$run/train/steps.csv" -a -s "$run/part-2/train/steps.csv"
    check "both parts are pooled" grep -q '^1 run in 2 parts' "$scratch/out"
    echo foreign >"$scratch/own.csv"
    refused 2 "already exists" crosstalk run --extend "$run" --duration 8s
    check "a table that is not the run's stays" grep -q foreign "$scratch/own.csv"
fi
