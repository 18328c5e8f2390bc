// SPDX-License-Identifier: Apache-2.0
// A table of trials from a spec: all combinations, in blocks that contain null and positive trials.
#include "crosstalk/campaign/trials/trial_plan.hpp"

#include "base/contract/trials.hpp"
#include "base/error.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace {

crosstalk::TrialSpec spec_of(const std::string& text)
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "spec.ini"} << text;
    return crosstalk::read_trial_spec(scratch / "spec.ini");
}

const std::string small =
    "kind = soft-errors\nmoments = 10, 20\nend = 30\nbits = 1, 2-8\ntargets = model, optimizer\nguards = none, range\n"
    "trials = 3\ncontrols = 2\nblocks = 4\n";

}  // namespace

TEST_CASE("each block of trials holds each combination as often, and null and positive ones of each moment and guard")
{
    const std::vector<base::Trial> trials = crosstalk::make_trials(spec_of(small));
    // The expected number: 2 moments x 2 guards x (2 bits x 2 targets x 3 + 2 null + 2 positive) x 4 blocks.
    CHECK(trials.size() == 2 * 2 * (2 * 2 * 3 + 4) * 4);
    std::map<std::string, int> counts;
    std::set<std::string> names;
    std::set<std::uint64_t> seeds;
    for (const base::Trial& one : trials) {
        ++counts[base::join(one.block, one.kind, one.step, one.guard,
                            one.kind == "trial" ? one.bits + one.target : "")];
        names.insert(one.name);
        seeds.insert(one.seed);
        CHECK(one.step + one.steps == 30);
    }
    CHECK(names.size() == trials.size());
    CHECK(seeds.size() == trials.size());
    for (const auto& [what, count] : counts)
        CHECK_MESSAGE(count == (what.find("trial") == std::string::npos ? 2 : 3), what);
    CHECK(crosstalk::make_trials(spec_of(small)) == trials);
    CHECK(crosstalk::make_trials(spec_of(small + "seed = 2\n")) != trials);
}

TEST_CASE("stored weights are crossed by moment, code, detection, rate and reads, without guards and bits")
{
    const std::string more =
        "stores = fp32, int8\ndetects = none, both\nrates = 1e-9, 1e-3, 1e-2\nreads = once, each\n"
        "stored-trials = 2\n";
    const std::vector<base::Trial> trials = crosstalk::make_trials(spec_of(small + more));
    std::map<std::string, int> counts;
    for (const base::Trial& one : trials) {
        if (one.kind != "stored") continue;
        ++counts[base::join(one.block, " ", one.step, one.store, one.detect, one.rate, one.reads)];
        CHECK(one.guard == "none");
        CHECK(one.step + one.steps == 30);
    }
    CHECK(counts.size() == 4 * 2 * 2 * 2 * 3 * 2);  // blocks, moments, codes, detections, rates, reads
    for (const auto& [what, count] : counts) CHECK_MESSAGE(count == 2, what);
    CHECK(trials.size() == 2 * 2 * (2 * 2 * 3 + 4) * 4 + counts.size() * 2);

    const std::string alone = "kind = soft-errors\nmoments = 30\nend = 30\nstores = gray\ntrials = 0\nblocks = 2\n";
    for (const base::Trial& one : crosstalk::make_trials(spec_of(alone))) {
        CHECK(one.kind != "trial");
        CHECK(one.steps == 0);
    }
    std::ostringstream out;
    crosstalk::print_trials(out, spec_of(alone), crosstalk::make_trials(spec_of(alone)));
    CHECK(out.str().find("10 trials of each store, detection, rate and reads") != std::string::npos);
    const testing::Scratch scratch;
    crosstalk::make_trial_directory(scratch / "plan", alone, crosstalk::make_trials(spec_of(alone)));
    CHECK(base::read_trials(scratch / "plan" / "trials.csv") == crosstalk::make_trials(spec_of(alone)));
}

TEST_CASE("the specs of soft errors that come along are planned")
{
    const auto trials_of = [](const std::string& name) {
        return crosstalk::make_trials(
                   crosstalk::read_trial_spec(std::string{CROSSTALK_SOURCE} + "/jobscripts/specs/" + name))
            .size();
    };
    // Expected: 2 moments, 5 blocks: (2 bits x 2 targets x 20 + 2 null + 2 positive); (8 codes x 4 detections x 8 rates
    // + 1 + 1)
    CHECK(trials_of("soft-errors.ini") == 2 * 5 * (2 * 2 * 20 + 4));
    CHECK(trials_of("stored-weights.ini") == 2 * 5 * (8 * 4 * 8 + 2));
}

TEST_CASE("planned trials are read as they were written")
{
    const testing::Scratch scratch;
    const std::vector<base::Trial> trials = crosstalk::make_trials(spec_of(small));
    crosstalk::make_trial_directory(scratch / "plan", small, trials);
    CHECK(base::read_trials(scratch / "plan" / "trials.csv") == trials);
    CHECK_THROWS_AS(crosstalk::make_trial_directory(scratch / "plan", small, trials), base::UsageError);
}

TEST_CASE("a plan of trials says what they take and how well they tell")
{
    const crosstalk::TrialSpec spec = spec_of(small + "strategies = ddp, cycle\ntrial-time = 10s\nhalf-width = 5%\n");
    std::ostringstream out;
    crosstalk::print_trials(out, spec, crosstalk::make_trials(spec));
    // 256 trials x 2 x 10 s = 1.42 h; each target and guard has 192 / 4 = 48 trials.
    CHECK(out.str().find("256 trials in 4 blocks for each of 2 strategies, about 1.42 hours") != std::string::npos);
    CHECK(out.str().find("48 trials of each target and guard") != std::string::npos);
    CHECK(out.str().find("5 points take 381 trials") != std::string::npos);
}

TEST_CASE("a spec of trials that makes no sense is refused")
{
    for (const auto& [line, why] :
         std::map<std::string, std::string>{{"moments = 31", "after the end"},
                                            {"targets = weights", "not one of model, optimizer, both"},
                                            {"seeds = 7", "seeds must be from 8"},
                                            {"half-width = 60%", "half-width"},
                                            {"momnets = 3", "did you mean moments?"},
                                            {"trials = 0", "trials must be from 1"},
                                            {"stores = int8, grey", "did you mean gray?"},
                                            {"detects = parties", "not one of none, parity, range, both"},
                                            {"bits = 1, 99", "not a range within 0-63"},
                                            {"altered-ranks = 0, 2", "no rank 2 of 2"},
                                            {"reads = twice", "not one of once, each"},
                                            {"rates = 1e-6, 2", "from 0 to 1, not 2"}}) {
        const std::string kind = "kind = soft-errors\nend = 30\nmoments = 10\n";
        const std::string text = line.starts_with("moments") ? "kind = soft-errors\nend = 30\n" : kind;
        CHECK_THROWS_WITH_AS(spec_of(text + line + "\n"), doctest::Contains(why.c_str()), base::UsageError);
    }
}
