# SPDX-License-Identifier: Apache-2.0
# Ends everything that a script started when the script ends, however it ends. To be sourced by scripts that run under
# `set -euo pipefail`.
# shellcheck shell=bash
#
#   guard_begin             marks all processes started from here on, by an environment variable
#   guard_run COMMAND...    runs COMMAND in the foreground, but reacts to Ctrl-C immediately
#   guard_wait PID          waits for a job of this script and returns its exit code
#   guard_finally COMMAND...  runs COMMAND at the end of the script, the last one given first
#   guard_processes         prints the ids of all processes started since, including descendants and daemons
#
# Marks are used instead of process groups, since mpirun gives every rank its own group and daemons leave theirs. Marks
# nest (a guarded script may start another one), because each script adds its own to the list it inherited.

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
    printf -v command '%q ' "$@" # quoted so that eval gives the same words
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
    # A zombie has no environment, so it does not count. The grep itself must not carry the mark.
    local file
    # shellcheck disable=SC2013 # process ids hold no blanks
    for file in $(CROSSTALK_GUARD='' grep -lsz -- "^CROSSTALK_GUARD=.*:$guard_mark:" /proc/[0-9]*/environ); do
        file=${file#/proc/}
        echo "${file%/environ}"
    done
}

# Asks all started processes to end, including those that appear meanwhile, and kills them after a while.
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
    trap '' HUP INT TERM # a second Ctrl-C does not interrupt the clean-up
    echo >&2
    echo "${0##*/}: stopped by SIG$2, ending what was started" >&2
    exit $((128 + $1))
}
