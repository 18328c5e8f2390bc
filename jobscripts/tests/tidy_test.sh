#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy finds nothing in three sources; with `all`, in all of them, which takes half an hour.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs clang-tidy python3
cd "$jobscripts/.."
build=$(dirname "$CROSSTALK_BIN")
[[ -e $build/compile_commands.json ]] || skip "no compile_commands.json in $build"
folders=(base/contract)
[[ ${1:-} != all ]] || folders=(base trace-tools noisegen ddl-workloads analysis jobscripts)
# clang 14 cannot read the headers of LibTorch 1.13 as C++20.
mapfile -t files < <(find "${folders[@]}" -name '*.cpp' ! -path '*/tests/*' ! -path '*/bench/*' ! -path '*/models/torch/*' |
    LC_ALL=C sort)
[[ ${1:-} == all ]] || files=("${files[@]:0:3}")
check "clang-tidy finds nothing (testing/tidy.py BUILD FILE)" \
    xargs -P "$(nproc)" -n 2 testing/tidy.py "$build" < <(printf '%s\n' "${files[@]}")
