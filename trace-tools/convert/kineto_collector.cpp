// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/convert/kineto_collector.hpp"

#include "base/error.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace convert {

namespace {

using json = KinetoJson;

constexpr std::size_t most_rows = 512;  // limit, since each row is an open file of the archive

std::string text_of(const json& object, const char* key)
{
    const auto found = object.find(key);
    if (found == object.end() || found->is_structured()) return "";
    if (found->is_number_float()) return base::join(static_cast<double>(found->get<long double>()));
    return found->is_string() ? found->get<std::string>() : found->dump();
}

std::optional<std::int64_t> whole(const std::string& text)
{
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    return code == std::errc{} && end == text.data() + text.size() ? std::optional{number} : std::nullopt;
}

// The first of these members that is an integer, or a text with one; -1: none.
std::int64_t number_of(const json& args, std::initializer_list<const char*> keys)
{
    for (const char* key : keys) {
        const auto found = args.find(key);
        if (found == args.end()) continue;
        if (found->is_number_integer()) return found->get<std::int64_t>();
        if (const auto number = found->is_string() ? whole(found->get<std::string>()) : std::nullopt) return *number;
    }
    return -1;
}

// Returns N for "ProfilerStep#N", otherwise -1.
std::int64_t step_of(const std::string& name)
{
    const std::string prefix = std::string{profiler_step} + "#";
    if (!name.starts_with(prefix)) return -1;
    return std::max<std::int64_t>(-1, whole(name.substr(prefix.size())).value_or(-1));
}

// Name of a row without a name, such as "stream 7"; kept if `tid` already is such a text.
std::string unnamed_row(const std::string& tid, bool device)
{
    const char* const kind = device ? "stream " : "thread ";
    return tid.starts_with(kind) ? tid : kind + tid;
}

}  // namespace

void KinetoCollector::take(const json& event)
{
    if (base::stop_requested()) base::fail("stopped by a signal");
    struct LeftOut {
        std::string_view kinds;
        const char* name;
    };
    constexpr std::array others{
        LeftOut{"iIR", "instant events"},    LeftOut{"C", "counters"}, LeftOut{"benSTFp", "asynchronous events"},
        LeftOut{"NOD", "events of objects"}, LeftOut{"P", "samples"},  LeftOut{"Vv", "memory dumps"}};
    const std::string kind = text_of(event, "ph");
    if (kind == "M")
        take_name(event);
    else if (kind == "X")
        take_slice(event);
    else if (kind == "B" || kind == "E")
        take_mark(event, kind == "B");
    else if (kind == "s" || kind == "t" || kind == "f")
        take_flow_end(event);
    else {
        const auto* const other = std::ranges::find_if(others, [&](const LeftOut& one) {
            return kind.size() == 1 && one.kinds.find(kind) != std::string_view::npos;
        });
        ++trace_.remarks.left_out[other != others.end() ? other->name : "events of unknown kind"];
    }
}

void KinetoCollector::take_name(const json& event)
{
    const auto args = event.find("args");
    if (args == event.end() || !args->is_object()) return;
    const std::string what = text_of(event, "name");
    const std::string pid = text_of(event, "pid");
    if (what == "process_name") process_names_[pid] = text_of(*args, "name");
    if (what == "process_labels") labels_[pid] = text_of(*args, "labels");
    if (what == "thread_name") row_names_[{pid, text_of(event, "tid")}] = text_of(*args, "name");
}

Slice KinetoCollector::slice_of(const json& event)
{
    const std::string name = text_of(event, "name");
    const std::string category = base::lower_case(text_of(event, "cat"));
    Slice slice{.begin_ns = std::llround(time_of(event, "ts", name))};
    const std::int64_t step = on_device(activity_of(category)) ? -1 : step_of(name);
    slice.region = region(step < 0 ? name : profiler_step, category);
    if (const auto args = event.find("args"); args != event.end() && args->is_object())
        slice.numbers = {number_of(*args, {"correlation", "Correlation"}),
                         number_of(*args, {"External id", "external id", "External ID"}), number_of(*args, {"bytes"})};
    slice.numbers[3] = step;
    return slice;
}

void KinetoCollector::take_slice(const json& event)
{
    if (activity_of(base::lower_case(text_of(event, "cat"))) == Activity::profiler) {
        ++trace_.remarks.left_out["spans of the profiler itself"];
        ++slices_;
        return;
    }
    const std::string name = text_of(event, "name");
    Slice slice = slice_of(event);
    const long double length_ns = time_of(event, "dur", name);
    if (length_ns < 0.0L) base::fail(file_.string(), ": event '", name, "' has a negative duration");
    slice.end_ns = std::llround(time_of(event, "ts", name) + length_ns);
    put({text_of(event, "pid"), text_of(event, "tid")}, slice);
}

void KinetoCollector::take_mark(const json& event, bool begins)
{
    std::vector<Mark>& marks = marks_[{text_of(event, "pid"), text_of(event, "tid")}];
    if (begins)
        marks.push_back({true, slice_of(event)});
    else
        marks.push_back({false, {.begin_ns = std::llround(time_of(event, "ts", text_of(event, "name")))}});
}

// Flow events whose ids are not numbers are ignored; PyTorch writes none.
void KinetoCollector::take_flow_end(const json& event)
{
    const std::int64_t id = number_of(event, {"id"});
    if (id < 0) return;
    const auto kind = flow_kinds_.try_emplace(base::lower_case(text_of(event, "cat")), trace_.flow_kinds.size()).first;
    if (kind->second == trace_.flow_kinds.size()) trace_.flow_kinds.push_back(kind->first);
    flow_ends_[{text_of(event, "pid"), text_of(event, "tid")}].push_back(
        {.at_ns = std::llround(time_of(event, "ts", text_of(event, "name"))),
         .id = id,
         .kind = static_cast<std::uint32_t>(kind->second)});
}

