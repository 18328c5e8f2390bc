// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/gpu/analysis/missing_activities.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

#include <cstdint>

namespace gpu {

std::string missing_activities(const otf2::Archive& archive)
{
    constexpr std::uint64_t tolerated = 1000;  // one in N activities may be missing
    for (const otf2::Process& process : archive.processes) {
        const auto count = [&process](const char* name) -> std::uint64_t {
            const auto found = process.properties.find(name);
            return found == process.properties.end() ? 0 : base::parse<std::uint64_t>(found->second);
        };
        using namespace base::property;
        const std::uint64_t missing = count(gpu_dropped) + count(gpu_late);
        const std::uint64_t all = missing + count(gpu_activities);
        if (missing * tolerated > all)
            return base::join(missing, " of ", all, " activities of the GPUs of ", process.name, " are missing");
    }
    return {};
}

}  // namespace gpu
