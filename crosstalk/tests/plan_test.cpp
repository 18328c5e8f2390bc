// SPDX-License-Identifier: Apache-2.0
// Plans: properties of every plan, and dependence on the spec alone.
#include "crosstalk/campaign/plan.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/error.hpp"
#include "crosstalk/campaign/kinds/kind.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

using namespace crosstalk;

namespace {

struct SpecFile {
    Spec read(const std::string& text) const
    {
        std::ofstream{scratch / "spec.ini"} << text;
        return read_spec(scratch / "spec.ini");
    }
    std::string complaint(const std::string& text) const
    try {
        read(text);
        return "";
    } catch (const base::UsageError& error) {
        const std::string what = error.what();
        return what.substr(what.find("spec.ini"));
    }
    testing::Scratch scratch;
};

const std::string study =
    "models = a, b[width=2]   # two\n"
    "ranks = 1, 2\n"
    "noise = memory.stream[rate=1GiB/s|2GiB/s], io.write, placebo\n"
    "cores = 1, all\n"
    "designed = rotation(memory.stream, placebo; slot=auto)\n"
    "repetitions = 3\n";

std::map<int, Plan> by_block(const Plan& plan)
{
    std::map<int, Plan> blocks;
    for (const PlannedRun& run : plan) blocks[run.block].push_back(run);
    return blocks;
}

std::multiset<std::string> treatments_of(const Plan& block)
{
    std::multiset<std::string> all;
    for (const PlannedRun& run : block) all.insert(run.noise + "/" + run.level + "/" + run.cores);
    return all;
}

}  // namespace

TEST_CASE_FIXTURE(SpecFile, "every block holds every treatment once, and a quiet run, for one training")
{
    const std::multiset<std::string> expected{"none//0",
                                              "memory.stream/rate=1GiB/s/1",
                                              "memory.stream/rate=1GiB/s/all",
                                              "memory.stream/rate=2GiB/s/1",
                                              "memory.stream/rate=2GiB/s/all",
                                              "io.write//1",
                                              "io.write//all",
                                              "placebo//1",
                                              "placebo//all",
                                              "designed//1",
                                              "designed//all"};
    const auto blocks = by_block(make_plan(read(study)));
    CHECK(blocks.size() == 12);
    std::map<std::string, int> trainings;
    for (const auto& [block, runs] : blocks) {
        CHECK(treatments_of(runs) == expected);
        for (const PlannedRun& run : runs)
            CHECK(run.model + "/" + std::to_string(run.ranks) ==
                  runs.front().model + "/" + std::to_string(runs.front().ranks));
        ++trainings[runs.front().model + "/" + std::to_string(runs.front().ranks)];
    }
    CHECK(trainings == std::map<std::string, int>{{"a/1", 3}, {"a/2", 3}, {"b[width=2]/1", 3}, {"b[width=2]/2", 3}});
}

TEST_CASE_FIXTURE(SpecFile, "runs have names, seeds and waits of their own")
{
    const Plan plan = make_plan(read(study));
    std::set<std::string> names;
    std::set<std::uint64_t> seeds;
    std::set<std::int64_t> waits;
    for (const PlannedRun& run : plan) {
        names.insert(run.name);
        seeds.insert(run.seed);
        waits.insert(run.wait_ms);
        CHECK(run.wait_ms >= 0);
        CHECK(run.wait_ms <= 2000);
    }
    CHECK(names.size() == plan.size());
    CHECK(seeds.size() == plan.size());
    CHECK(waits.size() > plan.size() / 2);
}

TEST_CASE_FIXTURE(SpecFile, "a plan follows from spec and seed, and another seed gives another order")
{
    Spec spec = read(study);
    const Plan plan = make_plan(spec);
    CHECK(plan == make_plan(read(study)));
    spec.seed = 2;
    const Plan other = make_plan(spec);
    const auto order = [](const Plan& runs) {
        std::vector<std::string> names;
        for (const PlannedRun& run : runs) names.push_back(treatment_name(run));
        return names;
    };
    CHECK(order(plan) != order(other));
}

TEST_CASE_FIXTURE(SpecFile, "over many blocks each treatment stands in each place about equally often")
{
    const Plan plan = make_plan(read("models = a\nnoise = io.write, placebo\nrepetitions = 3000\n"));
    std::map<std::pair<std::string, int>, int> count;
    for (const PlannedRun& run : plan) ++count[{run.noise, run.position}];
    CHECK(count.size() == 9);
    for (const auto& [place, times] : count) CHECK(std::abs(times - 1000) < 130);  // five standard deviations
}

TEST_CASE_FIXTURE(SpecFile, "a plan that was written is read as it was, and kept in a table for people")
{
    const Plan plan = make_plan(read(study));
    write_plan(scratch / "plan.csv", plan);
    CHECK(read_plan(scratch / "plan.csv") == plan);
}

