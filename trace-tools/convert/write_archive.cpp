// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/convert/write_archive.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/stop.hpp"
#include "trace-tools/gpu/recording/kernel_role.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>

namespace convert {

namespace {

// `paradigm` is used for device activities and the calls that start them.
otf2::RegionRef define(otf2::Recorder& recorder, const KinetoRegion& region, otf2::Paradigm paradigm)
{
    using otf2::RegionRole;
    switch (region.activity) {
        case Activity::kernel:
            return recorder.region(region.name, gpu::kernel_role(region.name), paradigm);
        case Activity::copy:
            return recorder.region(region.name, RegionRole::data_transfer, paradigm);
        case Activity::call:
            return recorder.region(region.name, RegionRole::wrapper, paradigm);
        case Activity::annotation:
        case Activity::synchronisation:
            return recorder.region(region.name, RegionRole::artificial, paradigm);
        default:
            break;
    }
    if (region.category == "user_annotation") return recorder.region(region.name, RegionRole::code);
    return recorder.region(region.name);
}

// HIP if the calls begin with "hip"; ROCm names kernels and categories like CUDA.
otf2::Paradigm paradigm_of(const KinetoTrace& trace)
{
    const bool hip = std::ranges::any_of(trace.regions, [](const KinetoRegion& region) {
        return region.activity == Activity::call && region.name.starts_with("hip");
    });
    return hip ? otf2::Paradigm::hip : otf2::Paradigm::cuda;
}

// References of regions and attributes in the recorder of a process.
struct Names {
    std::vector<otf2::RegionRef> regions;
    std::vector<otf2::AttributeRef> flows;  // by kind
    otf2::AttributeRef correlation, external, bytes;
    std::optional<otf2::AttributeRef> step;

