// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a trace of PyTorch's profiler, compressed or not: the result is slices and flows, or a one-line
// error.
#include "base/error.hpp"
#include "fuzz/input_file.hpp"
#include "trace-tools/convert/kineto.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fuzz::InputFile file{data, size};
    try {
        static_cast<void>(convert::read_kineto(file.path()).processes.size());
    } catch (const base::Error&) {
    }
    return 0;
}
