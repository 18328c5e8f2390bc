#include "trace-tools/convert/kineto.hpp"

#include "base/error.hpp"
#include "base/system/stop.hpp"
#include "trace-tools/convert/plain_or_gzip.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace convert {

namespace {

// Microseconds since 1970 with three decimals are more digits than a double has: it would be off by up to 125 ns.
using json = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, long double>;

constexpr std::size_t most_rows = 512;    // each is an open file of the archive
constexpr long double latest_ns = 4e18L;  // in 2096, if counted from 1970

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
    });
    return text;
}

std::string text_of(const json& object, const char* key)
{
    const auto found = object.find(key);
    if (found == object.end()) return "";
    if (found->is_number_float()) return base::join(static_cast<double>(found->get<long double>()));
    return found->is_string() ? found->get<std::string>() : found->dump();
}

std::int64_t number_of(const json& args, const char* key)
{
    const auto found = args.find(key);
    return found != args.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
}

class Collector {
 public:
    explicit Collector(std::filesystem::path file) : file_{std::move(file)} {}

    void take(const json& event)
    {
        if (base::stop_requested()) base::fail("stopped by a signal");
        const std::string kind = event.is_object() ? text_of(event, "ph") : "";
        if (kind == "M") take_name(event);
        if (kind == "X") take_slice(event);
        if (kind == "s" || kind == "t" || kind == "f") take_flow_end(event);
    }

    // The archive counts from 1970 where the file says when its own time begins.
    KinetoTrace finish(std::int64_t base_ns)
    {
        if (slices_ == 0) base::fail(file_.string(), " has no complete events (\"ph\": \"X\") in \"traceEvents\"");
        for (auto& [pid, process] : trace_.processes) {
            if (process.name.empty()) process.name = "process " + pid;
            std::erase_if(process.rows, [](const auto& row) { return row.second.slices.empty(); });
            for (auto& [tid, row] : process.rows) finish(row, tid, base_ns);
        }
        std::erase_if(trace_.processes, [](const auto& process) { return process.second.rows.empty(); });
        for (auto& [pid, process] : trace_.processes)
            if (is_device(process)) process.launcher = launcher_of(process);
        return std::move(trace_);
    }

 private:
    void finish(KinetoRow& row, const std::string& tid, std::int64_t base_ns) const
    {
        if (row.name.empty()) row.name = (row.device ? "stream " : "thread ") + tid;
        for (Slice& slice : row.slices) {
            if (slice.begin_ns < -base_ns) base::fail(file_.string(), " has an event before the time 0");
            slice.begin_ns += base_ns;
            slice.end_ns += base_ns;
        }
        for (FlowEnd& end : row.flow_ends) end.at_ns += base_ns;
    }

    static bool is_device(const KinetoProcess& process)
    {
        return std::all_of(process.rows.begin(), process.rows.end(), [](const auto& row) { return row.second.device; });
    }

    // The process with the other slice of the first correlation; without one, the first process there is.
    std::string launcher_of(const KinetoProcess& device) const
    {
        const std::int64_t wanted = first_correlation(device);
        std::string first;
        for (const auto& [pid, process] : trace_.processes) {
            if (is_device(process)) continue;
            if (first.empty()) first = pid;
            if (wanted >= 0 && has_correlation(process, wanted)) return pid;
        }
        return first;
    }

    static std::int64_t first_correlation(const KinetoProcess& process)
    {
        for (const auto& [tid, row] : process.rows)
            for (const Slice& slice : row.slices)
                if (slice.numbers[0] >= 0) return slice.numbers[0];
        return -1;
    }

    static bool has_correlation(const KinetoProcess& process, std::int64_t correlation)
    {
        return std::any_of(process.rows.begin(), process.rows.end(), [&](const auto& row) {
            return std::any_of(row.second.slices.begin(), row.second.slices.end(),
                               [&](const Slice& slice) { return slice.numbers[0] == correlation; });
        });
    }

    void take_name(const json& event)
    {
        const auto args = event.find("args");
        if (args == event.end() || !args->is_object()) return;
        if (text_of(event, "name") == "process_name")
            trace_.processes[text_of(event, "pid")].name = text_of(*args, "name");
        if (text_of(event, "name") == "thread_name") row_of(event).name = text_of(*args, "name");
    }

