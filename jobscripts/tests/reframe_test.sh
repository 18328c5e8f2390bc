#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The check for ReFrame: it compiles in Python, and ReFrame, if installed, lists it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs python3
check=$jobscripts/reframe/crosstalk_check.py
check "Python takes it" python3 -c 'import ast, sys; ast.parse(open(sys.argv[1], encoding="utf-8").read())' "$check"
if command -v ruff >/dev/null; then
    check "ruff finds nothing" ruff check --quiet --no-cache --config "$jobscripts/../python/pyproject.toml" "$check"
fi
command -v reframe >/dev/null || { echo "ReFrame is not there: its check was not run"; exit; }
cd "$scratch"

# A stub crosstalk that prints its arguments and a verdict, and exits with $CROSSTALK_ENDS_WITH.
mkdir bin
cat >bin/crosstalk <<'SCRIPT'
#!/bin/sh
echo "asked: $*"
mkdir -p run/report
echo '{"quiet_step_ms": 15.5, "factors": {"memory.stream": {"effect_percent": 7.25}}}' >verdict.json
exit "$CROSSTALK_ENDS_WITH"
SCRIPT
chmod +x bin/crosstalk
PATH=$scratch/bin:$PATH
reframe_run() {
    run env CROSSTALK_ENDS_WITH="$1" reframe --prefix "$scratch/rfm" -c "$check" -r --performance-report \
        -S NodeIsQuiet.budget=2% -S NodeIsQuiet.length=5m
}
reframe_run 0
[[ $status == 0 ]] || broken "it passes where nothing is unsafe" "$(cat "$scratch/out" "$scratch/err")"
check "budget and length are what was set" grep -rq "asked: run --budget 2% --duration 5m --fail-on unsafe" "$scratch/rfm"
check "the effect of each noise is kept" grep -Eq 'memory.stream.*7\.25' "$scratch/out"
check "and so is the quiet step" grep -Eq 'quiet_step.*15\.5' "$scratch/out"
reframe_run 1
[[ $status != 0 ]] || broken "it fails where a noise is unsafe" "$(cat "$scratch/out")"
check "and says so" grep -q 'crosstalk ended with 1' "$scratch/out"
