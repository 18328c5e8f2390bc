// SPDX-License-Identifier: Apache-2.0
// Reads any text as noisegen's schedule: the result is a plan, or a one-line error.
#include "base/error.hpp"
#include "noisegen/schedule/parser.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    try {
        const noisegen::Schedule schedule = noisegen::parse_schedule({reinterpret_cast<const char*>(data), size});
        static_cast<void>(schedule.factors());
        static_cast<void>(schedule.with_own_cpus());
        static_cast<void>(schedule.block_length());
    } catch (const base::Error&) {
    }
    return 0;
}
