# SPDX-License-Identifier: Apache-2.0
# Waiting for other processes. To be sourced.
# shellcheck shell=bash

# await SECONDS COMMAND...: repeats COMMAND until it succeeds. Returns 1 if it does not within SECONDS.
await() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || return 1
        sleep 0.05
    done
}
