// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/network/message_options.hpp"

#include "base/error.hpp"

namespace noisegen {

std::size_t message_size(const std::string& stressor, const base::Settings& settings, const std::string& name,
                         std::size_t unit)
{
    constexpr std::int64_t most = std::int64_t{1} << 30U;
    const auto least = static_cast<std::int64_t>(unit);
    const std::int64_t bytes = settings.get<base::Bytes>(name).count;
    if (bytes >= least && bytes <= most && bytes % least == 0) return static_cast<std::size_t>(bytes);
    base::fail_usage(stressor, "[", name, "]: ", base::format(base::Bytes{least}), " to 1GiB",
                     unit > 1 ? base::join(", a multiple of ", unit) : "", ", not ", settings.text(name));
}

int count_option(const std::string& stressor, const base::Settings& settings, const std::string& name, int most)
{
    const int count = settings.get<int>(name);
    if (count < 1 || count > most)
        base::fail_usage(stressor, "[", name, "] must be 1 to ", most, ", not ", settings.text(name));
    return count;
}

}  // namespace noisegen
