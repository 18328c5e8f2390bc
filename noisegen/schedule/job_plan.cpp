// SPDX-License-Identifier: Apache-2.0
#include "noisegen/schedule/job_plan.hpp"

#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/saturating.hpp"
#include "base/system/clock.hpp"
#include "base/system/launcher.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

// Limits for the slots and start that a job's processes may agree on: slot=auto gives ten steps, at least 200 ms, and
// all processes begin soon.
constexpr base::Nanoseconds shortest_slot{200'000'000};
constexpr base::Nanoseconds longest_slot = std::chrono::hours{1};
constexpr base::Nanoseconds longest_wait = std::chrono::minutes{1};

std::string to_json(const JobPlan& plan)
{
    nlohmann::ordered_json json;
    json["format"] = base::format_version;
    json["schedule"] = plan.schedule;
    json["seed"] = plan.seed;
    json["duration_ns"] = plan.duration.count();
    json["slot_ns"] = plan.slot.count();
    json["start_realtime_ns"] = plan.start_realtime_ns;
    return base::json_text(json) + "\n";
}

JobPlan from_json(const fs::path& path)
try {
    const auto json = base::read_json(path);
    return {json.at("schedule").get<std::string>(), json.at("seed").get<std::uint64_t>(),
            base::Nanoseconds{json.at("duration_ns").get<std::int64_t>()},
            base::Nanoseconds{json.at("slot_ns").get<std::int64_t>()},
            json.at("start_realtime_ns").get<std::int64_t>()};
} catch (const nlohmann::json::exception&) {
    base::fail(path.string(), " is not a plan written by noisegen");
}

}  // namespace

JobPlan agree(const fs::path& path, const JobPlan& proposal)
{
    const fs::path mine = path.parent_path() / base::join("plan.", base::host_name(), ".", ::getpid());
    base::write_whole(mine, to_json(proposal));
    // link() creates the name atomically, and fails if another process was first.
    const bool first = ::link(mine.c_str(), path.c_str()) == 0;
    const int why = errno;
    ::unlink(mine.c_str());
    if (first) return proposal;
    if (why != EEXIST) throw std::system_error{why, std::generic_category(), "cannot create " + path.string()};

    JobPlan plan = from_json(path);
    const auto differs = [&path](const char* what, const auto& there, const auto& here) {
        base::fail_usage(path.string(), " is for the ", what, " ", there, ", not ", here, "; give another --out");
    };
    if (plan.schedule != proposal.schedule) differs("schedule", plan.schedule, proposal.schedule);
    if (plan.seed != proposal.seed) differs("seed", plan.seed, proposal.seed);
    if (plan.duration != proposal.duration)
        differs("duration", base::format(plan.duration), base::format(proposal.duration));
    const bool is_measured = proposal.measured && proposal.slot.count() != 0;
    if (is_measured ? plan.slot < shortest_slot || plan.slot > longest_slot : plan.slot != proposal.slot)
        base::fail(path.string(), " has an invalid slot length");
    const std::int64_t now = base::now_ns() + base::realtime_offset_ns();
    if (base::saturated_sum(plan.start_realtime_ns, plan.duration.count()) <= now)
        base::fail_usage(path.string(), " has already ended; give another --out");
    if (const std::int64_t wait = base::saturated_difference(plan.start_realtime_ns, now); wait > longest_wait.count())
        base::fail(path.string(), " starts in ", wait / 1'000'000'000,
                   " s: clocks of the hosts differ, or it is of another job; give another --out");
    return plan;
}

}  // namespace noisegen
