#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# virtual_nodes_test.sh [alone]: crosstalk run over virtual nodes with separate clocks. A training spans two nodes; noise
# is on both, and on a third that congests the network. Slots are the same on all nodes, and so is the exposure of the
# ranks of both nodes. alone: with bounds that hold only while nothing else runs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs crosstalk ddl-train noisegen interference trace-info
bin=$(dirname "$(command -v ddl-train)")
nodes=$scratch/nodes
out=$scratch/run
virtual() { "$jobscripts/virtual-nodes.sh" "$@"; }
none_left() { ! grep -qsz -- "^CROSSTALK_VIRTUAL_NODE=$nodes/" /proc/[0-9]*/environ; }
# on NODE COMMAND...: runs COMMAND with the environment for mpirun. Leaks in OpenMPI's TCP modules are not reported.
on() {
    local node=$1
    shift
    virtual run "$nodes" "$node" env PATH="$bin:$PATH" ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 \
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent="${OMPI_MCA_plm_rsh_agent:-}" \
        OMPI_MCA_btl="${OMPI_MCA_btl:-}" "$@"
}
seconds_on() { on "$1" cut -d. -f1 /proc/uptime; }

command -v mpirun >/dev/null || skip "no mpirun here"
refused 2 "is not 2, 3 or 4" virtual start "$nodes" --nodes 5
refused 1 "no nodes are up" virtual status "$nodes"
guard_finally virtual stop "$nodes"
run virtual start "$nodes" --nodes 3
[[ $status != 77 ]] || skip "$(cat "$scratch/err")"
((status == 0)) || broken "the nodes come up" "$(cat "$scratch/err")"
eval "$(virtual env "$nodes")"
check "the second node is one of its own" test "$(on n2 hostname)" = n2
ahead=$(($(seconds_on n2) - $(seconds_on n1)))
check "its clock is 1000 s ahead of the first node's" test "$((ahead >= 999 && ahead <= 1002))" = 1

mpirun=(mpirun --bind-to none -x PATH -x ASAN_OPTIONS)
run on front crosstalk run --out "$out" --duration 9s --cpus 0 --noise-cpus 1 --control-delay 2ms --schedule \
    'rotation(cpu.spin, network.exchange, placebo, control.delay, control.sham; slot=300ms)' \
    --noise-launch "${mpirun[*]} -n 3 --host n1,n2,n3" -- \
    "${mpirun[@]}" -n 2 --host n1,n2 ddl-train --model 'emulated[compute=10ms,gradients=64KiB]' --data synthetic
((status == 0 || status == 3)) || broken "a run spans the nodes" "$(cat "$scratch/err" "$out"/log/*.log)"
check "its table has the noise of the network" grep -q '^network.exchange .*%' "$scratch/out"
check "each node had noise" test -s "$out/noise/n1.0/noise.csv" -a -s "$out/noise/n2.1/noise.csv"
check "and so had the third, which only congests" grep -q 'network.exchange.*,n3,' "$out/noise/n3.2/noise.csv"
refused 2 "must report its steps" crosstalk run --noise-launch "mpirun -n 2" -- sleep 1

trace-info --json "$out/train/trace/traces.otf2" >"$scratch/trace.json"
cat >"$scratch/agree.py" <<'PYTHON'
import csv
import json
import pathlib
import sys

out = pathlib.Path(sys.argv[1])
alone = sys.argv[3:] == ["alone"]
set_ahead_ns = 1000 * 10**9


def rows(path):
    with open(out / path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


begins = [{row["slot"]: int(row["begin_ns"]) for row in rows(f"noise/{node}/noise.csv")} for node in ("n1.0", "n2.1")]
skews = sorted(abs(begins[1][slot] - begins[0][slot] - set_ahead_ns) for slot in begins[0])
assert begins[0].keys() == begins[1].keys(), "both nodes had the same slots"
assert skews[len(skews) * (9 if alone else 5) // 10] < 50e6, f"slots begin together: {skews}"

used = [row for row in rows("report/exposure.csv") if row["used"] == "1"]
by_rank = [{row["step"]: float(row["cpu.spin"]) for row in used if row["rank"] == rank} for rank in ("0", "1")]
both = by_rank[0].keys() & by_rank[1].keys()
assert len(both) > 50, f"steps of both ranks are used: {len(both)}"
assert sum(by_rank[0][step] > 0.5 for step in both) > 5, "some were under noise"
apart = sum(abs(by_rank[0][step] - by_rank[1][step]) for step in both) / len(both)
assert apart < (0.05 if alone else 0.15), f"ranks of both nodes had the same exposure: {apart} apart"
with open(sys.argv[2], encoding="utf-8") as file:
    second = next(one for one in json.load(file)["locations"] if one["process"] == 1)
wrong = [abs(offset["offset_ns"] + set_ahead_ns) for offset in second["clock_offsets"]]
stated = [offset["error_ns"] for offset in second["clock_offsets"]]
assert len(wrong) == 2, f"the clocks' offset is found twice: {wrong}"
assert not alone or max(wrong) < 20_000, f"it is found: wrong by {wrong} ns, {stated} stated"
assert all(one <= most for one, most in zip(wrong, stated)), f"by no more than is stated: {wrong} ns, {stated}"
print(f"clocks are found within {max(wrong)} ns, {max(stated)} ns stated")
print(f"slots begin within {skews[len(skews) * 9 // 10] / 1e6:.2f} ms (9 of 10), exposures are {apart:.4f} apart")
PYTHON
run /usr/bin/python3 "$scratch/agree.py" "$out" "$scratch/trace.json" "$@"
((status == 0)) || broken "slots and exposures agree between the nodes" "$(cat "$scratch/err")"
cat "$scratch/out"

check "they stop" virtual stop "$nodes"
check "nothing of them is left" within 5 none_left
check "nor their files" test ! -e "$nodes"
