#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sandbox_test.sh up|down|up_nodes|down_nodes: starts and ends the Slurm sandbox that other tests share, on this machine
# or on two virtual nodes. The file CROSSTALK_SANDBOX_NOTE (with suffix .nodes) holds its location.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
sandbox=$jobscripts/slurm-sandbox.sh
note=${CROSSTALK_SANDBOX_NOTE:?}

daemons() { (cd "$1/run" && cat -- *.pid); }
dead() { # true for a zombie, too
    local state
    state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) || true
    [[ -z $state || $state == Z ]]
}

case $1 in
    up)
        rm -f "$note"
        # The daemons must outlive this test, so they must not carry its mark; the path has to be short.
        dir=$(mktemp -d "${TMPDIR:-/tmp}/crosstalk-slurm.XXXXXX")
        status=0
        CROSSTALK_GUARD=${CROSSTALK_GUARD%":$guard_mark:"} "$sandbox" up "$dir" 2 || status=$?
        if ((status != 0)); then
            rm -rf "$dir"
            exit "$status"
        fi
        echo "$dir" >"$note"
        check "up again is fine" "$sandbox" up "$dir" 2
        check "its status shows both nodes" grep -q n2 <("$sandbox" status "$dir")
        ;;
    down)
        [[ -f $note ]] || skip "it was not up"
        dir=$(cat "$note")
        pids=$(daemons "$dir")
        check "four daemons run" test "$(wc -w <<<"$pids")" = 4
        "$sandbox" down "$dir"
        for pid in $pids; do check "daemon $pid is gone" dead "$pid"; done
        for process in $(pgrep -x slurmstepd); do
            check "no step of it is left" test "$(readlink "/proc/$process/cwd")" != "$dir/log"
        done
        # A PID that now belongs to a process of that name, but not to the sandbox.
        cp "$(command -v sleep)" "$scratch/slurmctld"
        "$scratch/slurmctld" 1000 &
        stranger=$!
        echo "$stranger" >"$dir/run/slurmctld.pid"
        check "down again is fine" "$sandbox" down "$dir"
        check "an old pid file ends no process" kill -0 "$stranger"
        refused 1 "not up" "$sandbox" status "$dir"
        rm -rf "$dir" "$note"
        ;;
    up_nodes)
        rm -f "$note.nodes"
        dir=$(mktemp -d "${TMPDIR:-/tmp}/crosstalk-slurm.XXXXXX")
        status=0
        {
            CROSSTALK_GUARD='' "$jobscripts/virtual-nodes.sh" start "$dir.nodes" &&
                CROSSTALK_GUARD='' "$sandbox" up "$dir" --on "$dir.nodes"
        } || status=$?
        if ((status != 0)); then
            "$jobscripts/virtual-nodes.sh" stop "$dir.nodes"
            rm -rf "$dir"
            exit "$status"
        fi
        echo "$dir" >"$note.nodes"
        eval "$("$sandbox" env "$dir")"
        run "$jobscripts/virtual-nodes.sh" run "$dir.nodes" front srun -N2 hostname
        check "a step runs on both nodes" test "$(sort "$scratch/out" | paste -sd,)" = n1,n2
        ;;
    down_nodes)
        [[ -f $note.nodes ]] || skip "it was not up"
        dir=$(cat "$note.nodes")
        check "it goes down" "$sandbox" down "$dir"
        check "and no daemon of it is left" test -z "$(grep -lsF "$dir/" /proc/[0-9]*/cmdline | xargs -r cat 2>/dev/null | tr '\0' '\n' | grep -x 'slurmd\|slurmctld\|munged')"
        check "nor its nodes" "$jobscripts/virtual-nodes.sh" stop "$dir.nodes"
        rm -rf "$dir" "$note.nodes"
        ;;
esac
