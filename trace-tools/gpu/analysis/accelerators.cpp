// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/gpu/analysis/accelerators.hpp"

#include "base/contract/trace_names.hpp"
#include "trace-tools/gpu/recording/kernel_role.hpp"

#include <map>
#include <utility>

namespace gpu {

namespace {

bool has(const std::string& name, const char* word)
{
    return name.find(word) != std::string::npos;
}

bool of_accelerators(otf2::Paradigm paradigm)
{
    using otf2::Paradigm;
    return paradigm == Paradigm::cuda || paradigm == Paradigm::hip || paradigm == Paradigm::opencl ||
           paradigm == Paradigm::openacc;
}

StreamWork work_by_role(otf2::RegionRole role)
{
    using otf2::RegionRole;
    switch (role) {
        case RegionRole::data_transfer:
        case RegionRole::rma:
            return StreamWork::copy;
        case RegionRole::one_to_all:
        case RegionRole::all_to_one:
        case RegionRole::all_to_all:
        case RegionRole::collective_other:
        case RegionRole::point_to_point:
            return StreamWork::exchange;
        case RegionRole::barrier:
        case RegionRole::implicit_barrier:
        case RegionRole::flush:
        case RegionRole::artificial:
            return StreamWork::none;
        default:
            return StreamWork::compute;
    }
}

// Score-P does not give NCCL kernels a special role, so their names decide.
StreamWork work_on_stream(const otf2::Region& region)
{
    const StreamWork work = work_by_role(region.role);
    return work == StreamWork::compute ? work_by_role(kernel_role(region.name)) : work;
}

// OTF2 has no roles for launching and synchronising, but the names in CUDA and HIP are alike.
Call call_by_host(const otf2::Region& region)
{
    using otf2::RegionRole;
    if (!of_accelerators(region.paradigm)) return Call::none;
    const std::string& name = region.name;
    const bool barrier = region.role == RegionRole::barrier || region.role == RegionRole::implicit_barrier;
    if (barrier || has(name, "Synchronize") || name == "clFinish" || name == "clWaitForEvents")
        return Call::synchronise;
    if (has(name, "Memcpy") && !has(name, "Async")) return Call::blocking_copy;
    return has(name, "Launch") || has(name, "NDRangeKernel") ? Call::launch : Call::other;
}

// "CUDA[0:7]" gives "CUDA[0]"; other names give the whole name.
std::string device_named_by(const std::string& stream)
{
    const std::size_t colon = stream.rfind(':');
    return colon == std::string::npos || stream.find(']', colon) == std::string::npos ? stream
                                                                                      : stream.substr(0, colon) + "]";
}

// The process that uses an accelerator's location group. rocprofv3 defines no creator: then it is the only process of
// the node, or of the archive.
std::uint32_t user_of_accelerator(const otf2::Archive& archive, const otf2::Process& accelerator)
{
    if (accelerator.creator != otf2::nowhere) return accelerator.creator;
    for (const bool of_its_node : {true, false}) {
        std::uint32_t found = otf2::nowhere;
        std::size_t count = 0;
        for (std::uint32_t i = 0; i < archive.processes.size(); ++i) {
            const otf2::Process& one = archive.processes[i];
            if (one.accelerator || (of_its_node && one.node != accelerator.node)) continue;
            found = i;
            ++count;
        }
        if (count == 1) return found;
    }
    return otf2::nowhere;
}

}  // namespace

Accelerators::Accelerators(const otf2::Archive& archive)
{
    std::vector<std::uint32_t> users;  // by process
    for (std::uint32_t i = 0; i < archive.processes.size(); ++i)
        users.push_back(archive.processes[i].accelerator ? user_of_accelerator(archive, archive.processes[i]) : i);
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> known;
    for (std::uint32_t i = 0; i < archive.locations.size(); ++i) {
        const otf2::Location& location = archive.locations[i];
        const bool grouped = location.process != otf2::nowhere && archive.processes[location.process].accelerator;
        user_of.push_back(grouped ? users[location.process] : location.process);
        device_of.push_back(otf2::nowhere);
        if (location.kind != otf2::LocationKind::accelerator_stream) continue;
        const std::string name = grouped ? archive.processes[location.process].name : device_named_by(location.name);
        const auto next = static_cast<std::uint32_t>(devices.size());
        const auto [place, added] = known.try_emplace({location.process, grouped ? "" : name}, next);
        if (added) devices.push_back({.name = name, .user = user_of.back()});
        device_of.back() = place->second;
        if (!location.properties.contains(base::property::annotations)) devices[place->second].streams.push_back(i);
    }
    if (!any()) return;
    for (const otf2::Region& region : archive.regions) {
        work_of.push_back(work_on_stream(region));
        call_of.push_back(call_by_host(region));
    }
}

std::vector<std::uint32_t> streams_numbered(const otf2::Archive& archive, const Accelerators& accelerators,
                                            std::uint32_t user, std::int64_t number)
{
    std::vector<std::uint32_t> found;
    for (const Device& device : accelerators.devices) {
        if (device.user != user) continue;
        for (const std::uint32_t stream : device.streams) {
            const auto& properties = archive.locations[stream].properties;
            const auto own = properties.find(base::property::stream);
            if (number < 0 || (own != properties.end() && own->second == std::to_string(number)))
                found.push_back(stream);
        }
    }
    return found;
}

}  // namespace gpu
