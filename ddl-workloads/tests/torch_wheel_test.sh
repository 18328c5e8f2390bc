#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A LibTorch that is not the system's is found by its folder, by that of a Python environment, by a Python and by
# CMAKE_PREFIX_PATH, with its version; one of the old C++ ABI is refused, and nothing is found where there is none. Its
# CUDA part is linked if that is asked for and it has one.
#
#     torch_wheel_test.sh SOURCE COMPILER
set -euo pipefail
source=$1 compiler=$2
scratch=$(mktemp -d /tmp/crosstalk-test-XXXXXX)
trap 'rm -rf "$scratch"' EXIT

# made DIR ABI HEADER: what FindTorchWheel looks at of a LibTorch 2.31.7.
made() {
    mkdir -p "$1/lib" "$1/include/torch/csrc/api/include/torch" "$1/include/torch/headeronly" "$1/share/cmake/Torch"
    printf '#define TORCH_VERSION_%s\n' "MAJOR 2" "MINOR 31" "PATCH 7" >"$1/include/$3"
    echo '#include <string>
          namespace c10 { std::string name(const std::string& of) { return of + "1"; } }' >"$scratch/c10.cpp"
    "$compiler" -shared -fPIC "-D_GLIBCXX_USE_CXX11_ABI=$2" -o "$1/lib/libc10.so" "$scratch/c10.cpp"
    cp "$1/lib/libc10.so" "$1/lib/libtorch_cpu.so"
}
made "$scratch/env/lib/python3.11/site-packages/torch" 1 torch/headeronly/version.h
made "$scratch/unpacked/libtorch" 1 torch/csrc/api/include/torch/version.h
made "$scratch/old" 0 torch/headeronly/version.h
mkdir "$scratch/env/bin" "$scratch/none"
cat >"$scratch/env/bin/python" <<TEXT
#!/bin/sh
echo $scratch/env/lib/python3.11/site-packages/torch
TEXT
chmod +x "$scratch/env/bin/python"

mkdir "$scratch/project"
cat >"$scratch/project/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.25)
project(finds LANGUAGES NONE)
set(CMAKE_FIND_LIBRARY_PREFIXES lib)
set(CMAKE_FIND_LIBRARY_SUFFIXES .so)
list(APPEND CMAKE_MODULE_PATH $source/cmake)
find_package(TorchWheel)
message(STATUS "found=\${TorchWheel_FOUND} version=\${TorchWheel_VERSION} folder=\${TorchWheel_FOLDER}")
if(TorchWheel_FOUND)
  get_target_property(libraries torch INTERFACE_LINK_LIBRARIES)
  message(STATUS "cuda=\${TorchWheel_CUDA} libraries=\${libraries}")
endif()
TEXT

failed=0
# finds WORDS OPTION...: CMake with these options says this.
finds() {
    local words=$1 said
    shift
    said=$(cmake -G Ninja -S "$scratch/project" -B "$scratch/build" --fresh "$@" 2>&1) || true
    grep -qF -- "$words" <<<"$said" || {
        echo "FAILED: $* does not say '$words', but: $said"
        failed=1
    }
}
package=$scratch/env/lib/python3.11/site-packages/torch
finds "found=TRUE version=2.31.7 folder=$package" "-DCROSSTALK_LIBTORCH=$package"
finds "found=TRUE version=2.31.7 folder=$package" "-DCROSSTALK_LIBTORCH=$scratch/env"
finds "found=TRUE version=2.31.7 folder=$package" "-DCROSSTALK_LIBTORCH=$scratch/env/bin/python"
finds "found=TRUE version=2.31.7 folder=$package" "-DCMAKE_PREFIX_PATH=/nowhere;$package/share/cmake"
finds "found=TRUE version=2.31.7 folder=$scratch/unpacked/libtorch" "-DCMAKE_PREFIX_PATH=$scratch/unpacked/libtorch"
finds "cuda=FALSE" "-DCROSSTALK_LIBTORCH=$package"
finds "cuda=FALSE" "-DCROSSTALK_LIBTORCH=$package" -DCROSSTALK_CUDA=ON
touch "$package/lib/libtorch_cuda.so" "$package/lib/libc10_cuda.so"
finds "cuda=FALSE" "-DCROSSTALK_LIBTORCH=$package"
finds "--no-as-needed;$package/lib/libtorch_cuda.so;$package/lib/libc10_cuda.so;" "-DCROSSTALK_LIBTORCH=$package" \
    -DCROSSTALK_CUDA=ON
finds "C++ ABI of before GCC 5" "-DCROSSTALK_LIBTORCH=$scratch/old"
finds "found=FALSE" "-DCROSSTALK_LIBTORCH=$scratch/old"
finds "found=FALSE" "-DCROSSTALK_LIBTORCH=$scratch/none"
finds "found=FALSE"
exit "$failed"
