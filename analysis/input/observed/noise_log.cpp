// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/observed/noise_log.hpp"

#include "analysis/input/noise_archive.hpp"
#include "base/contract/trace_names.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "trace-tools/otf2/read/confined.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/read/soundness.hpp"
#include "trace-tools/steps/slots.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace analysis {

namespace {

constexpr double first_of_realtime_s = 1e9;  // September 2001; no machine's uptime is that long
constexpr double latest_s = 9e9;
constexpr std::size_t most_episodes = 1'000'000;

// Collects visits of the regions at one depth on every location: 0 is the outermost.
class OuterRegions : public otf2::Visitor {
 public:
    OuterRegions(const otf2::Archive& archive, std::size_t depth)
        : archive_{archive}, depth_{depth}, open_(archive.locations.size())
    {
    }

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        open_[at.location].push_back({region, at.time_ns});
    }

    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        std::vector<Open>& open = open_[at.location];
        if (open.empty() || open.back().region != region) return;
        const Open last = open.back();
        open.pop_back();
        if (open.size() != depth_ || at.time_ns <= last.begin_ns) return;
        if (episodes.size() == most_episodes)
            base::fail("more than ", most_episodes, " visits of outer regions: too many for episodes of noise");
        episodes.push_back({last.begin_ns, at.time_ns, host_of(at.location), archive_.regions[region].name, ""});
    }

    std::vector<Episode> episodes;

 private:
    struct Open {
        std::uint32_t region = 0;
        std::int64_t begin_ns = 0;
    };

    std::string host_of(std::uint32_t location) const
    {
        const std::uint32_t process = archive_.locations[location].process;
        const std::uint32_t node = process == otf2::nowhere ? otf2::nowhere : archive_.processes[process].node;
        return node == otf2::nowhere ? "" : archive_.nodes[node].name;
    }

    const otf2::Archive& archive_;
    std::size_t depth_;
    std::vector<std::vector<Open>> open_;
};

// True if each location has exactly one visit, all of the same region.
bool is_one_around_all(const std::vector<Episode>& episodes, std::size_t locations)
{
    return std::all_of(episodes.begin(), episodes.end(),
                       [&](const Episode& one) { return one.what == episodes.front().what; }) &&
           episodes.size() <= locations;
}

NoiseLog as_scheduled(const std::filesystem::path& archive)
{
    const Noise noise = read_noise(archive);
    NoiseLog log{archive, {}, false, noise.clock, {}};
    for (const Slot& slot : noise.slots)
        for (const Assigned& on : slot.on)
            if (on.role == base::Role::treatment)
                log.episodes.push_back({slot.begin_ns, slot.end_ns, noise.host, on.factor, on.level});
    return log;
}

std::int64_t time_ns(const base::CsvTable& table, std::size_t row, const char* column)
{
    const auto seconds = table.get<double>(row, column);
    if (!std::isfinite(seconds) || seconds < 0.0 || seconds > latest_s)
        base::fail(table.place(row, column), ": ", seconds, " s is neither seconds since 1970 nor CLOCK_MONOTONIC");
    return static_cast<std::int64_t>(std::llround(seconds * 1e9));
}

}  // namespace

NoiseLog read_noise_table(const std::filesystem::path& file)
{
    otf2::now_reading(file);
    const base::CsvTable table{file};
    table.refuse_cut_off();
    for (const char* column : {"begin_s", "end_s", "what"})
        if (!table.has(column))
            base::fail(file.string(), " has no column '", column, "': a noise log has begin_s,end_s,host,what,level");
    NoiseLog log{file, {}, false, "", {}};
    for (std::size_t row = 0; row < table.rows(); ++row) {
        Episode episode{time_ns(table, row, "begin_s"), time_ns(table, row, "end_s"),
                        table.has("host") ? table.text(row, "host") : "", table.text(row, "what"),
                        table.has("level") ? table.text(row, "level") : ""};
        if (episode.end_ns <= episode.begin_ns) base::fail(table.place(row, "end_s"), ": it ends before it begins");
        if (episode.what.empty()) base::fail(table.place(row, "what"), ": empty name of the noise");
        const bool realtime = table.get<double>(row, "begin_s") >= first_of_realtime_s;
        if (!log.episodes.empty() && realtime != log.realtime)
            base::fail(table.place(row, "begin_s"), ": this time is of another clock than those of earlier lines");
        log.realtime = realtime;
        log.episodes.push_back(std::move(episode));
    }
    return log;
}

NoiseLog read_noise_regions(const std::filesystem::path& path)
{
    constexpr otf2::ReadOptions own_clock{.undo_clock_offsets = true};
    otf2::Reader reader{path, own_clock};
    const otf2::Archive& archive = reader.archive();
    if (archive.locations.empty()) base::fail(path.string(), " has no locations: no noise");
    NoiseLog log{path, {}, false, "", {}};
    if (otf2::schedule_location(archive) != otf2::nowhere) {
        log = as_scheduled(path);
    } else {
        for (std::size_t depth = 0; depth < 2; ++depth) {
            OuterRegions outer{archive, depth};
            otf2::read_soundly(reader, outer);
            if (!outer.episodes.empty()) log.episodes = std::move(outer.episodes);
            if (!is_one_around_all(log.episodes, archive.locations.size())) break;
        }
        if (log.episodes.empty()) base::fail(path.string(), " has no regions, so the times of noise are unknown");
        log.clock = archive.clock_identity(archive.locations.front());
    }
    if (const auto known = archive.property(archive.locations.front(), base::property::realtime_at_start))
        log.realtime_minus_clock_ns = base::parse<std::int64_t>(*known);
    return log;
}

}  // namespace analysis
