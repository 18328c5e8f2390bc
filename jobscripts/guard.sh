# SPDX-License-Identifier: Apache-2.0
# What a script starts ends with it, however it ends. To be sourced by scripts that run under `set -euo pipefail`.
# shellcheck shell=bash
#
#   guard_begin             from here on every process started carries this script's mark in its environment
#   guard_run COMMAND...    runs COMMAND in the foreground, but reacts to Ctrl-C at once
#   guard_wait PID          waits for a job of this script; its exit code is the function's
#   guard_finally COMMAND...  is run at the very end, with its words as they are; the last one given goes first
#   guard_processes         the ids of everything started since, children of children and daemons included
#
# Marks, not process groups: mpirun gives every rank a group of its own, and daemons leave theirs. Marks nest (a guarded
# script may start another one), because each script adds its own to the list it inherited.

guard_commands=()
guard_grace_s=8 # mpirun gives its ranks 2 s to end in good order

guard_begin() {
    guard_mark="$$.$RANDOM$RANDOM"
    export CROSSTALK_GUARD="${CROSSTALK_GUARD:-}:$guard_mark:"
    trap 'guard_interrupted 1 HUP' HUP
    trap 'guard_interrupted 2 INT' INT
    trap 'guard_interrupted 15 TERM' TERM
    trap 'guard_end' EXIT
}

guard_finally() {
    local command
    printf -v command '%q ' "$@" # back to the same words by eval, whatever is in them
    guard_commands=("$command" "${guard_commands[@]}")
}

guard_run() {
    "$@" </dev/null &
    guard_wait $!
}

guard_wait() {
    local status=0
    wait "$1" || status=$?
    return "$status"
}

guard_processes() {
    # A zombie has no environment, and so does not count. The searching grep must not carry the mark itself.
    local file
    # shellcheck disable=SC2013 # process ids hold no blanks
    for file in $(CROSSTALK_GUARD='' grep -lsz -- "^CROSSTALK_GUARD=.*:$guard_mark:" /proc/[0-9]*/environ); do
        file=${file#/proc/}
        echo "${file%/environ}"
    done
}

# Asks everything that was started to end, what turns up meanwhile too, and insists after a while.
guard_sweep() {
    local tenths pid processes asked=' '
    for ((tenths = 0; tenths < guard_grace_s * 10 + 20; ++tenths)); do
        processes=$(guard_processes)
        [[ -n $processes ]] || return 0
        for pid in $processes; do
            if ((tenths >= guard_grace_s * 10)); then
                kill -KILL "$pid" 2>/dev/null || true
            elif [[ $asked != *" $pid "* ]]; then
                kill -TERM "$pid" 2>/dev/null || true
                asked+="$pid "
            fi
        done
        sleep 0.1
    done
}

guard_end() {
    local command
    guard_sweep
    for command in "${guard_commands[@]}"; do eval "$command" || true; done
}

guard_interrupted() {
    trap '' HUP INT TERM # a second Ctrl-C does not stop the cleaning up
    echo >&2
    echo "${0##*/}: stopped by SIG$2, ending what was started" >&2
    exit $((128 + $1))
}
