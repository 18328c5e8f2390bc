// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/convert/activities.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/stop.hpp"
#include "trace-tools/convert/plain_or_gzip.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace convert {

namespace {

constexpr std::size_t most_activity_rows = 512;  // limit, since each row is an open file of the archive
constexpr std::int64_t latest_activity_ns = std::int64_t{1} << 61;

class ActivityLines {
 public:
    ActivityLines(std::filesystem::path file, otf2::Recorder& recorder) : file_{std::move(file)}, activities_{recorder}
    {
    }

    void take(const std::string& json)
    {
        ++line_;
        if (json.empty()) return;
        object_ = nlohmann::json::parse(json, nullptr, false);
        if (!object_.is_object()) wrong("is not a JSON object");
        const std::string kind = text("kind");
        static const std::map<std::string, gpu::ActivityKind> timed{{"kernel", gpu::ActivityKind::kernel},
                                                                    {"copy", gpu::ActivityKind::copy},
                                                                    {"set", gpu::ActivityKind::set},
                                                                    {"call", gpu::ActivityKind::call}};
        if (const auto found = timed.find(kind); found != timed.end())
            take_activity(found->second);
        else if (kind == "clock")
            activities_.add(gpu::ClockPair{.recorded_ns = number("recorded_ns", 0, latest_activity_ns),
                                           .trace_ns = number("trace_ns", 0, latest_activity_ns),
                                           .error_ns = number("error_ns", 0, latest_activity_ns)});
        else if (kind == "waits")
            activities_.waits_for(correlation(), number("stream", gpu::ActivityRecorder::all_streams, most_number));
        else if (kind == "belongs")
            activities_.belongs_to(correlation(), number("id", 0, std::numeric_limits<std::int64_t>::max()));
        else if (kind == "dropped")
            activities_.dropped(static_cast<std::uint64_t>(number("records", 0, latest_activity_ns)));
        else
            wrong("has no known \"kind\": kernel, copy, set, call, waits, belongs, clock or dropped");
    }

    gpu::ActivitySummary finish()
    {
        if (rows_.empty()) base::fail(file_.string(), " has no activities (kernel, copy, set or call)");
        return activities_.finish();
    }

 private:
    static constexpr std::int64_t most_number = UINT32_MAX;

    void take_activity(gpu::ActivityKind kind)
    {
        const bool is_call = kind == gpu::ActivityKind::call;
        const std::string name = kind == gpu::ActivityKind::set ? "" : text("name");
        gpu::Activity activity{.kind = kind,
                               .begin_ns = number("begin_ns", 0, latest_activity_ns),
                               .end_ns = number("end_ns", 0, latest_activity_ns),
                               .correlation = object_.contains("correlation") ? correlation() : 0,
                               .name = name};
        if (activity.end_ns < activity.begin_ns) wrong("ends before it begins");
        if (is_call) {
            activity.thread = static_cast<std::uint32_t>(number("thread", 0, most_number));
        } else {
            activity.device = static_cast<std::uint32_t>(number("device", 0, most_number));
            activity.stream = static_cast<std::uint32_t>(number("stream", 0, most_number));
        }
        if (kind == gpu::ActivityKind::copy || kind == gpu::ActivityKind::set)
            activity.bytes = static_cast<std::uint64_t>(number("bytes", 0, latest_activity_ns));
        rows_.insert({is_call, activity.thread, activity.device, activity.stream});
        if (rows_.size() > most_activity_rows) wrong("has more than 512 threads or streams");
        activities_.add(activity);
    }

    std::uint32_t correlation() const { return static_cast<std::uint32_t>(number("correlation", 0, most_number)); }

    std::int64_t number(const char* member, std::int64_t least, std::int64_t most) const
    {
        const auto found = object_.find(member);
        if (found == object_.end() || !found->is_number_integer()) wrong("has no integer \"", member, "\"");
        const auto value = found->get<std::int64_t>();  // values above the int64 range are negative here
        if (value < least || value > most) wrong("has a \"", member, "\" with an invalid value: ", found->dump());
        return value;
    }

    std::string text(const char* member) const
    {
        const auto found = object_.find(member);
        if (found == object_.end() || !found->is_string()) wrong("has no string \"", member, "\"");
        return found->get<std::string>();
    }

    template <class... Parts>
    [[noreturn]] void wrong(const Parts&... parts) const
    {
        base::fail(file_.string(), ": line ", line_, " ", parts...);
    }

    std::filesystem::path file_;
    gpu::ActivityRecorder activities_;
    nlohmann::json object_;  // the current line
    std::set<std::tuple<bool, std::uint32_t, std::uint32_t, std::uint32_t>> rows_;
    std::size_t line_ = 0;
};

}  // namespace

gpu::ActivitySummary write_activities(const std::filesystem::path& file, const std::filesystem::path& directory)
{
    const std::unique_ptr<std::istream> input = open_plain_or_gzip(file);
    const base::MadeDirectories parents{otf2::unfinished(directory).parent_path()};
    otf2::Recorder recorder{directory, std::make_unique<otf2::SoloTeam>(), file.stem().string()};
    try {
        ActivityLines lines{file, recorder};
        for (std::string text; std::getline(*input, text);) {
            if (base::stop_requested()) base::fail("stopped by a signal");
            lines.take(text);
        }
        const gpu::ActivitySummary summary = lines.finish();
        recorder.finish();
        return summary;
    } catch (...) {
        std::error_code ignored;
        std::filesystem::remove_all(otf2::unfinished(directory), ignored);
        throw;
    }
}

}  // namespace convert
