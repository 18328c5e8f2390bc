// SPDX-License-Identifier: Apache-2.0
// End-to-end tests of trace-info.
#include "base/files.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;

namespace {

const std::string program = std::string{CROSSTALK_BIN} + "/trace-info";

bool has_line(const std::string& text, const std::vector<std::string>& words)
{
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        const std::string line = text.substr(begin, end - begin);
        std::size_t at = 0;
        bool all = true;
        for (const std::string& word : words) {
            at = line.find(word, at);
            if (at == std::string::npos) {
                all = false;
                break;
            }
        }
        if (all) return true;
        begin = end + 1;
    }
    return false;
}

}  // namespace

TEST_CASE("trace-info tells what is in an archive")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace", std::make_unique<otf2::SoloTeam>(), "noise"};
    otf2::LocationRecorder& main = recorder.location("cpu 4");
    const otf2::RegionRef outer = recorder.region("memory");
    const otf2::RegionRef inner = recorder.region("quiet");
    main.enter(outer, 1'000'000);
    main.enter(inner, 2'000'000);
    main.leave(inner, 4'000'000);
    main.metric(recorder.metric("achieved", "B/s", otf2::Type::real), 5.0, 4'500'000);
    main.leave(outer, 11'000'000);
    recorder.property("crosstalk::seed", "17");
    recorder.finish();

    const testing::Outcome outcome = testing::run({program, scratch / "trace/traces.otf2"});
    CHECK(outcome.status == 0);
    CHECK(outcome.err == "");
    CHECK(has_line(outcome.out, {"written by", "crosstalk"}));
    CHECK(has_line(outcome.out, {"1000000000 ticks/s", "begins at 1000000 ns", "10.000 ms long"}));
    CHECK(has_line(outcome.out, {"CROSSTALK::SEED", "17"}));
    CHECK(has_line(outcome.out, {"crosstalk::clock_identity", base::clock_identity().text()}));
    CHECK(has_line(outcome.out, {"noise / cpu 4", "CPU thread", "5", "0.000", "10.000", "0"}));
    CHECK(has_line(outcome.out, {"memory", "user", "1", "10.000", "10.000", "10.000", "8.000"}));
    CHECK(has_line(outcome.out, {"quiet", "user", "1", "2.000", "2.000", "2.000", "2.000"}));
    CHECK(has_line(outcome.out, {"achieved", "B/s", "1", "5", "5", "5"}));
    CHECK(has_line(outcome.out, {"none found"}));
}

TEST_CASE("trace-info reads the real archives of other tools")
{
    const fs::path traces = fs::path{CROSSTALK_SOURCE} / "../shared/traces";
    if (!fs::exists(traces)) {
        testing::skip("no real archives in ../shared/traces");
        return;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator{traces}) {
        if (!fs::exists(entry.path() / "traces.otf2")) continue;
        const testing::Outcome outcome = testing::run({program, entry.path() / "traces.otf2"});
        CHECK(outcome.status == 0);
        CHECK(outcome.err == "");
        CHECK(has_line(outcome.out, {"written by", "Score-P"}));
        CHECK(has_line(outcome.out, {"MPI_COMM_WORLD"}));
    }
}

TEST_CASE("trace-info --check says of real archives that they are sound")
{
    const fs::path traces = fs::path{CROSSTALK_SOURCE} / "../shared/traces";
    if (!fs::exists(traces)) {
        testing::skip("no real archives in ../shared/traces");
        return;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator{traces}) {
        if (!fs::exists(entry.path() / "traces.otf2")) continue;
        const testing::Outcome outcome = testing::run({program, "--check", entry.path() / "traces.otf2"});
        CHECK(outcome.status == 0);
        CHECK(outcome.out == "sound\n");
    }
}

