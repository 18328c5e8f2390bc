#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything that a guarded script starts ends with it: daemons in sessions of their own, and guarded scripts that it
# started.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"

cat >"$scratch/inner" <<SCRIPT
set -euo pipefail
. "$jobscripts/guard.sh"
guard_begin
guard_finally touch '$scratch/inner_cleaned'
setsid sleep 1000 &
guard_run sleep 1000
SCRIPT
cat >"$scratch/outer" <<SCRIPT
set -euo pipefail
. "$jobscripts/guard.sh"
guard_begin
guard_finally touch '$scratch/outer_cleaned'
(setsid sleep 1000 &)
case \$1 in
    wait) guard_run bash "$scratch/inner" ;;
    fail) bash "$scratch/inner" & while ((\$(guard_processes | wc -l) < 4)); do sleep 0.1; done; guard_run false ;;
esac
SCRIPT
sleepers() { (($(with_variable CROSSTALK_TEST=guard | wc -l) >= $1)); }

for signal in INT TERM HUP; do
    rm -f "$scratch"/*_cleaned
    # A shell starts background processes with Ctrl-C ignored, unlike a terminal, so the default is restored.
    CROSSTALK_TEST=guard env --default-signal=INT bash "$scratch/outer" wait 2>/dev/null &
    outer=$!
    check "everything starts" within 10 sleepers 5
    kill -"$signal" "$outer"
    status=0
    wait "$outer" || status=$?
    check "the exit code tells of SIG$signal" test "$status" = $((128 + $(kill -l "$signal")))
    check "nothing runs after SIG$signal" none_with_variable CROSSTALK_TEST=guard
    check "both cleaned up after SIG$signal" test -e "$scratch/inner_cleaned" -a -e "$scratch/outer_cleaned"
done

rm -f "$scratch"/*_cleaned
status=0
CROSSTALK_TEST=guard bash "$scratch/outer" fail 2>/dev/null || status=$?
check "a failure keeps its exit code" test "$status" = 1
check "nothing runs after a failure" none_with_variable CROSSTALK_TEST=guard
check "a failure cleans up too" test -e "$scratch/outer_cleaned"

hostile="$scratch/an apostrophe's \$(touch executed)"
cd "$scratch"
cat >"$scratch/hostile" <<'SCRIPT'
set -euo pipefail
. "$1"
guard_begin
guard_finally touch "$2"
guard_finally false
SCRIPT
check "what is run at the end keeps the exit code" bash "$scratch/hostile" "$jobscripts/guard.sh" "$hostile"
check "its words are taken as they are" test -e "$hostile"
check "and not evaluated" test ! -e "$scratch/executed"
