// SPDX-License-Identifier: Apache-2.0
// --instrument and --trace-steps of the real program: the modules and operators in its trace.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

using testing::Words;

namespace {

// Regions within the steps of the main threads.
class Regions : public otf2::Visitor {
 public:
    explicit Regions(const otf2::Archive& archive)
        : seq{archive.find_attribute("seq")}, archive_{archive}, open_(archive.locations.size())
    {
    }

    struct Visit {
        std::string name;
        std::string phase;
        std::uint64_t step = 0;
        std::optional<std::uint64_t> seq;
    };
    std::vector<Visit> visits;
    std::optional<std::uint32_t> seq;
    std::map<std::string, std::string> metrics;  // description of each metric that has values
    bool sound = true;
    std::size_t events = 0;  // events of the first rank's main thread

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
    {
        if (at.location == 0) ++events;
        const std::string& name = archive_.regions.at(region).name;
        std::vector<std::string>& open = open_.at(at.location);
        open.push_back(name);
        if (name == "step") step_ = *attributes.number(*archive_.find_attribute("step"));
        if (archive_.locations.at(at.location).name == "main" && open.size() > 2)
            visits.push_back({name, open[1], step_, seq ? attributes.number(*seq) : std::nullopt});
    }
    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        if (at.location == 0) ++events;
        std::vector<std::string>& open = open_.at(at.location);
        sound = sound && !open.empty() && open.back() == archive_.regions.at(region).name;
        if (sound) open.pop_back();
    }
    void metric(const otf2::At&, std::uint32_t metric, const otf2::MetricValue&) override
    {
        metrics[archive_.metrics.at(metric).name] = archive_.metrics.at(metric).description;
    }

    bool has(const std::string& name) const
    {
        return std::any_of(visits.begin(), visits.end(), [&](const Visit& visit) { return visit.name == name; });
    }
    // Nodes of backward whose sequence number no operator of forward has.
    std::set<std::string> unpaired() const
    {
        std::set<std::uint64_t> forward;
        std::set<std::string> nodes;
        for (const Visit& visit : visits)
            if (visit.seq && visit.phase == "forward") forward.insert(*visit.seq);
        for (const Visit& visit : visits)
            if (visit.seq && visit.phase != "forward" && !forward.contains(*visit.seq)) nodes.insert(visit.name);
        return nodes;
    }
    std::set<std::uint64_t> steps_with(const std::string& name) const
    {
        std::set<std::uint64_t> steps;
        for (const Visit& visit : visits)
            if (visit.name == name) steps.insert(visit.step);
        return steps;
    }

 private:
    const otf2::Archive& archive_;
    std::vector<std::vector<std::string>> open_;
    std::uint64_t step_ = 0;
};

Regions traced(const testing::Scratch& scratch, int ranks, Words options)
{
    options.insert(options.end(), {"--steps", "6", "--batch", "2"});
    const testing::TrainRun run =
        ranks == 1 ? testing::train_alone(scratch / "run", options) : testing::train(ranks, scratch / "run", options);
    INFO(run.err);
    REQUIRE(run.status == 0);
    CHECK(base::CsvTable{scratch / "run/train/steps.csv"}.rows() == static_cast<std::size_t>(6 * ranks));
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    Regions regions{reader.archive()};
    reader.read_by_location(regions);
    CHECK(reader.problems().empty());
    CHECK(regions.sound);
    return regions;
}

using Steps = std::set<std::uint64_t>;
const Steps all_steps{0, 1, 2, 3, 4, 5};

}  // namespace

TEST_CASE("a trace of modules shows the layers in both directions in the steps that were asked for")
{
    const testing::Scratch scratch;
    const Regions regions = traced(scratch, 1,
                                   {"--model", "synthetic[layers=2,bytes=4kB,flops=1e4]", "--data",
                                    "synthetic[samples=80]", "--instrument", "L1", "--trace-steps", "1:5:2"});
    CHECK(regions.steps_with("layer 1") == Steps{1, 3});
    std::map<std::string, int> phases;
    for (const Regions::Visit& visit : regions.visits)
        if (visit.name == "layer 0") ++phases[visit.phase];
    CHECK(phases == std::map<std::string, int>{{"forward", 2}, {"backward", 2}});
    CHECK(regions.metrics.contains("gradient_norm"));
    for (const auto& [name, description] : regions.metrics) CHECK(description.find("source: ") != std::string::npos);
}

TEST_CASE("details without a trace and steps without details are refused")
{
    const testing::Scratch scratch;
    const auto refused = [&](const Words& options) {
        const testing::TrainRun run = testing::train_alone(scratch / "run", options);
        CHECK(run.status == 2);
        CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
    };
    refused({"--instrument", "L4"});
    refused({"--instrument", "L2", "--trace", "off"});
    refused({"--trace-steps", "1:2"});
    refused({"--instrument", "L1", "--trace-steps", "2:1"});
}

#ifdef CROSSTALK_DDL_TORCH
TEST_CASE("level one shows modules and no operators")
{
    const testing::Scratch scratch;
    const Regions regions =
        traced(scratch, 1, {"--model", "resnet18[width=2]", "--data", "synthetic[samples=80]", "--instrument", "L1"});
    for (const char* module : {"stem", "stage 0 block 0", "stage 3 block 1", "head"})
        CHECK(regions.steps_with(module) == all_steps);
    CHECK_FALSE(regions.has("aten::conv2d"));
}

TEST_CASE("level two shows operators that pair forward with backward by their numbers")
{
    const testing::Scratch scratch;
    const Regions regions = traced(scratch, 2,
                                   {"--model", "resnet18[width=2]", "--data", "synthetic[samples=80]", "--strategy",
                                    "ddp[first=1kB,cap=8kB]", "--instrument", "L2"});
    CHECK(regions.steps_with("aten::conv2d") == all_steps);
    CHECK_FALSE(regions.has("aten::convolution"));  // called by conv2d
    for (const Regions::Visit& visit : regions.visits)
        CHECK_FALSE(visit.name.starts_with("autograd::engine::evaluate_function"));
    CHECK(regions.unpaired() == std::set<std::string>{"NllLossBackward0"});  // created by aten::cross_entropy_loss
    CHECK(regions.steps_with("ConvolutionBackward0") == all_steps);
}

TEST_CASE("operators of a transformer take at most 14 bytes an event")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "text", std::string(4000, 'a'));
    const Regions regions = traced(scratch, 1,
                                   {"--model", "gpt[layers=4,width=16,heads=2]", "--data",
                                    "text[path=" + (scratch / "text").string() + ",length=12]", "--strategy",
                                    "ddp[view=no]", "--instrument", "L2"});
    CHECK(regions.events > 9'000);
    CHECK(std::filesystem::file_size(scratch / "run/train/trace/traces/0.evt") <= 14 * regions.events);
}

TEST_CASE("level three shows operators inside operators in the steps that were asked for")
{
    const testing::Scratch scratch;
    const Regions regions = traced(
        scratch, 2,
        {"--model", "mlp[hidden=8]", "--data", "synthetic[samples=80]", "--instrument", "L3", "--trace-steps", "2:4"});
    CHECK(regions.steps_with("aten::cross_entropy_loss") == Steps{2, 3});
    CHECK(regions.steps_with("aten::nll_loss") == Steps{2, 3});  // called by aten::cross_entropy_loss
    CHECK(regions.steps_with("AddmmBackward0") == Steps{2, 3});
    CHECK(regions.unpaired().empty());
    CHECK(testing::run({CROSSTALK_BIN "/trace-info", scratch / "run/train/trace/traces.otf2"}).out.find("none found") !=
          std::string::npos);
}
#endif
