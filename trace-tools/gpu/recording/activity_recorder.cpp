// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/gpu/recording/activity_recorder.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "trace-tools/gpu/recording/kernel_role.hpp"

#include <algorithm>
#include <iterator>

namespace gpu {

std::string complaint(const ActivitySummary& summary)
{
    if (summary.dropped + summary.late + summary.before_launch == 0) return "";
    return base::join("GPU activities: ", summary.dropped, " dropped by CUPTI, ", summary.late, " arrived too late, ",
                      summary.before_launch, " began before their launch");
}

ActivityRecorder::ActivityRecorder(otf2::Recorder& recorder, std::size_t window)
    : recorder_{recorder},
      window_{std::max<std::size_t>(1, window)},
      correlation_{
          recorder.attribute(base::attribute::correlation, otf2::Type::int64, "joins a CUDA call and its kernel")},
      external_id_{
          recorder.attribute(base::attribute::external_id, otf2::Type::int64, "joins an operator and its kernels")},
      bytes_{recorder.attribute(base::attribute::bytes, otf2::Type::int64, "copied or set")},
      waits_{recorder.attribute(base::attribute::waits_for_stream, otf2::Type::int64,
                                "stream that a call waits for; -1: all of the device")}
{
}

void ActivityRecorder::add(const Activity& activity)
{
    if (activity.kind == ActivityKind::call) {
        if (launched_.size() == most_remembered()) write_those_before(std::next(launched_.begin())->first);
        remember(launched_, activity.correlation, activity.begin_ns);
    }
    Row& row = row_of(activity);
    if (activity.begin_ns < row.written_ns) {
        ++summary_.late;
        return;
    }
    row.waiting.push({.begin_ns = activity.begin_ns,
                      .end_ns = std::max(activity.begin_ns, activity.end_ns),
                      .bytes = activity.bytes,
                      .region = region(activity),
                      .correlation = activity.correlation,
                      .kind = activity.kind});
    if (row.waiting.size() > window_) write_first(row);
}

ActivitySummary ActivityRecorder::finish()
{
    for (auto& [key, row] : rows_) {
        while (!row.waiting.empty()) write_first(row);
        row.lanes.finish();
        summary_.nested.moved += row.lanes.nested().moved;
        summary_.nested.cut += row.lanes.nested().cut;
    }
    rows_.clear();
    summary_.clock_error_ns = clock_.residual_ns();
    using namespace base::property;
    const auto state = [&](const char* name, auto number) { recorder_.process_property(name, std::to_string(number)); };
    state(gpu_activities, summary_.written);
    state(gpu_dropped, summary_.dropped);
    state(gpu_late, summary_.late);
    state(gpu_without_launch, summary_.without_launch);
    state(gpu_before_launch, summary_.before_launch);
    state(gpu_clock_error, summary_.clock_error_ns);
    return summary_;
}

ActivityRecorder::Row& ActivityRecorder::row_of(const Activity& activity)
{
    const bool is_call = activity.kind == ActivityKind::call;
    const std::tuple key{is_call, is_call ? activity.thread : activity.device, is_call ? 0 : activity.stream};
    const auto found = rows_.find(key);
    if (found != rows_.end()) return found->second;
    // The location depends only on the kind, device and stream (or thread) of its first activity.
    const Activity first{
        .kind = activity.kind, .device = activity.device, .stream = activity.stream, .thread = activity.thread};
    Lanes lanes{
        [this, first](const std::string& suffix) -> otf2::LocationRecorder& { return location(first, suffix); }};
    return rows_.try_emplace(key, Row{std::move(lanes), {}}).first->second;
}

otf2::LocationRecorder& ActivityRecorder::location(const Activity& activity, const std::string& suffix)
{
    if (activity.kind == ActivityKind::call)
        return recorder_.location(base::join(base::location::gpu_calls, activity.thread, suffix));
    return recorder_.location(base::join("CUDA[", activity.device, ":", activity.stream, "]", suffix),
                              {.kind = otf2::LocationKind::accelerator_stream,
                               .accelerator = base::join("CUDA device ", activity.device),
                               .properties = {{base::property::stream, std::to_string(activity.stream)}}});
}

otf2::RegionRef ActivityRecorder::region(const Activity& activity)
{
    using otf2::Paradigm;
    using otf2::RegionRole;
    const auto [place, added] = regions_.try_emplace({activity.kind, std::string{activity.name}});
    if (!added) return place->second;
    const std::string& name = place->first.second;
    switch (activity.kind) {
        case ActivityKind::kernel:
            return place->second = recorder_.region(name, kernel_role(name), Paradigm::cuda);
        case ActivityKind::copy:
            return place->second = recorder_.region("memcpy " + name, RegionRole::data_transfer, Paradigm::cuda);
        case ActivityKind::set:
            return place->second = recorder_.region("memset", RegionRole::data_transfer, Paradigm::cuda);
        case ActivityKind::call:
            break;
    }
    return place->second = recorder_.region(name, RegionRole::wrapper, Paradigm::cuda);
}

// Correlation numbers increase with time: if there are too many, the oldest is dropped.
void ActivityRecorder::remember(Numbers& numbers, std::uint32_t correlation, std::int64_t number) const
{
    if (correlation == 0) return;
    numbers[correlation] = number;
    if (numbers.size() > most_remembered()) numbers.erase(numbers.begin());
}

// Writes activities of rarely used streams whose calls ended long ago.
void ActivityRecorder::write_those_before(std::uint32_t correlation)
{
    for (auto& [key, row] : rows_)
        while (!row.waiting.empty() && row.waiting.top().correlation != 0 &&
               row.waiting.top().correlation < correlation)
            write_first(row);
}

void ActivityRecorder::write_first(Row& row)
{
    const Waiting activity = row.waiting.top();
    row.waiting.pop();
    row.written_ns = activity.begin_ns;
    std::vector<otf2::AttributeValue> attributes;
    const auto known = [&](const Numbers& numbers, otf2::AttributeRef attribute) {
        if (const auto found = numbers.find(activity.correlation); found != numbers.end())
            attributes.emplace_back(attribute, found->second);
    };
    if (activity.correlation != 0) attributes.emplace_back(correlation_, activity.correlation);
    known(external_, external_id_);
    if (activity.kind == ActivityKind::call)
        known(waited_, waits_);
    else
        check_launch(activity);
    if (activity.bytes > 0) attributes.emplace_back(bytes_, activity.bytes);
    // A late clock reading may shift converted times backwards, so they are kept in order.
    row.last_ns = std::max(row.last_ns, clock_.to_trace(activity.begin_ns));
    const std::int64_t end_ns = std::max(row.last_ns, clock_.to_trace(activity.end_ns));
    row.lanes.add(activity.region, row.last_ns, end_ns, attributes);
    ++summary_.written;
}

void ActivityRecorder::check_launch(const Waiting& activity)
{
    const auto launch = launched_.find(activity.correlation);
    if (launch == launched_.end())
        ++summary_.without_launch;
    else if (activity.begin_ns < launch->second)
        ++summary_.before_launch;
}

}  // namespace gpu
