// SPDX-License-Identifier: Apache-2.0
// Tests of reading the files of a run in progress.
#include "analysis/input/run_so_far.hpp"

#include "analysis/cli/run_files.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <filesystem>

TEST_CASE("a run without phases of controls and without a record yet is read with its slots and pauses")
{
    const testing::Scratch scratch;
    const auto write = [&](const char* name, const char* text) {
        std::filesystem::create_directories((scratch / name).parent_path());
        base::write_whole(scratch / name, text);
    };
    write("train/steps.csv", "rank,step,begin_ns,end_ns\n0,7,100,200\n1,7,100,200\n0,8,200,300\n");
    write("noise/node1.0/noise.json", R"({"design": "rotation", "slot_ns": 1000, "begin_ns": 50})");
    write("noise/node1.0/noise.csv",
          "slot,block,position,factor,level,stressor,role,begin_ns,end_ns\n"
          "0,0,0,control.pause,,control.pause,pause,51,1049\n1,0,1,quiet,,,,1050,2049\n");
    write("noise/node1.0/pauses.csv",
          "slot,factor,level,cpu,begin_ns,end_ns\n0,control.pause,,1,160,180\n0,control.pause,,1,110,120\n");
    const analysis::RunSoFar run = analysis::read_so_far(scratch.path());
    CHECK(run.steps.phases.empty());
    REQUIRE(run.steps.ranks.size() == 1);
    CHECK(run.steps.ranks.front().begin_ns.size() == 2);
    REQUIRE(run.slots.size() == 2);
    CHECK(run.slots[0].begin_ns == 50);
    CHECK(run.slots[1].end_ns == 2050);
    REQUIRE(run.stopped.size() == 2);
    CHECK(run.stopped[0].begin_ns == 110);
    CHECK(analysis::overlap_ns(100, 170, run.stopped) == 20);
}

TEST_CASE("a run says itself whether it ends when all is decided, and at which budget")
{
    const testing::Scratch scratch;
    CHECK(analysis::looks_at(scratch.path()) == analysis::Looks::none);
    CHECK_FALSE(analysis::recorded_budget(scratch.path()));
    const auto record = [&](const char* text) { base::write_whole(scratch / "request.json", text); };
    record(R"({"until": "decided", "budget": "5%"})");
    CHECK(analysis::looks_at(scratch.path()) == analysis::Looks::on_the_way);
    CHECK(analysis::recorded_budget(scratch.path()) == "5%");
    record(R"({"until": "decided", "reached_its_end": true})");
    CHECK(analysis::looks_at(scratch.path()) == analysis::Looks::at_the_end);
    record(R"({"until": "decided", "reached_its_end": "true"})");
    CHECK(analysis::looks_at(scratch.path()) == analysis::Looks::on_the_way);
    for (const char* other : {R"({"until": "", "budget": 5, "reached_its_end": true})", R"({"until": 1})", "{}"}) {
        record(other);
        CHECK(analysis::looks_at(scratch.path()) == analysis::Looks::none);
        CHECK_FALSE(analysis::recorded_budget(scratch.path()));
    }
}