TEST_CASE("trace-info --check tells each problem once and exits with 1, without --check with 0")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    const otf2::RegionRef region = recorder.region("never left");
    for (const char* name : {"one", "two"}) recorder.location(name).enter(region, 1000);
    recorder.finish();
    fs::remove(scratch / "trace/traces/0.evt");

    const testing::Outcome outcome = testing::run({program, "--check", scratch / "trace/traces.otf2"});
    CHECK(outcome.status == 1);
    CHECK(outcome.err == "");
    CHECK(outcome.out ==
          "problem: no events of trace-tests / one\n"
          "problem: 1 events are present, 2 are defined\n"
          "odd: 1 regions are never left; assumed to end at the last event\n"
          "not sound\n");
    CHECK(testing::run({program, scratch / "trace/traces.otf2"}).status == 0);
}

TEST_CASE("trace-info --json tells all that the text tells, whatever the threads")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    const otf2::RegionRef work = recorder.region("work");
    for (const char* name : {"one", "t\xffwo"}) {
        otf2::LocationRecorder& location = recorder.location(name);
        location.enter(work, 1000);
        location.leave(work, 3000);
    }
    recorder.finish();

    const testing::Outcome outcome = testing::run({program, "--json", "--threads", "2", scratch / "trace/traces.otf2"});
    CHECK(outcome.status == 0);
    CHECK(testing::run({program, "--json", "--threads", "1", scratch / "trace/traces.otf2"}).out == outcome.out);
    const nlohmann::json json = nlohmann::json::parse(outcome.out);
    CHECK(json["sound"] == true);
    CHECK(json["problems"].empty());
    CHECK(json["clock"]["ticks_per_s"] == 1'000'000'000);
    CHECK(json["locations"].size() == 2);
    CHECK(json["locations"][1]["name"] == "t\uFFFDwo");
    CHECK(json["locations"][1]["events"] == 2);
    CHECK(json["regions"][0]["visits"] == 2);
    CHECK(json["regions"][0]["inclusive_ns"]["sum"] == 4000);
    CHECK(testing::run({program, "--threads", "0", scratch / "trace/traces.otf2"}).status == 2);
}

TEST_CASE("of counters that accumulate their growth is reported")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    const otf2::MetricRef read = recorder.metric("read", "B", otf2::Type::uint64, otf2::MetricMode::accumulated_start);
    const otf2::MetricRef once =
        recorder.metric("reported once", "B", otf2::Type::uint64, otf2::MetricMode::accumulated_start);
    for (const char* name : {"one", "two"}) {
        otf2::LocationRecorder& location = recorder.location(name);
        for (const std::int64_t time_s : {1, 2, 5})
            location.metric(read, static_cast<std::uint64_t>(1000 * time_s), time_s * 1'000'000'000);
    }
    recorder.location("one").metric(once, std::uint64_t{7}, 6'000'000'000);
    recorder.finish();

    const std::string anchor = scratch / "trace/traces.otf2";
    CHECK(has_line(testing::run({program, anchor}).out, {"read", "B", "6", "-", "-", "-", "8000", "2000"}));
    for (const char* threads : {"1", "2"}) {
        const testing::Outcome outcome = testing::run({program, "--json", "--threads", threads, anchor});
        const nlohmann::json metrics = nlohmann::json::parse(outcome.out)["metrics"];
        CHECK(metrics[0]["growth"] == 8000.0);
        CHECK(metrics[0]["growth_per_s"] == 2000.0);
        CHECK(metrics[0]["mean"].is_null());
        CHECK(metrics[1]["growth"] == 0.0);
        CHECK(metrics[1]["growth_per_s"].is_null());
    }
}

TEST_CASE("trace-info says in one line why it cannot read")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "x.otf2", "no archive");
    for (const char* name : {"x.otf2", "missing.otf2"}) {
        const testing::Outcome outcome = testing::run({program, scratch / name});
        CHECK(outcome.status == 1);
        CHECK(outcome.out == "");
        CHECK(outcome.err.find("trace-info: cannot read trace ") == 0);
        CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
    }
    CHECK(testing::run({program}).status == 2);
}
