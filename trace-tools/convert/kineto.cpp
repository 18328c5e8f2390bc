// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/convert/kineto.hpp"

#include "base/error.hpp"
#include "trace-tools/convert/kineto_collector.hpp"
#include "trace-tools/convert/plain_or_gzip.hpp"
#include "trace-tools/convert/repaired_json.hpp"

#include <algorithm>

namespace convert {

namespace {

using json = KinetoJson;

// Limits for one event; PyTorch's events have a few dozen values in one level.
constexpr int deepest = 64;
constexpr std::size_t most_values = 100'000;

}  // namespace

Activity activity_of(const std::string& category)
{
    const auto has = [&](const char* word) { return category.find(word) != std::string::npos; };
    if (category == "kernel" || category.ends_with("_kernel")) return Activity::kernel;
    if (has("memcpy") || has("memset")) return Activity::copy;
    if (category == "trace") return Activity::profiler;
    if (category.ends_with("_sync") || category == "synchronization") return Activity::synchronisation;
    if (category.starts_with("gpu_")) return Activity::annotation;
    for (const char* interface : {"runtime", "driver"})
        if (category == interface || category.ends_with(std::string{"_"} + interface)) return Activity::call;
    return Activity::host;
}

bool on_device(Activity activity)
{
    return activity == Activity::kernel || activity == Activity::copy || activity == Activity::annotation ||
           activity == Activity::synchronisation;
}

KinetoTrace read_kineto(const std::filesystem::path& file)
{
    const std::unique_ptr<std::istream> input = open_plain_or_gzip(file);
    RepairedJson repaired{*input, file};
    std::istream text{&repaired};
    KinetoCollector collector{file};
    std::string member;    // current member of the outermost object
    bool is_list = false;  // the file is a bare list of events, as PyTorch without Kineto writes it
    std::size_t values = 0;
    // Each event is passed on as soon as it is complete, and then dropped; so are other members of the outermost
    // object.
    const auto take = [&](int depth, json::parse_event_t what, json& value) {
        if (depth > deepest)
            base::fail(file.string(), " is not a trace: more than ", deepest, " levels at ", repaired.place());
        if (depth == 0 && what == json::parse_event_t::array_start) is_list = true;
        if (depth == 1 && what == json::parse_event_t::key && !is_list) {
            member = value.get<std::string>();
            return member == "traceEvents" || member == "baseTimeNanoseconds";
        }
        const bool of_events = is_list || member == "traceEvents";
        if (!of_events) return depth <= 1;
        const int event_depth = is_list ? 1 : 2;
        if (depth <= event_depth) values = 0;
        if (++values > most_values)
            base::fail(file.string(), " is not a trace: an event of more than ", most_values, " values at ",
                       repaired.place());
        if (depth != event_depth) return true;
        if (what == json::parse_event_t::object_end) collector.take(value);
        return what == json::parse_event_t::object_start;
    };
    json rest;
    try {
        rest = json::parse(text, take);
    } catch (const json::exception&) {
        base::fail(file.string(), " is not valid JSON: it ", repaired.ended() ? "ends" : "breaks", " at ",
                   repaired.place());
    }
    if (!rest.is_structured()) base::fail(file.string(), " is not a trace of PyTorch's profiler");
    std::int64_t base_ns = 0;
    if (const auto found = rest.find("baseTimeNanoseconds"); !is_list && found != rest.end())
        if (found->is_number_integer()) base_ns = std::max<std::int64_t>(0, found->get<std::int64_t>());
    if (static_cast<long double>(base_ns) > latest_kineto_ns / 2.0L)
        base::fail(file.string(), " begins at an invalid time");
    KinetoTrace trace = collector.finish(base_ns);
    trace.remarks.repairs = repaired.repairs();
    return trace;
}

}  // namespace convert