TEST_CASE_FIXTURE(SpecFile, "steady noise repeats a short slot, at the level and with the options given")
{
    const Plan plan = make_plan(read("models = a\nnoise = mem=memory.stream[rate=1GiB/s|2GiB/s,bytes=16MiB]\n"));
    for (const PlannedRun& run : plan) {
        if (run.noise == base::campaign::no_noise) continue;
        CHECK(run.noise == "mem");
        CHECK(run.schedule == "memory.stream[bytes=16MiB," + run.level + "] 500ms");
    }
}

TEST_CASE_FIXTURE(SpecFile, "designed runs alone need no quiet run, and a command no models")
{
    const Plan plan = make_plan(read("command = ./mine --steps 5\ndesigned = rotation(io.write, placebo; slot=1s)\n"));
    CHECK(plan.size() == 5);
    for (const PlannedRun& run : plan) {
        CHECK(run.noise == base::campaign::designed);
        CHECK(run.model == "./mine --steps 5");
        CHECK(run.ranks == 0);
    }
}

TEST_CASE_FIXTURE(SpecFile, "a wrong spec is refused with its line and the right word")
{
    CHECK(complaint("modls = a\n").starts_with("spec.ini line 1: no key 'modls'; did you mean models?"));
    CHECK(complaint("# x\nmodels = a\nduration = long\n").starts_with("spec.ini line 3: duration: "));
    CHECK(complaint("models = a\nmodels = b\n") == "spec.ini line 2: models is given twice");
    CHECK(complaint("models = a\n") == "spec.ini: needs noise, or designed runs");
    CHECK(complaint("models = a\nnoise = io.write\nranks = 3\nnodes = 2\n") ==
          "spec.ini: 3 ranks cannot be divided evenly over 2 nodes");
    CHECK(complaint("command = a\nnoise = io.write\nnodes = 2\n") ==
          "spec.ini: nodes: a command runs on one node only; with more nodes, give models instead");
    CHECK(complaint("noise = io.write\n") == "spec.ini: needs either models (of ddl-train) or a command");
    CHECK(complaint("models = a\nnoise = io.write\nrepetitions = 0\n") ==
          "spec.ini: repetitions must be from 1 to 10000");
    CHECK(complaint("command = a\nranks = 2, 4\nnoise = io.write\n") ==
          "spec.ini: ranks needs models; a command is given complete: mpirun -n 4 ./mine");
    CHECK(complaint("models = a\nstep-line = x\nnoise = io.write\n") ==
          "spec.ini: step-line needs a command; ddl-train records its own steps");
    CHECK(complaint("models = a,,b\nnoise = io.write\n") == "spec.ini: models: empty item next to a comma");
    CHECK(complaint("models\n") == "spec.ini line 1: 'models' is not NAME = VALUE");
    CHECK(complaint("models = a\ndesigned = io.write\n") ==
          "spec.ini: designed: 'io.write' is neither rotation(..) nor factorial(..)");
}

TEST_CASE_FIXTURE(SpecFile, "each combination of the values that options list is a training of its own")
{
    const OptionChoices none = choices_of("--trace off  --steps=3");
    CHECK(none.common == "--trace off --steps=3");
    CHECK(none.combinations == std::vector<std::string>{""});
    const OptionChoices two = choices_of("--a x|y --trace off --b=1|2 --c");
    CHECK(two.common == "--trace off --c");
    CHECK(two.combinations == std::vector<std::string>{"--a x --b=1", "--a x --b=2", "--a y --b=1", "--a y --b=2"});
    CHECK(choices_of("--compress none|gzip=4").combinations ==
          std::vector<std::string>{"--compress none", "--compress gzip=4"});

    const Spec spec = read("models = m\nnoise = io.write\noptions = --a x|y --trace off\nrepetitions = 2\n");
    const Plan plan = make_plan(spec);
    CHECK(plan.size() == 8);
    std::multiset<std::string> treatments;
    for (const PlannedRun& run : plan) treatments.insert(run.options + "/" + run.noise);
    for (const std::string one : {"--a x/none", "--a x/io.write", "--a y/none", "--a y/io.write"})
        CHECK(treatments.count(one) == 2);
    for (const auto& [block, runs] : by_block(plan)) CHECK(runs.front().options == runs.back().options);
    CHECK(complaint("models = m\nnoise = io.write\noptions = --a x||y\n") ==
          "spec.ini: options: empty value in 'x||y'");
}

TEST_CASE_FIXTURE(SpecFile, "another seed replaces the one in a spec's text")
{
    std::ofstream{scratch / "spec.ini"} << "# (1\nmodels = a\nseed = 4\nnoise = io.write\n";
    CHECK(text_of_spec({.spec = scratch / "spec.ini", .seed = 9, .out = {}}) ==
          "# (1\nmodels = a\nnoise = io.write\nseed = 9\n");
}
