// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/write/team.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"

#include <cstring>
#include <filesystem>
#include <numeric>

namespace otf2 {

std::string Team::scatter(const std::vector<std::string>& parts_of_rank_0)
{
    const auto ranks = static_cast<std::size_t>(size());
    std::vector<std::uint64_t> sizes(ranks);
    const std::size_t head = ranks * sizeof sizes.front();
    std::string all;
    if (rank() == 0) {
        for (std::size_t i = 0; i < ranks; ++i) sizes[i] = parts_of_rank_0.at(i).size();
        all.assign(reinterpret_cast<const char*>(sizes.data()), head);
        for (const std::string& part : parts_of_rank_0) all += part;
    }
    all = broadcast(all);
    if (all.size() < head) base::fail("rank 0 sends ", all.size(), " bytes for ", ranks, " ranks");
    std::memcpy(sizes.data(), all.data(), head);
    const auto mine = sizes.begin() + rank();
    return all.substr(std::accumulate(sizes.begin(), mine, std::uint64_t{head}), *mine);
}

std::string SoloTeam::process_name() const
{
    std::error_code code;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", code);
    return code ? "process" : program.filename().string();
}

ClockOffset SoloTeam::clock_offset(const std::string&)
{
    return {.at_ns = base::now_ns(), .offset_ns = 0, .error_ns = 0};
}

}  // namespace otf2