    void take_slice(const json& event)
    {
        const std::string name = text_of(event, "name");
        const long double begin_ns = time_of(event, "ts", name);
        const long double length_ns = time_of(event, "dur", name);
        if (length_ns < 0.0L) base::fail(file_.string(), ": event '", name, "' has a negative duration");
        const std::string category = lower(text_of(event, "cat"));
        Slice slice{.begin_ns = std::llround(begin_ns),
                    .end_ns = std::llround(begin_ns + length_ns),
                    .region = region({name, category})};
        if (const auto args = event.find("args"); args != event.end() && args->is_object())
            slice.numbers = {number_of(*args, "correlation"), number_of(*args, "External id"),
                             number_of(*args, "bytes")};
        KinetoRow& row = row_of(event);
        row.device |=
            category == "kernel" || category.starts_with("gpu_") || category == "memcpy" || category == "memset";
        row.slices.push_back(slice);
        ++slices_;
    }

    // Those whose ids are no numbers are left out: none of PyTorch's are.
    void take_flow_end(const json& event)
    {
        const std::int64_t id = number_of(event, "id");
        if (id < 0) return;
        const auto kind = flow_kinds_.try_emplace(lower(text_of(event, "cat")), trace_.flow_kinds.size()).first;
        if (kind->second == trace_.flow_kinds.size()) trace_.flow_kinds.push_back(kind->first);
        row_of(event).flow_ends.push_back({.at_ns = std::llround(time_of(event, "ts", text_of(event, "name"))),
                                           .id = id,
                                           .kind = static_cast<std::uint32_t>(kind->second)});
    }

    // Microseconds in the file.
    long double time_of(const json& event, const char* key, const std::string& name) const
    {
        const auto found = event.find(key);
        if (found == event.end() || !found->is_number())
            base::fail(file_.string(), ": event '", name, "' has no number as its \"", key, "\"");
        const long double ns = found->get<long double>() * 1000.0L;
        if (!(std::abs(ns) < latest_ns / 2.0L))
            base::fail(file_.string(), ": event '", name, "' is at no time there is");
        return ns;
    }

    KinetoRow& row_of(const json& event)
    {
        auto& rows = trace_.processes[text_of(event, "pid")].rows;
        const auto [row, added] = rows.try_emplace(text_of(event, "tid"));
        if (added && ++rows_ > most_rows)
            base::fail(file_.string(), " has more than ", most_rows, " threads and streams");
        return row->second;
    }

    std::uint32_t region(std::pair<std::string, std::string> one)
    {
        const auto [place, added] = regions_.try_emplace(one, static_cast<std::uint32_t>(trace_.regions.size()));
        if (added) trace_.regions.push_back(std::move(one));
        return place->second;
    }

    std::filesystem::path file_;
    KinetoTrace trace_;
    std::map<std::pair<std::string, std::string>, std::uint32_t> regions_;
    std::map<std::string, std::size_t> flow_kinds_;
    std::size_t slices_ = 0;
    std::size_t rows_ = 0;
};

}  // namespace

KinetoTrace read_kineto(const std::filesystem::path& file)
{
    const std::unique_ptr<std::istream> input = open_plain_or_gzip(file);
    Collector collector{file};
    std::string member;    // of the outermost object
    bool is_list = false;  // nothing but events, as PyTorch without Kineto writes
    // Each event is taken as soon as it is whole, and then dropped.
    const auto take = [&](int depth, json::parse_event_t what, json& value) {
        if (depth == 0 && what == json::parse_event_t::array_start) is_list = true;
        if (depth == 1 && what == json::parse_event_t::key) member = value.get<std::string>();
        const bool is_event = is_list ? depth == 1 : depth == 2 && member == "traceEvents";
        if (!is_event || what != json::parse_event_t::object_end) return true;
        collector.take(value);
        return false;
    };
    json rest;
    try {
        rest = json::parse(*input, take);
    } catch (const json::exception& error) {
        base::fail(file.string(), " is not whole JSON: ", error.what());
    }
    if (!rest.is_structured()) base::fail(file.string(), " is no trace of PyTorch's profiler");
    const std::int64_t base_ns = std::max<std::int64_t>(0, is_list ? 0 : number_of(rest, "baseTimeNanoseconds"));
    if (static_cast<long double>(base_ns) > latest_ns / 2.0L) base::fail(file.string(), " begins at no time there is");
    return collector.finish(base_ns);
}

}  // namespace convert
