// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a .cubex file: the result is a profile that can be compared with others, or a one-line error.
#include "base/error.hpp"
#include "fuzz/input_file.hpp"
#include "trace-tools/cube/comparison.hpp"
#include "trace-tools/cube/cubex.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fuzz::InputFile file{data, size};
    try {
        const cube::CubeProfile profile = cube::read_cubex(file.path());
        static_cast<void>(cube::compared(profile, profile, true).metrics.size());
        static_cast<void>(cube::agreement(profile, profile, 1e-9).time.most);
    } catch (const base::Error&) {
    }
    return 0;
}
