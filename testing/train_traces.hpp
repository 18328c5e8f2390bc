// SPDX-License-Identifier: Apache-2.0
// Small trainings, and the steps in their archives.
#pragma once

#include "base/contract/control_file.hpp"
#include "base/csv.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "testing/train_runs.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace testing {

// Options of a training with steps of some milliseconds that needs neither Torch nor a data set.
inline Words small(Words more = {})
{
    Words words{"--model", "emulated[compute=4ms,gradients=64kB,buckets=2]", "--data", "synthetic[samples=160]"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// Trainings that must succeed.
inline TrainRun trained(int ranks, const std::filesystem::path& out, const Words& options)
{
    TrainRun run = train(ranks, out, options);
    REQUIRE_MESSAGE(run.status == 0, run.err);
    return run;
}
inline TrainRun trained_alone(const std::filesystem::path& out, const Words& options)
{
    TrainRun run = train_alone(out, options);
    REQUIRE_MESSAGE(run.status == 0, run.err);
    return run;
}

inline std::size_t lines(const std::string& text)
{
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

// Steps and phases of the main threads in an archive, and whether every ENTER has its LEAVE.
class StepsOfTrace : public otf2::Visitor {
 public:
    explicit StepsOfTrace(const otf2::Archive& archive) : archive_{archive}, open_(archive.locations.size()) {}

    struct Step {
        std::int64_t begin_ns = 0;
        std::int64_t end_ns = 0;
        std::map<std::string, std::int64_t> phase_ns;
    };
    std::map<std::pair<std::uint32_t, std::uint64_t>, Step> steps;  // by process and number
    std::map<std::string, int> regions;
    std::map<std::string, int> metrics;
    std::map<std::string, std::uint64_t> exchanged_bytes;  // by location's name
    // By step and process: time from the step's start to its first ready bucket.
    std::map<std::uint64_t, std::map<std::uint32_t, std::int64_t>> first_ready;
    std::vector<std::pair<std::uint32_t, std::int64_t>> delays;  // process, length
    bool balanced = true;
    bool monotone = true;

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
    {
        const std::string& name = archive_.regions.at(region).name;
        look_at_time(at);
        open_[at.location].push_back({name, at.time_ns});
        ++regions[name];
        if (name == "step") {
            const std::uint64_t number = attributes.number(*archive_.find_attribute("step")).value();
            current_[at.location] = &steps[{archive_.locations.at(at.location).process, number}];
            current_[at.location]->begin_ns = at.time_ns;
        }
        if (name == "bucket_ready" && attributes.number(*archive_.find_attribute("bucket")) == 0U)
            first_ready[attributes.number(*archive_.find_attribute("step")).value()]
                       [archive_.locations.at(at.location).process] = at.time_ns - current_[at.location]->begin_ns;
        if (name == "bucket_exchange")
            exchanged_bytes[archive_.locations.at(at.location).name] +=
                attributes.number(*archive_.find_attribute("bytes")).value();
    }

    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        const std::string& name = archive_.regions.at(region).name;
        look_at_time(at);
        auto& open = open_[at.location];
        balanced = balanced && !open.empty() && open.back().first == name;
        if (!balanced) return;
        const std::int64_t length = at.time_ns - open.back().second;
        open.pop_back();
        if (name == "step") current_[at.location]->end_ns = at.time_ns;
        if (name == "injected_delay") delays.emplace_back(archive_.locations.at(at.location).process, length);
        if (open.size() == 1 && open.back().first == "step") current_[at.location]->phase_ns[name] += length;
    }

    void metric(const otf2::At&, std::uint32_t metric, const otf2::MetricValue&) override
    {
        ++metrics[archive_.metrics.at(metric).name];
    }

    bool all_closed() const
    {
        return balanced && std::ranges::all_of(open_, [](const auto& open) { return open.empty(); });
    }

 private:
    void look_at_time(const otf2::At& at)
    {
        monotone = monotone && at.time_ns >= last_[at.location];
        last_[at.location] = at.time_ns;
    }

    const otf2::Archive& archive_;
    std::vector<std::vector<std::pair<std::string, std::int64_t>>> open_;
    std::map<std::uint32_t, Step*> current_;
    std::map<std::uint32_t, std::int64_t> last_;
};

inline void ask(base::ControlPage& page, base::ControlRequest request, std::int64_t slot_end_ns = INT64_MAX)
{
    page.request = static_cast<std::uint32_t>(request);
    page.slot_end_ns = slot_end_ns;
    page.on_until_ns = INT64_MAX;
}

}  // namespace testing