    Names(otf2::Recorder& recorder, const KinetoTrace& trace)
        : correlation{recorder.attribute(base::attribute::correlation, otf2::Type::int64,
                                         "joins a CUDA call and its kernel")},
          external{
              recorder.attribute(base::attribute::external_id, otf2::Type::int64, "joins an operator and its kernels")},
          bytes{recorder.attribute(base::attribute::bytes, otf2::Type::int64, "copied or set")}
    {
        const otf2::Paradigm paradigm = paradigm_of(trace);
        for (const KinetoRegion& region : trace.regions) regions.push_back(define(recorder, region, paradigm));
        const auto is_step = [](const KinetoRegion& region) { return region.name == profiler_step; };
        if (std::ranges::any_of(trace.regions, is_step))
            step = recorder.attribute(base::attribute::step, otf2::Type::int64, "that the profiler counted");
        for (const std::string& kind : trace.flow_kinds)
            flows.push_back(recorder.attribute("flow." + kind, otf2::Type::int64, "joins the ends of a flow event"));
    }
};

struct FlowOfSlice {
    std::size_t slice = 0;  // index in its row
    FlowEnd end;
};

// Index of the innermost slice at that time; of slices with the same begin, the last one is innermost.
std::optional<std::size_t> slice_at(const std::vector<Slice>& slices, std::int64_t at_ns)
{
    constexpr std::ptrdiff_t deepest = 100;
    const auto after = std::upper_bound(slices.begin(), slices.end(), at_ns,
                                        [](std::int64_t at, const Slice& slice) { return at < slice.begin_ns; });
    for (auto slice = after; slice != slices.begin() && after - slice < deepest;)
        if ((--slice)->end_ns >= at_ns) return static_cast<std::size_t>(slice - slices.begin());
    return {};
}

// Sorted by slice and kind; repeated flows of a kind at one slice are dropped.
std::vector<FlowOfSlice> flows_of(const KinetoRow& row)
{
    std::vector<FlowOfSlice> flows;
    for (const FlowEnd& end : row.flow_ends)
        if (const auto slice = slice_at(row.slices, end.at_ns)) flows.push_back({*slice, end});
    const auto order = [](const FlowOfSlice& flow) { return std::pair{flow.slice, flow.end.kind}; };
    std::ranges::stable_sort(
        flows, [&](const FlowOfSlice& one, const FlowOfSlice& other) { return order(one) < order(other); });
    const auto same = [&](const FlowOfSlice& one, const FlowOfSlice& other) { return order(one) == order(other); };
    flows.erase(std::unique(flows.begin(), flows.end(), same), flows.end());
    return flows;
}

std::vector<otf2::AttributeValue> attributes_of(const Slice& slice, std::span<const FlowOfSlice> flows,
                                                const Names& names)
{
    const auto [correlation, external, bytes, step] = slice.numbers;
    std::vector<otf2::AttributeValue> attributes;
    if (correlation >= 0) attributes.emplace_back(names.correlation, correlation);
    if (external >= 0) attributes.emplace_back(names.external, external);
    if (bytes >= 0) attributes.emplace_back(names.bytes, bytes);
    if (step >= 0 && names.step) attributes.emplace_back(*names.step, step);
    for (const FlowOfSlice& flow : flows) attributes.emplace_back(names.flows[flow.end.kind], flow.end.id);
    return attributes;
}

// Returns "7" for "stream 7".
std::string stream_number(const std::string& tid)
{
    const std::size_t digits = tid.find_first_of("-0123456789");
    return digits == std::string::npos ? tid : tid.substr(digits);
}

// Location of a row. Streams of a device are put into a location group of the device, as in Score-P. `beside`: a row
// for annotations and synchronisations.
otf2::Recorder::Placement placement(const KinetoProcess& process, const std::string& tid, bool beside)
{
    if (!process.device) return {.kind = otf2::LocationKind::cpu_thread};
    return {.kind = otf2::LocationKind::accelerator_stream,
            .accelerator = process.name,
            .properties = {{beside ? base::property::annotations : base::property::stream, stream_number(tid)}}};
}

struct Line {
    std::vector<Slice>& slices;
    std::vector<FlowOfSlice> flows;
    std::string name;
};

gpu::Nested write_line(otf2::Recorder& recorder, const Names& names, const Line& line,
                       const otf2::Recorder::Placement& place_of)
{
    auto flow = line.flows.begin();
    gpu::Lanes lanes{[&](const std::string& suffix) -> otf2::LocationRecorder& {
        return recorder.location(line.name + suffix, place_of);
    }};
    for (std::size_t i = 0; i < line.slices.size(); ++i) {
        const Slice& slice = line.slices[i];
        if (base::stop_requested()) base::fail("stopped by a signal");
        const auto first = flow;
        flow = std::find_if(flow, line.flows.end(), [&](const FlowOfSlice& one) { return one.slice != i; });
        lanes.add(names.regions[slice.region], slice.begin_ns, slice.end_ns,
                  attributes_of(slice, {first, flow}, names));
    }
    lanes.finish();
    return lanes.nested();
}

void sort(std::vector<Slice>& slices)
{
    std::ranges::stable_sort(slices, [](const Slice& one, const Slice& other) {
        return one.begin_ns != other.begin_ns ? one.begin_ns < other.begin_ns : one.end_ns > other.end_ns;
    });
}

gpu::Nested write_row(otf2::Recorder& recorder, const Names& names, KinetoProcess& process, const std::string& tid)
{
    KinetoRow& row = process.rows.at(tid);
    sort(row.slices);
    sort(row.beside);
    gpu::Nested all;
    for (const Line& line :
         {Line{row.slices, flows_of(row), row.name}, Line{row.beside, {}, row.name + " (annotations)"}}) {
        if (line.slices.empty()) continue;
        const bool beside = &line.slices == &row.beside;
        const gpu::Nested nested = write_line(recorder, names, line, placement(process, tid, beside));
        all.moved += nested.moved;
        all.cut += nested.cut;
    }
    return all;
}

std::pair<std::int64_t, std::int64_t> extent(const KinetoTrace& trace)
{
    std::pair<std::int64_t, std::int64_t> all{INT64_MAX, INT64_MIN};
    for (const auto& [pid, process] : trace.processes)
        for (const auto& [tid, row] : process.rows)
            for (const std::vector<Slice>* slices : {&row.slices, &row.beside})
                for (const Slice& slice : *slices)
                    all = {std::min(all.first, slice.begin_ns), std::max(all.second, slice.end_ns)};
    return all;
}

std::vector<std::string> pids_of_processes(const KinetoTrace& trace)
{
    std::vector<std::string> pids;
    for (const auto& [pid, process] : trace.processes)
        if (process.launcher.empty()) pids.push_back(pid);
    return pids;
}

}  // namespace

gpu::Nested write_archive(KinetoTrace& trace, const std::filesystem::path& directory)
{
    const base::MadeDirectories parents{otf2::unfinished(directory).parent_path()};
    const auto [begin_ns, end_ns] = extent(trace);
    const std::vector<std::string> processes = pids_of_processes(trace);
    synth::ThreadMeeting meeting{static_cast<int>(processes.size())};
    std::atomic<std::size_t> moved{0};
    std::atomic<std::size_t> cut{0};
    synth::on_each_rank(meeting, [&, first_ns = begin_ns, last_ns = end_ns](int rank) {
        const std::string& pid = processes[static_cast<std::size_t>(rank)];
        // All rows use one clock, so offsets are 0; OTF2 rejects two clock offsets at the same time.
        auto clock = [at_ns = first_ns, last_ns]() mutable {
            return otf2::ClockOffset{.at_ns = std::exchange(at_ns, std::max(at_ns, last_ns) + 1), .offset_ns = 0};
        };
        otf2::Recorder recorder{directory, std::make_unique<synth::ThreadTeam>(rank, meeting, clock),
                                trace.processes.at(pid).name};
        const Names names{recorder, trace};
        const auto write = [&](KinetoProcess& process) {
            for (const auto& [tid, row] : process.rows) {
                const gpu::Nested nested = write_row(recorder, names, process, tid);
                moved += nested.moved;
                cut += nested.cut;
            }
        };
        write(trace.processes.at(pid));
        for (auto& [of, process] : trace.processes)
            if (process.launcher == pid) write(process);
        recorder.finish();
    });
    return {moved, cut};
}

}  // namespace convert
