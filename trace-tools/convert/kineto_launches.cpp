// SPDX-License-Identifier: Apache-2.0
// Finds the call that launched each kernel: see join_launches().
#include "trace-tools/convert/kineto_collector.hpp"

#include <algorithm>
#include <unordered_map>

namespace convert {

namespace {

enum Number : std::size_t { correlation, external };

template <class Look>
void each_slice(KinetoProcess& process, const Look& look)
{
    for (auto& [tid, row] : process.rows)
        for (Slice& slice : row.slices) look(slice);
}

bool is(const KinetoTrace& trace, const Slice& slice, Activity activity)
{
    return trace.regions[slice.region].activity == activity;
}

// The calls of a process, by the value of `number` (correlation or External id).
using ByNumber = std::unordered_map<std::int64_t, std::vector<Slice*>>;
ByNumber calls_by(Number number, KinetoTrace& trace, KinetoProcess& process)
{
    ByNumber calls;
    each_slice(process, [&](Slice& slice) {
        if (slice.numbers[number] >= 0 && is(trace, slice, Activity::call))
            calls[slice.numbers[number]].push_back(&slice);
    });
    for (auto& [key, all] : calls)
        std::ranges::sort(all, [](const Slice* a, const Slice* b) { return a->begin_ns < b->begin_ns; });
    return calls;
}

// The process whose calls match most of the device's first kernels; without any match, the first process.
std::string launcher_of(KinetoTrace& trace, KinetoProcess& device)
{
    constexpr std::size_t enough = 64;
    std::unordered_map<std::int64_t, std::size_t> wanted[2];
    each_slice(device, [&](const Slice& slice) {
        for (const Number number : {correlation, external})
            if (slice.numbers[number] >= 0 && wanted[number].size() < enough) ++wanted[number][slice.numbers[number]];
    });
    std::string best;
    std::size_t most = 0;
    for (auto& [pid, process] : trace.processes) {
        if (process.device) continue;
        std::size_t hits = 0;
        each_slice(process, [&](const Slice& slice) {
            for (const Number number : {correlation, external})
                if (slice.numbers[number] >= 0) hits += wanted[number].count(slice.numbers[number]);
        });
        if (best.empty() || hits > most) {
            best = pid;
            most = hits;
        }
    }
    return best;
}

// The n-th kernel with an External id belongs to the n-th call with it; further kernels belong to the last call.
void join_by_external_id(KinetoTrace& trace, KinetoProcess& device, KinetoProcess& host, std::int64_t& next)
{
    std::vector<Slice*> lacking;
    each_slice(device, [&](Slice& slice) {
        if (slice.numbers[correlation] < 0 && slice.numbers[external] >= 0) lacking.push_back(&slice);
    });
    if (lacking.empty()) return;
    std::ranges::sort(lacking, [](const Slice* a, const Slice* b) { return a->begin_ns < b->begin_ns; });
    ByNumber calls = calls_by(external, trace, host);
    std::unordered_map<std::int64_t, std::size_t> used;
    for (Slice* slice : lacking) {
        const auto found = calls.find(slice->numbers[external]);
        if (found == calls.end()) continue;
        Slice& call = *found->second[std::min(used[found->first]++, found->second.size() - 1)];
        if (call.numbers[correlation] < 0) call.numbers[correlation] = next++;
        slice->numbers[correlation] = call.numbers[correlation];
    }
}

// The first unused correlation id; -1 if no numbers are left.
std::int64_t after_all_correlations(KinetoTrace& trace)
{
    std::int64_t most = -1;
    for (auto& [pid, process] : trace.processes)
        each_slice(process, [&](const Slice& slice) { most = std::max(most, slice.numbers[correlation]); });
    return most < INT64_MAX / 2 ? most + 1 : -1;
}

}  // namespace

void join_launches(KinetoTrace& trace)
{
    std::int64_t next = after_all_correlations(trace);
    for (auto& [pid, device] : trace.processes) {
        if (!device.device) continue;
        device.launcher = launcher_of(trace, device);
        if (device.launcher.empty()) continue;
        KinetoProcess& host = trace.processes.at(device.launcher);
        if (next >= 0) join_by_external_id(trace, device, host, next);
        const ByNumber calls = calls_by(correlation, trace, host);
        each_slice(device, [&](const Slice& slice) {
            if (!is(trace, slice, Activity::kernel)) return;
            const auto found = calls.find(slice.numbers[correlation]);
            if (slice.numbers[correlation] < 0 || found == calls.end())
                ++trace.remarks.without_launch;
            else if (slice.begin_ns < found->second.front()->begin_ns)
                ++trace.remarks.before_launch;
        });
    }
}

}  // namespace convert
