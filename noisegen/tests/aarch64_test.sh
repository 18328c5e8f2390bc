#!/usr/bin/env bash
# The loops of memory.stream compute the same on aarch64: stream_kernels_test.cpp, cross-compiled and run by qemu.
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
# -idirafter: doctest's header may lie beside those of this machine's own C library.
aarch64-linux-gnu-g++ -std=c++20 -O1 -static -Wall -Wextra -Werror -I. -idirafter "$2" \
    -DDOCTEST_CONFIG_IMPLEMENT_WITH_MAIN noisegen/tests/stream_kernels_test.cpp \
    noisegen/stressors/memory/stream_kernels.cpp noisegen/stressors/pages.cpp base/error.cpp base/words.cpp -o "$build/stream_kernels_test"
qemu-aarch64-static "$build/stream_kernels_test"
