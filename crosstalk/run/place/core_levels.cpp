// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/place/core_levels.hpp"

#include "base/contract/job_cores.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

namespace crosstalk {

namespace {

namespace contract = base::job_cores;

std::string keep_option(const std::string& value)
{
    return base::join(contract::keep, "=", value);
}

const std::string not_known_yet = keep_option("auto");

std::string text_of(const std::vector<std::size_t>& levels)
{
    std::vector<std::string> words;
    for (const std::size_t level : levels) words.push_back(std::to_string(level));
    return base::join_words(words, "|");
}

}  // namespace

std::vector<std::size_t> core_levels(std::size_t most)
{
    std::vector<std::size_t> levels;
    for (std::size_t power = 1; power < most; power *= 2) {
        levels.push_back(power);
        if (power > 1 && power + power / 2 < most) levels.push_back(power + power / 2);
    }
    levels.push_back(most);
    return levels;
}

std::size_t cores_of_a_rank(const std::set<pid_t>& ranks)
{
    return contract::most_to_keep(contract::usable_cpus(ranks), base::physical_cores(base::present_cpus()));
}

std::string noise_of_cores(const std::vector<std::size_t>& levels, const std::string& neighbour)
{
    return base::join(contract::stressor, "[", levels.empty() ? not_known_yet : keep_option(text_of(levels)), ",",
                      contract::neighbour, "=", neighbour, "]");
}

bool takes_cores(const std::string& schedule)
{
    return schedule.find(base::join(contract::stressor, "[")) != std::string::npos;
}

std::string with_core_levels(const std::string& schedule, std::size_t most)
{
    const std::size_t at = schedule.find(not_known_yet);
    if (at == std::string::npos || !takes_cores(schedule)) return schedule;
    std::string known = schedule;
    return known.replace(at, not_known_yet.size(), keep_option(text_of(core_levels(most))));
}

}  // namespace crosstalk
