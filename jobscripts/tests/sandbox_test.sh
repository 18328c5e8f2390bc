#!/usr/bin/env bash
# sandbox_test.sh up|down: starts and ends the Slurm that the tests of co-schedule.sbatch share. Where it is, is noted in
# the file CROSSTALK_SANDBOX_NOTE.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
sandbox=$jobscripts/slurm-sandbox.sh
note=${CROSSTALK_SANDBOX_NOTE:?}

daemons() { (cd "$1/run" && cat -- *.pid); }
dead() { # a zombie is dead too
    local state
    state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) || true
    [[ -z $state || $state == Z ]]
}

case $1 in
    up)
        rm -f "$note"
        # The daemons are to outlive this test, so they must not carry its mark; the path has to be short.
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
        # A number that by now belongs to a process of that name, but of somebody else.
        cp "$(command -v sleep)" "$scratch/slurmctld"
        "$scratch/slurmctld" 1000 &
        stranger=$!
        echo "$stranger" >"$dir/run/slurmctld.pid"
        check "down again is fine" "$sandbox" down "$dir"
        check "an old pid file harms nobody" kill -0 "$stranger"
        refused 1 "not up" "$sandbox" status "$dir"
        rm -rf "$dir" "$note"
        ;;
esac
