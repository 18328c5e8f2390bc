// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/skew.hpp"

#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/clock.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

// A process that has finished, from its noise.json.
struct Finished {
    fs::path part;
    std::string clock;
    std::int64_t realtime_offset_ns = 0;
    std::optional<std::int64_t> clock_error_ns{};
    bool joined_late = false;
};

std::optional<Finished> finished(const fs::path& part)
try {
    const fs::path path = part / base::file::noise_record;
    if (!fs::exists(path)) return {};
    const auto json = base::read_json(path);
    if (!json.at("exit").contains("code")) return {};
    Finished found{.part = part,
                   .clock = json.at("clock_identity").get<std::string>(),
                   .realtime_offset_ns = json.at("realtime_minus_monotonic_ns").get<std::int64_t>(),
                   .joined_late = json.at("joined_late").get<bool>()};
    if (json.at("realtime_error_ns").is_number())
        found.clock_error_ns = json.at("realtime_error_ns").get<std::int64_t>();
    return found;
} catch (const nlohmann::json::exception& error) {
    base::fail((part / base::file::noise_record).string(), " is not a record of noisegen: ", error.what());
}

std::vector<Finished> all_finished(const fs::path& noise)
{
    std::vector<Finished> found;
    for (const fs::directory_entry& entry : fs::directory_iterator{noise})
        if (entry.is_directory())
            if (auto process = finished(entry.path())) found.push_back(std::move(*process));
    return found;
}

struct Span {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::size_t processes = 0;
};

void add_begins(const Finished& process, std::int64_t offset_ns, std::map<std::int64_t, Span>& spans)
{
    const base::CsvTable csv{process.part / base::file::noise_rows};
    std::set<std::int64_t> seen;
    std::int64_t first_slot = -1;
    for (std::size_t row = 0; row < csv.rows(); ++row) {
        const auto slot = csv.get<std::int64_t>(row, "slot");
        if (first_slot < 0) first_slot = slot;
        if (process.joined_late && slot == first_slot) continue;
        const std::int64_t begin = csv.get<std::int64_t>(row, "begin_ns") + offset_ns;
        const auto [at, fresh] = spans.try_emplace(slot, Span{begin, begin, 0});
        at->second.first = std::min(at->second.first, begin);
        at->second.last = std::max(at->second.last, begin);
        if (seen.insert(slot).second) ++at->second.processes;
    }
}

}  // namespace

std::optional<Skew> measure_skew(const fs::path& noise, std::size_t processes, base::Nanoseconds patience)
{
    constexpr std::int64_t look_ns = 20'000'000;
    const std::int64_t deadline = base::now_ns() + patience.count();
    std::vector<Finished> all = all_finished(noise);
    while (all.size() < processes && base::now_ns() < deadline) {
        base::sleep_until_ns(base::now_ns() + look_ns);
        all = all_finished(noise);
    }
    if (all.size() < processes) return {};

    Skew skew;
    skew.processes = all.size();
    skew.one_clock =
        std::ranges::all_of(all, [&](const Finished& process) { return process.clock == all.front().clock; });
    std::map<std::int64_t, Span> by_slot;
    for (const Finished& process : all) {
        add_begins(process, skew.one_clock ? 0 : process.realtime_offset_ns, by_slot);
        if (skew.one_clock) continue;
        if (!process.clock_error_ns) skew.clock_error_known = false;
        skew.clock_error_ns = std::max(skew.clock_error_ns, 2 * process.clock_error_ns.value_or(0));
    }
    std::vector<std::int64_t> spreads;
    for (const auto& [slot, span] : by_slot)
        if (span.processes == all.size()) spreads.push_back(span.last - span.first);
    if (spreads.empty()) return {};
    std::ranges::sort(spreads);
    skew.slots = spreads.size();
    skew.median_ns = spreads[spreads.size() / 2];
    skew.p99_ns = spreads[(spreads.size() - 1) * 99 / 100];
    skew.worst_ns = spreads.back();
    return skew;
}

void report_skew(const fs::path& noise, std::size_t processes, bool stopped, nlohmann::ordered_json& record,
                 std::ostream* out)
{
    constexpr base::Nanoseconds patience{1'000'000'000};
    constexpr base::Nanoseconds patience_when_stopped{100'000'000};
    const auto skew = measure_skew(noise, processes, stopped ? patience_when_stopped : patience);
    if (!skew) return base::warn("skew of slots unknown: some processes of the job left no record");
    record["skew_ns"] = {{"processes", skew->processes},
                         {"slots", skew->slots},
                         {"median", skew->median_ns},
                         {"p99", skew->p99_ns},
                         {"worst", skew->worst_ns}};
    std::string clocks;
    if (!skew->one_clock) {
        clocks = skew->clock_error_known
                     ? ", +- " + base::format(base::Nanoseconds{skew->clock_error_ns}) + " between their clocks"
                     : ", if their clocks agree (not all are synchronised)";
        record["skew_ns"]["clock_error"] =
            skew->clock_error_known ? nlohmann::ordered_json(skew->clock_error_ns) : nullptr;
    }
    if (!out) return;
    *out << skew->processes << " processes began their slots within "
         << base::format(base::Nanoseconds{skew->median_ns / 1000 * 1000}) << " of each other (99 of 100 within "
         << base::format(base::Nanoseconds{skew->p99_ns / 1000 * 1000}) << clocks << ")\n";
}

}  // namespace noisegen
