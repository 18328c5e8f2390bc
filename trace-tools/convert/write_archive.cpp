#include "trace-tools/convert/write_archive.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/stop.hpp"
#include "trace-tools/gpu/kernel_role.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>

namespace convert {

namespace {

otf2::RegionRef define(otf2::Recorder& recorder, const std::string& name, const std::string& category)
{
    using otf2::Paradigm;
    using otf2::RegionRole;
    if (category == "kernel") return recorder.region(name, gpu::kernel_role(name), Paradigm::cuda);
    if (category.find("mem") != std::string::npos)
        return recorder.region(name, RegionRole::data_transfer, Paradigm::cuda);
    if (category.starts_with("cuda_")) return recorder.region(name, RegionRole::wrapper, Paradigm::cuda);
    if (category.find("user_annotation") != std::string::npos) return recorder.region(name, RegionRole::code);
    return recorder.region(name);
}

// What a process's recorder calls the regions and attributes.
struct Names {
    std::vector<otf2::RegionRef> regions;
    std::vector<otf2::AttributeRef> flows;  // by kind
    otf2::AttributeRef correlation, external, bytes;

    Names(otf2::Recorder& recorder, const KinetoTrace& trace)
        : correlation{recorder.attribute(base::attribute::correlation, otf2::Type::int64,
                                         "joins a CUDA call and its kernel")},
          external{
              recorder.attribute(base::attribute::external_id, otf2::Type::int64, "joins an operator and its kernels")},
          bytes{recorder.attribute(base::attribute::bytes, otf2::Type::int64, "copied or set")}
    {
        for (const auto& [name, category] : trace.regions) regions.push_back(define(recorder, name, category));
        for (const std::string& kind : trace.flow_kinds)
            flows.push_back(recorder.attribute("flow." + kind, otf2::Type::int64, "joins the two ends of an arrow"));
    }
};

struct FlowOfSlice {
    std::size_t slice = 0;  // number in its row
    FlowEnd end;
};

// The innermost slice at the end's time; of slices that begin together the last one is.
std::optional<std::size_t> slice_at(const std::vector<Slice>& slices, std::int64_t at_ns)
{
    constexpr std::ptrdiff_t deepest = 100;
    const auto after = std::upper_bound(slices.begin(), slices.end(), at_ns,
                                        [](std::int64_t at, const Slice& slice) { return at < slice.begin_ns; });
    for (auto slice = after; slice != slices.begin() && after - slice < deepest;)
        if ((--slice)->end_ns >= at_ns) return static_cast<std::size_t>(slice - slices.begin());
    return {};
}

// In the order of the slices, of which the row has one kind each: an end says nothing new the second time.
std::vector<FlowOfSlice> flows_of(const KinetoRow& row)
{
    std::vector<FlowOfSlice> flows;
    for (const FlowEnd& end : row.flow_ends)
        if (const auto slice = slice_at(row.slices, end.at_ns)) flows.push_back({*slice, end});
    const auto order = [](const FlowOfSlice& flow) { return std::pair{flow.slice, flow.end.kind}; };
    std::stable_sort(flows.begin(), flows.end(),
                     [&](const FlowOfSlice& one, const FlowOfSlice& other) { return order(one) < order(other); });
    const auto same = [&](const FlowOfSlice& one, const FlowOfSlice& other) { return order(one) == order(other); };
    flows.erase(std::unique(flows.begin(), flows.end(), same), flows.end());
    return flows;
}

std::vector<otf2::AttributeValue> attributes_of(const Slice& slice, std::span<const FlowOfSlice> flows,
                                                const Names& names)
{
    const auto [correlation, external, bytes] = slice.numbers;
    std::vector<otf2::AttributeValue> attributes;
    if (correlation >= 0) attributes.emplace_back(names.correlation, correlation);
    if (external >= 0) attributes.emplace_back(names.external, external);
    if (bytes >= 0) attributes.emplace_back(names.bytes, bytes);
    for (const FlowOfSlice& flow : flows) attributes.emplace_back(names.flows[flow.end.kind], flow.end.id);
    return attributes;
}

// Of a device: the streams are locations of a group of their own, as Score-P's are.
otf2::Recorder::Placement placement(const KinetoRow& row, const std::string& tid, const std::string& device)
{
    if (!row.device) return {.kind = otf2::LocationKind::cpu_thread, .accelerator = {}, .properties = {}};
    return {.kind = otf2::LocationKind::accelerator_stream,
            .accelerator = device,
            .properties = {{base::property::stream, tid}}};
}

gpu::Nested write_row(otf2::Recorder& recorder, const Names& names, KinetoRow& row,
                      const otf2::Recorder::Placement& place_of)
{
    std::stable_sort(row.slices.begin(), row.slices.end(), [](const Slice& one, const Slice& other) {
        return one.begin_ns != other.begin_ns ? one.begin_ns < other.begin_ns : one.end_ns > other.end_ns;
    });
    const std::vector<FlowOfSlice> flows = flows_of(row);
    auto flow = flows.begin();
    gpu::Lanes lanes{[&](const std::string& suffix) -> otf2::LocationRecorder& {
        return recorder.location(row.name + suffix, place_of);
    }};
    for (std::size_t i = 0; i < row.slices.size(); ++i) {
        const Slice& slice = row.slices[i];
        if (base::stop_requested()) base::fail("stopped by a signal");
        const auto first = flow;
        flow = std::find_if(flow, flows.end(), [&](const FlowOfSlice& one) { return one.slice != i; });
        lanes.add(names.regions[slice.region], slice.begin_ns, slice.end_ns,
                  attributes_of(slice, {first, flow}, names));
    }
    lanes.finish();
    return lanes.nested();
}

std::pair<std::int64_t, std::int64_t> extent(const KinetoTrace& trace)
{
    std::pair<std::int64_t, std::int64_t> all{INT64_MAX, INT64_MIN};
    for (const auto& [pid, process] : trace.processes)
        for (const auto& [tid, row] : process.rows)
            for (const Slice& slice : row.slices)
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
        // All rows are on one clock; OTF2 reads no clocks that were compared twice at one time.
        auto clock = [at_ns = first_ns, last_ns]() mutable {
            return otf2::ClockOffset{.at_ns = std::exchange(at_ns, std::max(at_ns, last_ns) + 1), .offset_ns = 0};
        };
        otf2::Recorder recorder{directory, std::make_unique<synth::ThreadTeam>(rank, meeting, clock),
                                trace.processes.at(pid).name};
        const Names names{recorder, trace};
        for (auto& [of, process] : trace.processes) {
            if (of != pid && process.launcher != pid) continue;
            for (auto& [tid, row] : process.rows) {
                const gpu::Nested nested = write_row(recorder, names, row, placement(row, tid, process.name));
                moved += nested.moved;
                cut += nested.cut;
            }
        }
        recorder.finish();
    });
    return {moved, cut};
}

}  // namespace convert
