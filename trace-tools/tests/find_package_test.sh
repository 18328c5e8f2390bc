#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# find_package_test.sh BUILD [SANITIZERS]: installs the component `mark` to a scratch prefix, builds a foreign C project
# against it with find_package(crosstalk), then with pkg-config, and runs it.
set -euo pipefail
build=$1 sanitizers=${2:-}
[[ -e $build/lib/libcrosstalk-mark.so ]] || { echo "libcrosstalk-mark.so is not built"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --component mark --prefix "$scratch/prefix"

mkdir "$scratch/project"
cat > "$scratch/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(mine C)
find_package(crosstalk 0.1 REQUIRED)
add_executable(mine mine.c)
target_link_libraries(mine PRIVATE crosstalk::mark)
END
cat > "$scratch/project/mine.c" <<'END'
#include <crosstalk_mark.h>

int main(void)
{
    for (int step = 0; step < 3; ++step) {
        crosstalk_step();
        crosstalk_phase("forward");
    }
    crosstalk_end();
    return 0;
}
END
cmake -G Ninja -S "$scratch/project" -B "$scratch/mine" -DCMAKE_PREFIX_PATH="$scratch/prefix" \
  ${sanitizers:+-DCMAKE_C_FLAGS=-fsanitize=$sanitizers}
cmake --build "$scratch/mine"
CROSSTALK_OUT=$scratch/run "$scratch/mine/mine"
[[ $(wc -l < "$scratch/run/train/steps.csv") -eq 4 ]] || { echo "three steps and a header are expected"; exit 1; }

# The same by pkg-config, for projects without CMake.
command -v pkg-config >/dev/null || exit 0
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name crosstalk-mark.pc)")
read -ra flags <<<"$(pkg-config --cflags --libs crosstalk-mark)"
cc ${sanitizers:+-fsanitize=$sanitizers} "$scratch/project/mine.c" -o "$scratch/by-hand" "${flags[@]}"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir crosstalk-mark) CROSSTALK_OUT=$scratch/second "$scratch/by-hand"
[[ $(wc -l < "$scratch/second/train/steps.csv") -eq 4 ]] || { echo "pkg-config: three steps and a header are expected"; exit 1; }
