#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On aarch64 the loops of memory.stream compute the same, and a seed draws the same numbers and bits: two tests,
# cross-compiled and run by qemu.
# Usage: aarch64_test.sh SOURCE_DIRECTORY DOCTEST_INCLUDE_DIRECTORY. Skipped (77) without cross compiler or qemu.
set -euo pipefail

for program in aarch64-linux-gnu-g++ qemu-aarch64-static; do
    command -v "$program" >/dev/null && continue
    echo "skipped: $program is missing (Debian: g++-aarch64-linux-gnu and qemu-user-static)"
    exit 77
done

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cd "$1"
include=$2
# -idirafter: doctest's header may lie next to those of this machine's own C library.
run_there() {
    aarch64-linux-gnu-g++ -std=c++20 -O1 -static -Wall -Wextra -Werror -I. -idirafter "$include" \
        -DDOCTEST_CONFIG_IMPLEMENT_WITH_MAIN "$@" base/error.cpp base/words.cpp -o "$build/test"
    qemu-aarch64-static "$build/test"
}
run_there noisegen/tests/stream_kernels_test.cpp noisegen/stressors/memory/stream_kernels.cpp noisegen/stressors/pages.cpp
run_there soft-errors/tests/sites_test.cpp soft-errors/drawing/{flips,geometric_gap,roles,selection}.cpp \
    soft-errors/state/number_format.cpp base/units.cpp
