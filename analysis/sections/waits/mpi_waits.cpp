// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/waits/mpi_waits.hpp"

#include "analysis/input/step_work/numbered_rows.hpp"
#include "base/contract/trace_names.hpp"
#include "trace-tools/otf2/mpi_calls.hpp"
#include "trace-tools/otf2/ranks.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/replay/imbalance.hpp"
#include "trace-tools/replay/mpi_replay.hpp"
#include "trace-tools/replay/pop.hpp"
#include "trace-tools/steps/step_region.hpp"

#include <algorithm>
#include <map>

namespace analysis {

namespace {

double in_seconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e9;
}

// Sums of each wait state, by step.
class PatternSums {
 public:
    explicit PatternSums(const StepTable& steps) : steps_{steps.numbers.size()}, place_of_{steps.numbers} {}

    void add(const replay::WaitKey& key, const replay::WaitSum& sum)
    {
        PatternWaits& waits = found_[key.pattern];
        waits.state = &replay::wait_state(key.pattern);
        waits.seconds += in_seconds(sum.ns);
        waits.ms_of_step.resize(steps_);
        const std::size_t step = place_of_(key.step);
        if (step < steps_) waits.ms_of_step[step] += 1e3 * in_seconds(sum.ns);
    }

    std::vector<PatternWaits> finished(double ranks, double all_s)
    {
        std::vector<PatternWaits> all;
        for (auto& [pattern, waits] : found_) {
            waits.percent = 100.0 * waits.seconds / all_s;
            for (std::size_t i = 0; i < steps_; ++i) waits.ms_of_step[i] /= ranks;
            all.push_back(std::move(waits));
        }
        return all;
    }

 private:
    std::size_t steps_;
    PlaceOfStep place_of_;
    std::map<replay::Pattern, PatternWaits> found_;
};

std::vector<PathPart> path_of(const replay::MpiReplay& replay, const otf2::Archive& archive)
{
    const std::vector<std::int64_t> ranks = otf2::ranks_of_locations(archive);
    const replay::CriticalPath path = replay.critical_path();
    std::map<std::pair<std::uint32_t, std::int64_t>, PathPart> parts;
    const auto part = [&](const replay::PathKey& key) -> PathPart& { return parts[{key.where, ranks[key.location]}]; };
    for (const auto& [key, ns] : path.ns) part(key).seconds += in_seconds(ns);
    for (const auto& [key, seconds] : replay::critical_path_imbalance(path, replay)) part(key).imbalance_s += seconds;
    for (const auto& [key, seconds] : path.delay) part(key).delay_cost_s += seconds;
    for (const auto& [key, seconds] : path.indirect_delay) part(key).indirect_s += seconds;
    std::vector<PathPart> all;
    for (auto& [key, one] : parts) {
        one.region = key.first == otf2::nowhere ? "(outside of regions)" : archive.regions[key.first].name;
        one.rank = key.second;
        all.push_back(std::move(one));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const PathPart& a, const PathPart& b) { return a.seconds > b.seconds; });
    return all;
}

}  // namespace

std::optional<MpiWaits> read_mpi_waits(otf2::Reader& reader, const StepTable& steps, const std::string& step_region)
{
    reader.set({.most_open_bytes = 0});  // reorders events with equal times by their causality
    const otf2::Archive& archive = reader.archive();
    const bool has_mpi = std::any_of(archive.regions.begin(), archive.regions.end(), otf2::is_mpi_call);
    if (!has_mpi) return std::nullopt;
    const bool numbered = step_region.empty() || archive.find_attribute(base::attribute::step).has_value();
    const std::uint32_t region = numbered ? otf2::nowhere : otf2::step_region_named(archive, step_region);
    PatternSums sums{steps};
    replay::MpiReplay replay{reader,
                             {.critical_path = true, .step_region = region},
                             [&](const replay::WaitKey& key, const replay::WaitSum& sum) { sums.add(key, sum); }};
    reader.read(replay);
    replay.finish();
    if (replay.ranks() == 0) return std::nullopt;
    double all_s = 0.0;
    for (const replay::MpiTimes& times : replay.times())
        if (times.counts()) all_s += in_seconds(times.run_ns);
    MpiWaits waits;
    waits.patterns = sums.finished(static_cast<double>(replay.ranks()), all_s);
    if (const auto found = replay::efficiencies(replay.times()))
        waits.efficiencies = {{"parallel_efficiency", found->parallel()},
                              {"load_balance", found->load_balance},
                              {"communication_efficiency", found->communication()},
                              {"serialisation_efficiency", found->serialisation},
                              {"transfer_efficiency", found->transfer}};
    if (replay.joined()) waits.path = path_of(replay, archive);
    return waits;
}

}  // namespace analysis
