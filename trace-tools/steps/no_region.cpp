#include "trace-tools/steps/no_region.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <vector>

namespace otf2 {

void fail_no_region(const Archive& archive, const std::string& name, const char* option)
{
    constexpr std::size_t most = 10'000;  // of names to compare with
    std::vector<std::string> names;
    for (const Region& region : archive.regions)
        if (names.size() < most) names.push_back(region.name);
    base::fail_usage(option, ": there is no region '", name, "' in the archive", base::did_you_mean(name, names));
}

}  // namespace otf2
