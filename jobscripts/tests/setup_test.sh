#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# While packages are installed no service is started, and afterwards the machine has its previous policy. Only another
# installation's locks are waited for.
# shellcheck disable=SC2016 # for the other shell to expand
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
policy=$scratch/policy

# in_setup COMMANDS: runs COMMANDS in a script that has sourced setup.sh.
in_setup() {
    bash -c 'set -euo pipefail; cd "$1/.."; . jobscripts/setup.sh; services_policy=$2; guard_begin; eval "$3"' \
        setup.sh "$jobscripts" "$policy" "$1"
}

run in_setup 'keep_services_down; "$services_policy"'
check "no service is started meanwhile" test "$status" = 101
check "no policy is left, not even by a failure" test ! -e "$policy"
run in_setup 'keep_services_down; let_services_start; [[ ! -e $services_policy ]]'
check "services may start as soon as the packages are there" test "$status" = 0

run in_setup 'keep_services_down; kill -KILL $$'
check "kill -9 leaves a policy" test -e "$policy"
run in_setup keep_services_down
check "the next run removes it" test ! -e "$policy"

echo "exit 0" >"$policy"
run in_setup 'keep_services_down; let_services_start'
check "a policy of the machine's own is kept" grep -qx "exit 0" "$policy"

failing='try() { echo >>"$services_policy.tries"; return 3; }; sleep() { true; }'
tries() { wc -l <"$policy.tries"; }
run in_setup "$failing; packages_are_locked() { false; }; patiently try"
check "a failure is a failure" test "$status" = 3 -a "$(tries)" = 1
run in_setup "$failing"'; packages_are_locked() { (($(wc -l <"$services_policy.tries") < 4)); }; patiently try'
check "while there are locks it is tried again" test "$status" = 3 -a "$(tries)" = 4
