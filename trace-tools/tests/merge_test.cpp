// SPDX-License-Identifier: Apache-2.0
// Training and noise merged into one archive: what otf2-print and otf2-marker show of it, and what is refused.
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/archives/listing.hpp"
#include "testing/archives/merged_archives.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/profile/profile.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>

namespace fs = std::filesystem;
using testing::differences;
using testing::has_otf2_print;
using testing::merge;
using testing::printed_definitions;
using testing::printed_events;
using testing::says;
using testing::write_noise;
using testing::write_training;

namespace {

// Writes a visit from 1.5 s to 1.8 s with a flush of 0.1 s inside.
fs::path write_visit(const fs::path& directory, const std::string& whose, std::uint64_t ticks_per_s)
{
    otf2::RawArchive archive{directory};
    const std::uint64_t tenth = ticks_per_s / 10;
    archive.enter(0, 15 * tenth, 0);
    otf2::check(OTF2_EvtWriter_BufferFlush(archive.events(0), nullptr, 16 * tenth, 17 * tenth), "write an event");
    archive.leave(0, 18 * tenth, 0);
    archive.end_events();
    archive.clock(15 * tenth, 3 * tenth, ticks_per_s);
    archive.node(0, "node");
    archive.process(0, whose, 0);
    archive.location(0, "main", 0);
    archive.region(0, whose + " visit");
    archive.finish();
    return archive.anchor();
}

}  // namespace

TEST_CASE("a merged archive holds every event of training and noise at its common time")
{
    if (!has_otf2_print()) return;
    const testing::Scratch scratch;
    const std::string train = write_training(scratch);
    const std::string noise = write_noise(scratch / "noise");
    const testing::Outcome outcome = merge({train, noise}, scratch / "merged/here");
    REQUIRE(outcome.err == "");
    REQUIRE(outcome.status == 0);
    const std::string merged = scratch / "merged/here/traces.otf2";
    const std::vector<std::string> events = printed_events({merged});
    CHECK(events.size() > 300);

    // The directory of a run stands for its archives.
    fs::create_directories(scratch / "run/train");
    fs::create_directories(scratch / "run/noise/node.0");
    fs::copy(fs::path{train}.parent_path(), scratch / "run/train/trace", fs::copy_options::recursive);
    fs::copy(fs::path{noise}.parent_path(), scratch / "run/noise/node.0/trace", fs::copy_options::recursive);
    REQUIRE(merge({(scratch / "run").string()}, scratch / "merged/run").err == "");
    CHECK(printed_events({scratch / "merged/run/traces.otf2"}) == events);

    CHECK(differences(events, printed_events({train, noise})) == "");
    CHECK(testing::run({CROSSTALK_BIN "/trace-info", "--check", merged}).out == "sound\n");
}

TEST_CASE("noise is a process of the training's node, above it, and its rates are the node's")
{
    if (!has_otf2_print()) return;
    const testing::Scratch scratch;
    const fs::path train = write_training(scratch);
    const fs::path noise = write_noise(scratch / "noise");
    REQUIRE(merge({train, noise}, scratch / "merged").status == 0);
    const otf2::Archive archive = otf2::Reader{scratch / "merged/traces.otf2"}.archive();
    const otf2::Archive of_train = otf2::Reader{train}.archive();
    REQUIRE(archive.processes.size() == 3);
    CHECK(archive.processes[0].name == "noise on " + of_train.nodes[1].name);
    CHECK(archive.processes[1].name == "MPI Rank 0");
    CHECK(archive.nodes.size() == of_train.nodes.size());
    for (const otf2::Process& process : archive.processes) CHECK(process.node == 1);
    CHECK(archive.communicators.at(0).members == std::vector<std::uint32_t>{2, 3});
    CHECK(archive.property("crosstalk::design") == "rotation");
    const std::string definitions = printed_definitions(scratch / "merged/traces.otf2");
    CHECK(std::regex_search(definitions,
                            std::regex{"METRIC_INSTANCE +1 +Class: 0, Recorder: \"cpu 3\" <1>, Scope: SYSTEM_TREE_NODE "
                                       "\"node::" +
                                       of_train.nodes[1].name + "\" <1>"}));
}

