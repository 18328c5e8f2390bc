// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/place/gpu_cores.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/environment.hpp"
#include "base/words.hpp"
#include "crosstalk/programs/programs.hpp"

#include <algorithm>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

// Converts nvidia-smi's "00000000:17:00.0" to the kernel's "0000:17:00.0".
std::string kernel_name(std::string_view name)
{
    const std::string bus_id = base::lower_case(name);
    constexpr std::size_t longer_domain = 4;
    return bus_id.size() > longer_domain ? bus_id.substr(longer_domain) : bus_id;
}

base::CpuSet cpus_in(const fs::path& file, const base::CpuSet& otherwise)
try {
    return base::parse_cpus(std::string{base::trim(base::read_whole(file))});
} catch (const base::Error&) {
    return otherwise;
}

// Cores reduced to CPUs in `may`, without cores that have none there and without cores that have a CPU in `taken`.
std::vector<base::Core> cores_within(const std::vector<base::Core>& cores, const base::CpuSet& may,
                                     const base::CpuSet& taken)
{
    std::vector<base::Core> within;
    for (base::Core core : cores) {
        if (std::ranges::any_of(core.cpus, [&](int cpu) { return taken.contains(cpu); })) continue;
        std::erase_if(core.cpus, [&](int cpu) { return !may.contains(cpu); });
        if (!core.cpus.empty()) within.push_back(core);
    }
    return within;
}

// The rank's share of the cores when they are divided equally among the ranks that have the same CPUs near.
std::vector<base::Core> share_of(const std::vector<base::Core>& cores, const std::vector<base::CpuSet>& near,
                                 std::size_t rank)
{
    const auto sharers = static_cast<std::size_t>(std::ranges::count(near, near[rank]));
    const auto here = near.begin() + static_cast<std::ptrdiff_t>(rank);
    const auto before = static_cast<std::size_t>(std::count(near.begin(), here, near[rank]));
    const auto at = [&](std::size_t part) {
        return cores.begin() + static_cast<std::ptrdiff_t>(part * cores.size() / sharers);
    };
    return {at(before), at(before + 1)};
}

}  // namespace

std::vector<base::CpuSet> near_gpus(const std::string& listing, const std::optional<std::string>& visible,
                                    const fs::path& sys, const base::CpuSet& allowed)
{
    const std::vector<std::string> ours = visible ? base::split(*visible, ',') : std::vector<std::string>{};
    std::vector<base::CpuSet> near;
    for (const std::string& line : lines_of(listing)) {
        const std::vector<std::string> cells = base::split(line, ',');
        if (cells.size() < 3) continue;
        const auto is_cell = [&](const std::string& one) {
            return base::trim(one) == base::trim(cells[0]) || base::trim(one) == base::trim(cells[1]);
        };
        if (visible && std::ranges::none_of(ours, is_cell)) continue;
        const std::string device = kernel_name(base::trim(cells[2]));
        near.push_back(cpus_in(sys / "bus/pci/devices" / device / "local_cpulist", allowed));
    }
    return near;
}

std::vector<base::CpuSet> near_gpus()
{
    if (!found_on_path("nvidia-smi")) return {};
    const Answer answer =
        answer_of({"nvidia-smi", "--query-gpu=index,uuid,pci.bus_id", "--format=csv,noheader"}, Errors::as_ours);
    if (answer.code != 0) return {};
    return near_gpus(answer.text, base::environment("CUDA_VISIBLE_DEVICES"), "/sys", base::allowed_cpus());
}

SplitNear split_near(const std::vector<base::Core>& cores, const base::CpuSet& job, const base::CpuSet& noise,
                     const std::vector<base::CpuSet>& near)
{
    const base::CpuSet all = base::cpus_of(cores);
    const base::CpuSet& may = job.empty() ? all : job;
    SplitNear split{.each_rank = {}, .noise = noise};
    base::CpuSet taken;
    for (std::size_t rank = 0; rank < near.size(); ++rank) {
        std::vector<base::Core> mine = cores_within(cores, base::common_cpus(may, near[rank]), noise);
        if (job.empty() && noise.empty()) {
            std::size_t number = 0;
            std::erase_if(mine, [&](const base::Core&) { return number++ % 2 == 1; });
        }
        split.each_rank.push_back(base::cpus_of(share_of(mine, near, rank)));
        if (split.each_rank.back().empty())
            base::fail_usage("rank ", rank, " of a node has no core near its GPU, on CPUs ",
                             base::format_cpus(near[rank]));
        taken.insert(split.each_rank.back().begin(), split.each_rank.back().end());
    }
    if (noise.empty()) split.noise = base::cpus_of(cores_within(cores, all, taken));
    return split;
}

}  // namespace crosstalk