// The file has microseconds, as a number or as a text.
long double KinetoCollector::time_of(const json& event, const char* key, const std::string& name) const
{
    const auto found = event.find(key);
    long double us = 0.0L;
    bool known = found != event.end() && found->is_number();
    if (known) us = found->get<long double>();
    if (found != event.end() && found->is_string()) {
        const std::string text = found->get<std::string>();
        char* end = nullptr;
        us = std::strtold(text.c_str(), &end);
        known = !text.empty() && *end == '\0';
    }
    if (!known) base::fail(file_.string(), ": event '", name, "' has no numeric \"", key, "\"");
    const long double ns = us * 1000.0L;
    if (!(std::abs(ns) < latest_kineto_ns / 2.0L))
        base::fail(file_.string(), ": event '", name, "' has an invalid time");
    return ns;
}

// A device can have the same number as a process, such as the first one in a container.
KinetoRow& KinetoCollector::row_of(const Row& row, bool device)
{
    KinetoProcess& process = trace_.processes[row.first + (device ? " (device)" : "")];
    process.device = device;
    const auto [place, added] = process.rows.try_emplace(row.second);
    if (added && ++rows_ > most_rows) base::fail(file_.string(), " has more than ", most_rows, " threads and streams");
    return place->second;
}

void KinetoCollector::put(const Row& row, const Slice& slice)
{
    ++slices_;
    const Activity activity = trace_.regions[slice.region].activity;
    KinetoRow& own = row_of(row, on_device(activity));
    const bool beside = activity == Activity::annotation || activity == Activity::synchronisation;
    (beside ? own.beside : own.slices).push_back(slice);
}

// Each end belongs to the latest open begin in its row.
void KinetoCollector::pair_marks()
{
    for (auto& [row, marks] : marks_) {
        std::ranges::stable_sort(
            marks, [](const Mark& one, const Mark& other) { return one.slice.begin_ns < other.slice.begin_ns; });
        std::vector<Slice> open;
        for (const Mark& mark : marks) {
            if (mark.begins) {
                open.push_back(mark.slice);
            } else if (open.empty()) {
                ++trace_.remarks.never_begun;
            } else {
                open.back().end_ns = mark.slice.begin_ns;
                put(row, open.back());
                open.pop_back();
            }
        }
        trace_.remarks.never_ended += open.size();
        for (Slice& slice : open) {
            slice.end_ns = marks.back().slice.begin_ns;
            put(row, slice);
        }
    }
    marks_.clear();
}

// In a container a process has two numbers: the profiler names the process under one, and puts some annotations under
// the other.
void KinetoCollector::merge_unnamed()
{
    std::vector<std::string> named;
    std::vector<std::string> unnamed;
    for (const auto& [pid, process] : trace_.processes)
        if (!process.device) (process_names_.contains(pid) ? named : unnamed).push_back(pid);
    if (named.size() != 1) return;
    KinetoProcess& whole = trace_.processes.at(named.front());
    for (const std::string& pid : unnamed) {
        for (auto& [tid, row] : trace_.processes.at(pid).rows) {
            row.name = row_names_[{pid, tid}];
            if (row.name.empty()) row.name = unnamed_row(tid, false);
            const bool known = whole.rows.contains(tid);
            whole.rows.emplace(known ? tid + " of " + pid : tid, std::move(row));
        }
        trace_.processes.erase(pid);
    }
}

KinetoTrace KinetoCollector::finish(std::int64_t base_ns)
{
    pair_marks();
    if (slices_ == 0) base::fail(file_.string(), " has no complete events (\"ph\": \"X\") in \"traceEvents\"");
    if (trace_.processes.empty()) base::fail(file_.string(), " has no events but the profiler's own span");
    for (const auto& [row, ends] : flow_ends_)
        for (const char* kind : {"", " (device)"}) {
            std::string key = row.first;
            key += kind;
            const auto process = trace_.processes.find(key);
            if (process == trace_.processes.end()) continue;
            if (const auto own = process->second.rows.find(row.second); own != process->second.rows.end())
                own->second.flow_ends = ends;
        }
    merge_unnamed();
    for (auto& [key, process] : trace_.processes) {
        const std::string pid = process.device ? key.substr(0, key.size() - std::string_view{" (device)"}.size()) : key;
        process.name = process_names_[pid];
        if (process.device && labels_[pid].starts_with("GPU")) process.name = labels_[pid];
        if (process.name.empty()) process.name = (process.device ? "GPU " : "process ") + pid;
        for (auto& [tid, row] : process.rows) {
            if (row.name.empty()) row.name = row_names_[{pid, tid}];
            if (row.name.empty()) row.name = unnamed_row(tid, process.device);
            for (std::vector<Slice>* slices : {&row.slices, &row.beside})
                for (Slice& slice : *slices) {
                    if (slice.begin_ns < -base_ns) base::fail(file_.string(), " has an event before the time 0");
                    slice.begin_ns += base_ns;
                    slice.end_ns += base_ns;
                }
            for (FlowEnd& end : row.flow_ends) end.at_ns += base_ns;
        }
    }
    join_launches(trace_);
    return std::move(trace_);
}

std::uint32_t KinetoCollector::region(const std::string& name, const std::string& category)
{
    const auto [place, added] =
        regions_.try_emplace({name, category}, static_cast<std::uint32_t>(trace_.regions.size()));
    if (added) trace_.regions.push_back({.name = name, .category = category, .activity = activity_of(category)});
    return place->second;
}

}  // namespace convert
