#!/usr/bin/env bash
# The check for ReFrame: Python takes it, and ReFrame lists it, where that is installed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs python3
check=$jobscripts/reframe/crosstalk_check.py
check "Python takes it" python3 -c 'import ast, sys; ast.parse(open(sys.argv[1], encoding="utf-8").read())' "$check"
if command -v ruff >/dev/null; then
    check "ruff finds nothing" ruff check --quiet --no-cache --config "$jobscripts/../python/pyproject.toml" "$check"
fi
if command -v reframe >/dev/null; then
    cd "$scratch"
    reframe --checkpath "$check" --list >"$scratch/list" 2>&1 || true
    check "ReFrame lists it" grep -q NodeIsQuiet "$scratch/list"
fi
