#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cores_test.sh [run|threads]: without a word, what crosstalk cores shows and refuses; run: it takes cores from a real
# job in turns, and ends with their number or the reason why there is none; threads: likewise for two numbers of
# threads.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs crosstalk noisegen interference python3
(($(allowed_cores | wc -l) > 1)) || skip "needs two cores"

# Each step is 20 ms of work, divided over the threads.
cat >"$scratch/job.py" <<'PYTHON'
import hashlib, os, threading, time
threads = int(os.environ.get("OMP_NUM_THREADS", "1"))

def work():
    end = time.thread_time() + 0.02 / threads
    while time.thread_time() < end:
        hashlib.sha256(bytes(1 << 16)).digest()

for step in range(1000000):
    others = [threading.Thread(target=work) for _ in range(threads - 1)]
    for other in others:
        other.start()
    work()
    for other in others:
        other.join()
    print("step", step, flush=True)
PYTHON
job=(python3 "$scratch/job.py")
options=(--slot 300ms --budget 50% --step-line step --neighbour cpu.spin)

case ${1:-} in
run)
    run crosstalk cores --out "$scratch/run" --duration 9s "${options[@]}" -- "${job[@]}"
    ((status == 0 || status == 3)) || broken "it ends with an answer, or a promise not kept" "$(cat "$scratch/err")"
    check "the answer is the last line" grep -Eq '^(Keep [0-9]+ core|This run does not show how many cores)' <(tail -n 1 "$scratch/out")
    python3 - "$scratch/run/report" <<'PYTHON'
import csv, json, pathlib, sys
report = pathlib.Path(sys.argv[1])
(cores,) = json.loads((report / "cores.json").read_text())["cores"]
assert cores["neighbour"] == "cpu.spin" and cores["most"] >= 1, cores
rows = list(csv.DictReader((report / "cores.csv").open()))
assert [int(row["keep"]) for row in rows] == sorted((int(row["keep"]) for row in rows), reverse=True), rows
assert float(rows[-1]["neighbour_operations_per_s"] or 0) > 0, rows  # it has the core that the job lacks
PYTHON
    ;;
threads)
    run crosstalk cores --threads '2|1' --out "$scratch/run" --duration 12s "${options[@]}" -- "${job[@]}"
    ((status == 0 || status == 3)) || broken "it ends with an answer, or a promise not kept" "$(cat "$scratch/err")"
    check "each number of threads has its line" grep -c '^[12] threads\?: quiet step' "$scratch/out"
    python3 - "$scratch/run" <<'PYTHON'
import csv, json, pathlib, sys
run = pathlib.Path(sys.argv[1])
runs = json.loads((run / "cores.json").read_text())["runs"]
assert [(one["threads"], one["directory"]) for one in runs] == [(1, "threads-1"), (2, "threads-2")], runs
assert {row["threads"] for row in csv.DictReader((run / "cores.csv").open())} == {"1", "2"}
for threads in (1, 2):
    record = json.loads((run / f"threads-{threads}" / "train" / "run.json").read_text())
    assert record["environment"]["OMP_NUM_THREADS"] == str(threads), record["environment"]
PYTHON
    run interference summary "$scratch/run"
    check "a summary has the first" grep -q threads-1 "$scratch/out"
    check "and the second" grep -q threads-2 "$scratch/out"
    ;;
*)
    run crosstalk cores --threads '1|2' --dry-run "${options[@]}" -- "${job[@]}"
    check "a dry run shows a run for each number of threads" test "$(grep -c '^OMP_NUM_THREADS=[12]$' "$scratch/out")" = 2
    if find_programs ddl-train 2>/dev/null; then
        run crosstalk cores --threads '1|2' --dry-run -- ddl-train
        check "ddl-train gets its own option" grep -q -- '--threads 2 ' "$scratch/out"
        refused 2 "not to ddl-train" crosstalk cores --threads 2 --dry-run -- ddl-train --threads 4
    fi
    refused 2 "give two numbers or more" crosstalk cores --levels 2 --dry-run -- "${job[@]}"
    first=$(allowed_cores | head -n 1)
    refused 2 "there is none to take" crosstalk cores --cpus "$first" --dry-run -- "${job[@]}"
    if command -v mpirun >/dev/null; then
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        run crosstalk cores --cpus "$(allowed_cores | head -n 2 | paste -sd,)" --out "$scratch/two" "${options[@]}" -- \
            mpirun --oversubscribe --bind-to none -n 2 "${job[@]}"
        check "ranks with a core each have none to lose" \
            grep -q 'the job.s 2 ranks can keep one core each: there is none to take' "$scratch/err"
        ((status == 2)) || broken "that is wrong usage" "it ended with $status"
    fi
    ;;
esac
