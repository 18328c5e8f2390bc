#!/usr/bin/env bash
# The source looks as .clang-format has it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs clang-format git
cd "$jobscripts/.."
mapfile -t files < <(git -c safe.directory='*' ls-files '*.hpp' '*.cpp' '*.cu' 2>/dev/null)
((${#files[@]} > 0)) || skip "not a git checkout"
for file in "${files[@]}"; do
    clang-format "$file" | cmp --quiet - "$file" || echo "$file" >>"$scratch/wrong"
done
[[ ! -e $scratch/wrong ]] || broken "every file is formatted (clang-format -i FILE)" "$(cat "$scratch/wrong")"
