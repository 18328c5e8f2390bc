#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All sources are formatted according to .clang-format.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs clang-format git
cd "$jobscripts/.."
mapfile -t files < <(git -c safe.directory='*' ls-files '*.hpp' '*.cpp' '*.cu' 2>/dev/null)
((${#files[@]} > 0)) || skip "not a git checkout"
check "every file is formatted (clang-format -i FILE)" \
    xargs -0 -P "$(nproc)" -n 40 clang-format --dry-run --Werror < <(printf '%s\0' "${files[@]}")
