# SPDX-License-Identifier: Apache-2.0
# To be sourced: waiting for what another process does.
# shellcheck shell=bash

# Waits until COMMAND works: await SECONDS COMMAND... Returns 1 if it did not in that time.
await() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || return 1
        sleep 0.05
    done
}