TEST_CASE("threads that trace-os watched keep their name beside noise and training")
{
    if (!has_otf2_print()) return;
    const testing::Scratch scratch;
    const std::string train = write_training(scratch);
    const std::string noise = write_noise(scratch / "noise");
    const fs::path os = scratch / "os";
    otf2::Recorder recorder{os, std::make_unique<otf2::SoloTeam>(), "threads on node"};
    recorder.property("crosstalk::watches", "threads");
    otf2::LocationRecorder& thread = recorder.location("program 4711");
    thread.enter(recorder.region("neighbour: taker"), 1'010'000'000);
    thread.leave(recorder.region("neighbour: taker"), 1'020'000'000);
    recorder.finish();

    REQUIRE(merge({train, os / "traces.otf2", noise}, scratch / "merged").err == "");
    const std::string merged = scratch / "merged/traces.otf2";
    const otf2::Archive archive = otf2::Reader{merged}.archive();
    REQUIRE(archive.processes.size() == 4);
    CHECK(archive.processes[0].name == "threads on node");
    CHECK(archive.processes[1].name.starts_with("noise on "));
    CHECK(archive.processes[2].name == "MPI Rank 0");
    CHECK(differences(printed_events({merged}), printed_events({train, noise, os / "traces.otf2"})) == "");
}

TEST_CASE("a merged archive begins with the first event of all and knows its date")
{
    const testing::Scratch scratch;
    const auto record = [&](const char* name, std::int64_t begin_ns, std::int64_t end_ns) {
        otf2::Recorder recorder{scratch / name};
        otf2::LocationRecorder& main = recorder.location("main");
        main.enter(recorder.region(name), begin_ns);
        main.leave(recorder.region(name), end_ns);
        recorder.finish();
        return (scratch / name / "traces.otf2").string();
    };
    const std::string train = record("train", 5'000, 9'000);
    const std::string noise = record("noise", 2'000, 12'000);
    REQUIRE(merge({train, noise}, scratch / "merged").status == 0);
    const otf2::Clock clock = otf2::Reader{scratch / "merged/traces.otf2"}.archive().clock;
    CHECK(clock.begin_ns == 2'000);
    CHECK(clock.length_ns == 10'000);
    CHECK(*clock.realtime_ns == *otf2::Reader{train}.archive().clock.realtime_ns - 3'000);
}

TEST_CASE("wait states of a merged archive are the training's")
{
    const testing::Scratch scratch;
    const fs::path train = write_training(scratch);
    const fs::path noise = write_noise(scratch / "noise");
    REQUIRE(merge({train, noise}, scratch / "merged").status == 0);
    const auto waits = [&](const fs::path& archive, const std::string& out) {
        REQUIRE(testing::run({CROSSTALK_BIN "/trace-waits", archive, "-o", scratch / out}).status == 0);
        return base::read_whole(scratch / out / "waits.csv") + base::read_whole(scratch / out / "pop.csv");
    };
    CHECK(waits(scratch / "merged/traces.otf2", "of merged") == waits(train, "of train"));
}

TEST_CASE("noise beside a rank has the clock of that rank's node")
{
    const testing::Scratch scratch;
    synth::ThreadMeeting meeting{2};
    synth::on_each_rank(meeting, [&](int rank) {
        const auto clock = [rank, at = std::int64_t{0}]() mutable {
            return otf2::ClockOffset{.at_ns = at += 1000, .offset_ns = rank * 700};
        };
        otf2::Recorder recorder{scratch / "train", std::make_unique<synth::ThreadTeam>(rank, meeting, clock)};
        recorder.process_property("crosstalk::clock_identity", rank == 0 ? "boot a" : "boot b");
        otf2::LocationRecorder& main = recorder.location("main");
        main.enter(recorder.region("step"), 1'000'000'000);
        main.leave(recorder.region("step"), 1'000'001'000);
        recorder.finish();
    });
    const std::string train = scratch / "train/traces.otf2";
    const std::string noise_a = write_noise(scratch / "a", "boot a");
    const std::string noise_b = write_noise(scratch / "b", "boot b", "noise 1");
    REQUIRE(merge({train, noise_a, noise_b}, scratch / "merged").status == 0);
    otf2::Reader reader{scratch / "merged/traces.otf2"};
    otf2::Listing listing{reader.archive(), true};
    reader.read(listing);
    const std::string noise = reader.archive().processes[0].name;
    REQUIRE(listing.lines.size() == 34);
    CHECK(listing.lines[0] == "1000000000 " + noise + "/schedule: enter memory.stream level=rate=4GiB/s");
    CHECK(listing.lines[2] == "1000000100 " + noise + "/cpu 3: enter memory.stream");
    CHECK(listing.lines[3] == "1000000700 " + noise + " (2)/schedule: enter memory.stream level=rate=4GiB/s");
    CHECK(listing.lines[4] == "1000000700 MPI Rank 1/main: enter step");
}

TEST_CASE("archives of unknown clocks are refused unless their difference is stated")
{
    const testing::Scratch scratch;
    const std::string train = write_training(scratch);
    const std::string noise = write_noise(scratch / "noise", "another boot");
    const testing::Outcome refused = merge({train, noise}, scratch / "merged");
    CHECK(refused.status == 1);
    CHECK(says(refused.err, "trace-merge: training and noise were recorded on two different clocks ("));
    CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
    CHECK_FALSE(fs::exists(scratch / "merged"));
    CHECK_FALSE(fs::exists(scratch / "merged.tmp"));

    REQUIRE(merge({train, noise}, scratch / "merged", {"--clock-offset", "-5ms"}).status == 0);
    otf2::Reader reader{scratch / "merged/traces.otf2"};
    otf2::Listing listing{reader.archive(), true};
    reader.read(listing);
    CHECK(reader.archive().clock.begin_ns == 995'000'000);
    CHECK(listing.lines[0] ==
          "995000000 " + reader.archive().processes[0].name + "/schedule: enter memory.stream level=rate=4GiB/s");
}

TEST_CASE("an offset between noise and training on one clock is refused")
{
    const testing::Scratch scratch;
    const std::string train = write_training(scratch);
    const std::string noise = write_noise(scratch / "noise");
    const testing::Outcome refused = merge({train, noise}, scratch / "merged", {"--clock-offset", "1s"});
    CHECK(refused.status == 2);
    CHECK(refused.err ==
          "trace-merge: --clock-offset: omit it, since training and noise were recorded on the same clock\n");
    CHECK_FALSE(fs::exists(scratch / "merged"));

    const std::string elsewhere = write_noise(scratch / "elsewhere", "another boot");
    CHECK(merge({train, noise, elsewhere}, scratch / "merged", {"--clock-offset", "1s"}).status == 0);
}

TEST_CASE("noise that counts other ticks is on the training's time line")
{
    const testing::Scratch scratch;
    const fs::path train = write_visit(scratch / "train", "training", 1'000'000'000);
    const fs::path noise = write_visit(scratch / "noise", "noise", 1'000);
    const auto merged = [&](const fs::path& first, const fs::path& second, const fs::path& out) {
        const testing::Outcome outcome = merge({first, second}, out, {"--clock-offset", "0s"});
        CHECK(outcome.err == "");
        REQUIRE(outcome.status == 0);
        otf2::Reader reader{out / "traces.otf2"};
        otf2::Listing listing{reader.archive(), true};
        reader.read(listing);
        return listing.lines;
    };
    CHECK(merged(train, noise, scratch / "fine") ==
          std::vector<std::string>{
              "1500000000 noise on node/main: enter noise visit", "1500000000 training/main: enter training visit",
              "1600000000 noise on node/main: flush", "1600000000 training/main: flush",
              "1800000000 noise on node/main: leave noise visit", "1800000000 training/main: leave training visit"});
    CHECK(merged(noise, train, scratch / "coarse").size() == 6);
    if (!has_otf2_print()) return;
    const std::string flushes = testing::run({"otf2-print", scratch / "coarse/traces.otf2"}).out;
    CHECK(says(flushes, "Stop Time: 1700"));
    CHECK_FALSE(says(flushes, "Stop Time: 17000"));
}

TEST_CASE("noise where the training belongs is refused, but a merged archive takes more noise")
{
    const testing::Scratch scratch;
    const std::string train = write_training(scratch);
    const std::string noise = write_noise(scratch / "noise");
    for (const std::string& second : {train, write_noise(scratch / "more").string()}) {
        const testing::Outcome refused = merge({noise, second}, scratch / "merged");
        CHECK(refused.status == 2);
        CHECK(refused.err ==
              "trace-merge: " + noise + " is noise of noisegen: give the training's archive first, then the noise's\n");
        CHECK_FALSE(fs::exists(scratch / "merged"));
    }
    REQUIRE(merge({train, noise}, scratch / "merged").status == 0);
    const testing::Outcome again =
        merge({scratch / "merged/traces.otf2", write_noise(scratch / "third")}, scratch / "merged again");
    CHECK(again.err == "");
    CHECK(again.status == 0);
    fs::copy(scratch / "train", scratch / "job", fs::copy_options::recursive);
    CHECK(merge({train, scratch / "job/traces.otf2"}, scratch / "two jobs").status == 0);  // as noise of another tool
}

TEST_CASE("noise at another time than the training is reported, and merged")
{
    const testing::Scratch scratch;
    const auto record = [&](const char* name, std::int64_t begin_s, std::int64_t end_s) {
        otf2::Recorder recorder{scratch / name};
        otf2::LocationRecorder& main = recorder.location("main");
        main.enter(recorder.region(name), begin_s * 1'000'000'000);
        main.leave(recorder.region(name), end_s * 1'000'000'000);
        recorder.finish();
        return (scratch / name / "traces.otf2").string();
    };
    const std::string train = record("train", 1000, 1010);
    const std::string before = record("before", 800, 820);
    const std::string after = record("after", 1012, 1020);
    const std::string beside = record("beside", 1010, 1020);
    const testing::Outcome outcome = merge({train, before, after, beside}, scratch / "merged");
    CHECK(outcome.status == 0);
    CHECK(outcome.err == "trace-merge: " + before +
                             ": does not overlap the training: it ends 180.000 s before the training begins\n"
                             "trace-merge: " +
                             after + ": does not overlap the training: it begins 2.000 s after the training ends\n");
    CHECK(otf2::Reader{scratch / "merged/traces.otf2"}.archive().clock.length_ns == 220'000'000'000);
}

TEST_CASE("nothing is written over and nothing half is left")
{
    const testing::Scratch scratch;
    const std::string train = write_training(scratch);
    const std::string noise = write_noise(scratch / "noise");
    const auto refusal = [&](const std::vector<std::string>& archives) {
        const testing::Outcome outcome = merge(archives, scratch / "merged");
        CHECK(outcome.status != 0);
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
        CHECK_FALSE(fs::exists(scratch / "merged"));
        CHECK_FALSE(fs::exists(scratch / "merged.tmp"));
        return outcome.err;
    };
    CHECK(says(refusal({train, noise, noise}), "is named twice"));
    CHECK(says(refusal({train, scratch / "nothing.otf2"}), "no such file"));
    CHECK(says(refusal({train}), "give the directory of a run, or the noise's archives after the training's"));
    fs::create_directory(scratch / "empty");
    CHECK(says(refusal({scratch / "empty"}), "is not the directory of a run: it has no "));

    const fs::path events = scratch / "noise/traces/4294967296.evt";
    const std::string whole = base::read_whole(events);
    base::write_whole(events, whole.substr(0, whole.size() / 2));
    CHECK(says(refusal({train, noise}), "4294967296.evt is cut off"));
    base::write_whole(events, whole);

    const std::string anchor = base::read_whole(train);
    base::write_whole(train, anchor.substr(0, anchor.size() / 2));
    CHECK(says(refusal({train, noise}), "cannot read trace " + train));
    base::write_whole(train, anchor);

    fs::create_directory(scratch / "merged");
    const testing::Outcome outcome = merge({train, noise}, scratch / "merged");
    CHECK(outcome.status == 2);
    CHECK(says(outcome.err, "is already there"));
    CHECK(fs::is_empty(scratch / "merged"));
}

TEST_CASE("a disk that is full while archives are merged leaves none")
{
    const testing::Scratch scratch;
    const auto record = [&](const char* name) {
        otf2::Recorder recorder{scratch / name};
        otf2::LocationRecorder& main = recorder.location("main");
        for (int i = 0; i < 100'000; ++i) {
            main.enter(recorder.region(name));
            main.leave(recorder.region(name));
        }
        recorder.finish();
        return (scratch / name / "traces.otf2").string();
    };
    const std::string train = record("train");
    const std::string noise = record("noise");
    const testing::Outcome outcome =
        testing::run({"bash", "-c", "trap '' XFSZ; ulimit -f 1000; exec " CROSSTALK_BIN "/trace-merge \"$@\"", "bash",
                      train, noise, "-o", scratch / "merged/here"});
    CHECK(outcome.status == 1);
    CHECK(says(outcome.err, "trace-merge: " + train + ", location main: cannot write events: "));
    CHECK_FALSE(fs::exists(scratch / "merged"));
    CHECK_FALSE(fs::exists(scratch / "merged.tmp"));
}

TEST_CASE("a disk that is full when definitions are merged is reported")
{
    const testing::Scratch scratch;
    const std::string noise = write_noise(scratch / "noise");
    otf2::Recorder recorder{scratch / "train"};
    otf2::LocationRecorder& main = recorder.location("main");
    for (int i = 0; i < 1'000; ++i) {
        const otf2::RegionRef region = recorder.region(base::join(std::string(200, 'x'), i));
        main.enter(region);
        main.leave(region);
    }
    recorder.finish();
    const testing::Outcome outcome =
        testing::run({"bash", "-c", "trap '' XFSZ; ulimit -f 100; exec " CROSSTALK_BIN "/trace-merge \"$@\"", "bash",
                      scratch / "train/traces.otf2", noise, "-o", scratch / "merged"});
    CHECK(outcome.status == 1);
    CHECK(outcome.err == "trace-merge: cannot write definitions: File is too large\n");
    CHECK_FALSE(fs::exists(scratch / "merged"));
}
