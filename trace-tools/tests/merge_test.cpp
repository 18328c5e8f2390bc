// A training and noise as one archive: what otf2-print and otf2-marker list of it, and what is refused.
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"
#include "testing/listing.hpp"
#include "testing/raw_archive.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/profile/profile.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // the old events of OpenMP

namespace fs = std::filesystem;

namespace {

testing::Outcome merge(const std::vector<std::string>& archives, const fs::path& out,
                       const std::vector<std::string>& options = {})
{
    std::vector<std::string> words{CROSSTALK_BIN "/trace-merge"};
    words.insert(words.end(), archives.begin(), archives.end());
    words.insert(words.end(), {"-o", out});
    words.insert(words.end(), options.begin(), options.end());
    return testing::run(words);
}

// Two ranks that meet in MPI, one step after the other.
fs::path write_training(const testing::Scratch& scratch)
{
    std::ofstream{scratch / "spec"} << "ranks 2\n"
                                       "clock 1 offset=5ms drift=20\n"
                                       "repeat 20 step {\n"
                                       "  forward 3ms..5ms\n"
                                       "  MPI_Iallreduce 5ms request=grad\n"
                                       "  MPI_Send 0>1 1ms\n"
                                       "  MPI_Wait grad\n"
                                       "}\n";
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", scratch / "spec", "-o", scratch / "train"}).status == 0);
    return scratch / "train/traces.otf2";
}

// As noisegen writes it; slots of 50 ms from 1 s on, where the training begins.
fs::path write_noise(const fs::path& directory, const std::string& clock = "", const std::string& name = "noise 0")
{
    otf2::Recorder recorder{directory, std::make_unique<otf2::SoloTeam>(), name};
    recorder.property("crosstalk::design", "rotation");
    if (!clock.empty()) recorder.process_property("crosstalk::clock_identity", clock);
    const otf2::AttributeRef level = recorder.attribute("level", otf2::Type::text);
    const otf2::MetricRef bytes = recorder.metric("achieved bytes", "bytes/s", otf2::Type::real);
    otf2::LocationRecorder& schedule = recorder.location("schedule");
    otf2::LocationRecorder& cpu = recorder.location("cpu 3");
    const std::int64_t slot_ns = 50'000'000;
    std::int64_t begin_ns = 1'000'000'000;
    for (const char* factor : {"memory.stream", "quiet", "memory.stream"}) {
        schedule.enter(recorder.region(factor), begin_ns, {{level, recorder.text("rate=4GiB/s")}});
        schedule.leave(recorder.region(factor), begin_ns + slot_ns);
        cpu.enter(recorder.region(factor), begin_ns + 100);
        cpu.metric(bytes, 2.5e9, begin_ns + slot_ns / 2);
        cpu.leave(recorder.region(factor), begin_ns + slot_ns);
        begin_ns += slot_ns;
    }
    recorder.finish();
    return directory / "traces.otf2";
}

bool has_otf2_print()
{
    const bool there = testing::run({"sh", "-c", "command -v otf2-print && command -v otf2-marker"}).status == 0;
    if (!there) testing::skip("no otf2-print and otf2-marker here");
    return there;
}

// What otf2-print prints of each event, without the numbers that definitions and locations have; sorted.
std::vector<std::string> printed_events(const std::vector<std::string>& archives)
{
    std::vector<std::string> events;
    for (const std::string& archive : archives) {
        const testing::Outcome outcome = testing::run({"otf2-print", archive});
        REQUIRE(outcome.status == 0);
        std::istringstream lines{outcome.out.substr(outcome.out.find("Timestamp"))};
        std::string line;
        std::getline(lines, line);
        std::getline(lines, line);
        static const std::regex location{"^([A-Z_0-9]+) +[0-9]+ +"};
        static const std::regex number{" <[0-9]+>|Metric: [0-9]+"};
        while (std::getline(lines, line))
            if (!line.empty())
                events.push_back(std::regex_replace(std::regex_replace(line, location, "$1 "), number, ""));
    }
    std::sort(events.begin(), events.end());
    return events;
}

// Those that only one of them has; empty if they are equal.
std::string differences(const std::vector<std::string>& some, const std::vector<std::string>& others)
{
    std::vector<std::string> lines;
    std::set_symmetric_difference(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(lines));
    return base::join_words(lines, "\n");
}

std::string printed_definitions(const fs::path& archive)
{
    return testing::run({"otf2-print", "-G", archive}).out;
}

bool says(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
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
          "trace-merge: --clock-offset: training and noise were recorded on the same clock; leave it out\n");
    CHECK_FALSE(fs::exists(scratch / "merged"));

    const std::string elsewhere = write_noise(scratch / "elsewhere", "another boot");
    CHECK(merge({train, noise, elsewhere}, scratch / "merged", {"--clock-offset", "1s"}).status == 0);
}

namespace {

// A visit from 1.5 s to 1.8 s with a flush of 0.1 s inside.
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
        CHECK(refused.err == "trace-merge: " + noise +
                                 " is noise of noisegen: the training's archive comes first, then the noise's\n");
        CHECK_FALSE(fs::exists(scratch / "merged"));
    }
    REQUIRE(merge({train, noise}, scratch / "merged").status == 0);
    const testing::Outcome again =
        merge({scratch / "merged/traces.otf2", write_noise(scratch / "third")}, scratch / "merged again");
    CHECK(again.err == "");
    CHECK(again.status == 0);
    fs::copy(scratch / "train", scratch / "job", fs::copy_options::recursive);
    CHECK(merge({train, scratch / "job/traces.otf2"}, scratch / "two jobs").status == 0);  // noise of another tool
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
    CHECK(says(refusal({train}), "TRAIN.otf2 NOISE.otf2"));

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

namespace {

// Writes an event, all its numbers `number`.
template <auto write_one>
struct EventOf;
template <class... Arguments,
          OTF2_ErrorCode (*write_one)(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp, Arguments...)>
struct EventOf<write_one> {
    static void write(OTF2_EvtWriter* writer, OTF2_TimeStamp time)
    {
        otf2::check(write_one(writer, nullptr, time, static_cast<Arguments>(1)...), "write an event");
    }
};

// One event of every kind that refers to things, numbered 1, of which each archive has its own; and a metric's.
fs::path write_all_kinds(const fs::path& directory, const std::string& whose)
{
    otf2::RawArchive archive{directory};
    OTF2_EvtWriter* writer = archive.events(0);
    std::uint64_t time = 1000;
#define WRITE(Event) EventOf<OTF2_EvtWriter_##Event>::write(writer, time += 10);
    WRITE(MeasurementOnOff)
    WRITE(Enter)
    WRITE(Leave)
    WRITE(MpiSend)
    WRITE(MpiIsend)
    WRITE(MpiIsendComplete)
    WRITE(MpiIrecvRequest)
    WRITE(MpiRecv)
    WRITE(MpiIrecv)
    WRITE(MpiRequestTest)
    WRITE(MpiRequestCancelled)
    WRITE(MpiCollectiveBegin)
    WRITE(MpiCollectiveEnd)
    WRITE(OmpFork)
    WRITE(OmpJoin)
    WRITE(OmpAcquireLock)
    WRITE(OmpReleaseLock)
    WRITE(OmpTaskCreate)
    WRITE(OmpTaskSwitch)
    WRITE(OmpTaskComplete)
    WRITE(ParameterString)
    WRITE(ParameterInt)
    WRITE(ParameterUnsignedInt)
    WRITE(RmaWinCreate)
    WRITE(RmaWinDestroy)
    WRITE(RmaCollectiveBegin)
    WRITE(RmaCollectiveEnd)
    WRITE(RmaGroupSync)
    WRITE(RmaRequestLock)
    WRITE(RmaAcquireLock)
    WRITE(RmaTryLock)
    WRITE(RmaReleaseLock)
    WRITE(RmaSync)
    WRITE(RmaWaitChange)
    WRITE(RmaPut)
    WRITE(RmaGet)
    WRITE(RmaAtomic)
    WRITE(RmaOpCompleteBlocking)
    WRITE(RmaOpCompleteNonBlocking)
    WRITE(RmaOpTest)
    WRITE(RmaOpCompleteRemote)
    WRITE(ThreadFork)
    WRITE(ThreadJoin)
    WRITE(ThreadTeamBegin)
    WRITE(ThreadTeamEnd)
    WRITE(ThreadAcquireLock)
    WRITE(ThreadReleaseLock)
    WRITE(ThreadTaskCreate)
    WRITE(ThreadTaskSwitch)
    WRITE(ThreadTaskComplete)
    WRITE(ThreadCreate)
    WRITE(ThreadBegin)
    WRITE(ThreadWait)
    WRITE(ThreadEnd)
    WRITE(CallingContextEnter)
    WRITE(CallingContextLeave)
    WRITE(CallingContextSample)
    WRITE(IoCreateHandle)
    WRITE(IoDestroyHandle)
    WRITE(IoDuplicateHandle)
    WRITE(IoSeek)
    WRITE(IoChangeStatusFlags)
    WRITE(IoDeleteFile)
    WRITE(IoOperationBegin)
    WRITE(IoOperationTest)
    WRITE(IoOperationIssued)
    WRITE(IoOperationComplete)
    WRITE(IoOperationCancelled)
    WRITE(IoAcquireLock)
    WRITE(IoReleaseLock)
    WRITE(IoTryLock)
    WRITE(ProgramEnd)
    WRITE(NonBlockingCollectiveRequest)
    WRITE(NonBlockingCollectiveComplete)
    WRITE(CommCreate)
    WRITE(CommDestroy)
#undef WRITE
    const OTF2_StringRef arguments[] = {1, 1};
    otf2::check(OTF2_EvtWriter_ProgramBegin(writer, nullptr, time += 10, 1, 2, arguments), "write an event");
    otf2::check(OTF2_EvtWriter_BufferFlush(writer, nullptr, time + 10, time + 15), "write an event");
    const OTF2_Type types[] = {OTF2_TYPE_DOUBLE, OTF2_TYPE_INT64};
    OTF2_MetricValue values[2] = {};
    values[0].floating_point = 0.5;
    values[1].signed_int = -7;
    otf2::check(OTF2_EvtWriter_Metric(writer, nullptr, time += 20, 1, 2, types, values), "write an event");
    const otf2::AttributeListHandle attributes{OTF2_AttributeList_New()};
    OTF2_AttributeList_AddStringRef(attributes.get(), 1, 1);
    OTF2_AttributeList_AddUint64(attributes.get(), 2, 42);
    OTF2_AttributeList_AddLocationRef(attributes.get(), 3, 0);
    otf2::check(OTF2_EvtWriter_Enter(writer, attributes.get(), time += 10, 1), "write an event");
    archive.end_events();

    OTF2_GlobalDefWriter* definitions = archive.definitions();
    const auto text = [&](const std::string& words) { return archive.text(whose + " " + words); };
    const OTF2_StringRef zero = text("text 0");
    const OTF2_StringRef one = text("text 1");
    REQUIRE(zero == 0);
    REQUIRE(one == 1);
    archive.clock(1000, time - 1000);
    archive.node(0, "node");
    archive.process(0, whose + " process", 0);
    archive.location(0, whose + " thread", 0);
    archive.region(1, whose + " region");
    const OTF2_StringRef name = text("thing");
    const std::uint64_t locations[] = {0, 0};
    const OTF2_MetricMemberRef members[] = {0, 1};
    const auto define = [](OTF2_ErrorCode code) { otf2::check(code, "define"); };
    define(OTF2_GlobalDefWriter_WriteAttribute(definitions, 1, name, name, OTF2_TYPE_STRING));
    define(OTF2_GlobalDefWriter_WriteAttribute(definitions, 2, name, name, OTF2_TYPE_UINT64));
    define(OTF2_GlobalDefWriter_WriteAttribute(definitions, 3, name, name, OTF2_TYPE_LOCATION));
    define(OTF2_GlobalDefWriter_WriteGroup(definitions, 0, name, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                           OTF2_GROUP_FLAG_NONE, 2, locations));
    define(OTF2_GlobalDefWriter_WriteGroup(definitions, 1, name, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                           OTF2_GROUP_FLAG_NONE, 1, locations));
    define(OTF2_GlobalDefWriter_WriteComm(definitions, 1, name, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    define(OTF2_GlobalDefWriter_WriteParameter(definitions, 1, name, OTF2_PARAMETER_TYPE_STRING));
    define(OTF2_GlobalDefWriter_WriteRmaWin(definitions, 1, name, 1, OTF2_RMA_WIN_FLAG_NONE));
    define(OTF2_GlobalDefWriter_WriteMetricMember(definitions, 0, name, name, OTF2_METRIC_TYPE_USER,
                                                  OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL, -3,
                                                  name));
    define(OTF2_GlobalDefWriter_WriteMetricMember(definitions, 1, name, one, OTF2_METRIC_TYPE_USER,
                                                  OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_INT64, OTF2_BASE_DECIMAL, 0,
                                                  name));
    define(OTF2_GlobalDefWriter_WriteMetricClass(definitions, 1, 2, members, OTF2_METRIC_SYNCHRONOUS,
                                                 OTF2_RECORDER_KIND_CPU));
    define(OTF2_GlobalDefWriter_WriteSourceCodeLocation(definitions, 1, name, 17));
    define(OTF2_GlobalDefWriter_WriteCallingContext(definitions, 1, 1, 1, OTF2_UNDEFINED_CALLING_CONTEXT));
    define(OTF2_GlobalDefWriter_WriteInterruptGenerator(definitions, 1, name, OTF2_INTERRUPT_GENERATOR_MODE_TIME,
                                                        OTF2_BASE_DECIMAL, -9, 1000));
    const OTF2_IoParadigmProperty properties[] = {OTF2_IO_PARADIGM_PROPERTY_VERSION};
    const OTF2_Type property_types[] = {OTF2_TYPE_STRING};
    OTF2_AttributeValue property_values[1] = {};
    property_values[0].stringRef = one;
    define(OTF2_GlobalDefWriter_WriteIoParadigm(definitions, 1, name, name, OTF2_IO_PARADIGM_CLASS_SERIAL,
                                                OTF2_IO_PARADIGM_FLAG_NONE, 1, properties, property_types,
                                                property_values));
    define(OTF2_GlobalDefWriter_WriteIoRegularFile(definitions, 1, name, 0));
    define(OTF2_GlobalDefWriter_WriteIoHandle(definitions, 1, name, 1, 1, OTF2_IO_HANDLE_FLAG_NONE, 1,
                                              OTF2_UNDEFINED_IO_HANDLE));
    archive.finish();
    return archive.anchor();
}

}  // namespace

TEST_CASE("events of all kinds survive with what they refer to")
{
    if (!has_otf2_print()) return;
    const testing::Scratch scratch;
    const std::string one = write_all_kinds(scratch / "one", "my");
    const std::string other = write_all_kinds(scratch / "other", "your");
    const testing::Outcome outcome = merge({one, other}, scratch / "merged", {"--clock-offset", "0s"});
    REQUIRE(outcome.err == "");
    const std::string merged = scratch / "merged/traces.otf2";
    const std::vector<std::string> events = printed_events({merged});
    CHECK(differences(events, printed_events({one, other})) == "");
    CHECK(std::count_if(events.begin(), events.end(),
                        [](const std::string& line) { return says(line, "your region"); }) > 3);

    // Each archive's things are still its own, and the same things only once.
    const std::string definitions = printed_definitions(merged);
    for (const char* whose : {"my", "your"})
        for (const char* kind : {"REGION", "PARAMETER", "RMA_WIN", "IO_PARADIGM", "IO_HANDLE", "COMM"})
            CHECK(std::regex_search(definitions, std::regex{base::join("\n", kind, " +[0-9]+ .*", whose, " ")}));
    const std::regex node{"SYSTEM_TREE_NODE +[0-9]+ "};
    CHECK(std::distance(std::sregex_iterator{definitions.begin(), definitions.end(), node}, {}) == 1);
}

namespace {

// Of noise that covered steps 1 to 4 of the 20 of both ranks, step 0 being warm-up.
void write_report(const fs::path& report, const std::string& verdict, const std::string& effects)
{
    fs::create_directories(report);
    base::write_whole(report / "verdict.json", verdict);
    base::write_whole(report / "effects.csv",
                      "factor,level,phase,rank,kind,effect_percent,low_percent,high_percent,p_holm,steps\n" + effects);
    std::string exposure = "rank,step,block,used,reason,memory.stream\n";
    for (int rank = 0; rank < 2; ++rank)
        for (int step = 0; step < 20; ++step)
            exposure +=
                base::join(rank, ",", step, ",0,", step == 0 ? "0,warm-up" : "1,no", ",", step < 5 ? 1.0 : 0.25, "\n");
    base::write_whole(report / "exposure.csv", exposure);
}

// What otf2-marker lists, from `from` on.
std::vector<std::string> printed_markers(const fs::path& archive, const std::string& from)
{
    std::istringstream lines{testing::run({"otf2-marker", archive}).out};
    std::vector<std::string> markers;
    for (std::string line; std::getline(lines, line);)
        if (line.rfind("MARKER ", 0) == 0) markers.push_back(line.substr(line.find(from)));
    return markers;
}

}  // namespace

TEST_CASE("significant effects of a report are markers on the steps that the noise covered")
{
    if (!has_otf2_print()) return;
    const testing::Scratch scratch;
    const std::string train = write_training(scratch);
    const std::string noise = write_noise(scratch / "noise");
    write_report(scratch / "report",
                 R"({"trustworthy": false, "reasons": ["too short", "too noisy"], "budget_percent": 5})",
                 "memory.stream,rate=4GiB/s,forward,1,alone,12.34,10.1,14.5,0.001,9\n"
                 "memory.stream,rate=4GiB/s,step,all,alone,4.0,3.0,6.0,0.049,9\n"
                 "memory.stream,rate=4GiB/s,update,1,alone,1.0,-3.0,5.0,0.2,9\n"
                 "memory.stream,rate=8GiB/s,forward,1,alone,50.0,40.0,60.0,0.001,9\n"
                 "memory.stream*io.write,,step,all,interaction,9.0,8.0,10.0,0.001,9\n");
    const testing::Outcome outcome = merge({train, noise}, scratch / "merged", {"--report", scratch / "report"});
    REQUIRE(outcome.err == "");
    CHECK(says(outcome.out, "3 markers of effects"));

    REQUIRE(
        testing::run({CROSSTALK_BIN "/trace-steps", scratch / "merged/traces.otf2", "-o", scratch / "steps"}).status ==
        0);
    const std::vector<std::string> markers = printed_markers(scratch / "merged/traces.otf2", "Time");
    REQUIRE(markers.size() == 3);
    CHECK(says(markers[0], "Scope: GLOBAL, Text: \"not trustworthy: too short; too noisy\""));

    // Steps 1 to 4 of rank 1, in the first slot; in the third one the noise covered only a quarter of each step.
    otf2::Reader reader{train};
    otf2::Listing listing{reader.archive(), true};
    reader.read(listing);
    const auto time_of = [&](const std::string& what, std::size_t which) {
        for (const std::string& line : listing.lines)
            if (says(line, "MPI Rank 1/") && line.ends_with(what) && which-- == 0) return std::stoll(line);
        return 0LL;
    };
    const long long begin = time_of("enter step step=1", 0);
    const long long end = time_of("leave step", 4);
    CHECK(says(markers[1], base::join("Time: ", begin, ", Duration ", end - begin, ", Scope: LOCATION:3, Text: ",
                                      "\"memory.stream[rate=4GiB/s] +12.3 % [10.1, 14.5] forward\"")));
    CHECK(says(markers[2], "Scope: GLOBAL, Text: \"memory.stream[rate=4GiB/s] +4.0 % [3.0, 6.0] step\""));
    CHECK(testing::run({"otf2-print", "--silent", scratch / "merged/traces.otf2"}).status == 0);

    // Of another run: there are steps that this training does not have.
    base::write_whole(scratch / "report/exposure.csv",
                      base::read_whole(scratch / "report/exposure.csv") + "1,20,0,1,no,1\n");
    const testing::Outcome other = merge({train, noise}, scratch / "merged 2", {"--report", scratch / "report"});
    CHECK(other.status == 1);
    CHECK(says(other.err, "it is the report of another run"));
    CHECK_FALSE(fs::exists(scratch / "merged 2"));
}

TEST_CASE("noise that the report calls unsafe has its markers, significant or not")
{
    if (!has_otf2_print()) return;
    const testing::Scratch scratch;
    const std::string train = write_training(scratch);
    const std::string noise = write_noise(scratch / "noise");
    const auto marked = [&](const std::string& out, const std::string& trust, const std::string& verdict,
                            const std::string& effects) {
        write_report(scratch / out / "report",
                     R"({"budget_percent": 1, "reasons": ["too short"], "trustworthy": )" + trust +
                         R"(, "factors": {"memory.stream": )" + verdict + "}}",
                     effects);
        const testing::Outcome outcome =
            merge({train, noise}, scratch / out / "merged", {"--report", scratch / out / "report"});
        REQUIRE(outcome.err == "");
        return printed_markers(scratch / out / "merged/traces.otf2", "Text");
    };
    const std::string effects =
        "memory.stream,rate=4GiB/s,step,all,alone,56.04,6.7,105.4,1,9\n"
        "memory.stream,rate=4GiB/s,step,all,average,30.0,20.0,40.0,0.01,9\n"
        "memory.stream,rate=4GiB/s,step,1,alone,20.0,6.7,25.4,1,9\n"
        "memory.stream,rate=4GiB/s,forward,all,alone,20.0,6.7,25.4,1,9\n";
    const auto levels = [](const std::string& kind, const std::string& verdict) {
        return R"({"verdict": "safe", "level": "rate=8GiB/s", "kind": "alone", "levels": {"rate=4GiB/s": {"verdict": ")" +
               verdict + R"(", "level": "rate=4GiB/s", "kind": ")" + kind + R"("}}})";
    };
    CHECK(marked("trusted", "true", levels("alone", "unsafe"), effects) ==
          std::vector<std::string>{"Text: \"memory.stream[rate=4GiB/s] +56.0 % [6.7, 105.4] step: unsafe, not "
                                   "significant after Holm's correction\""});
    CHECK(marked("factorial", "true", levels("average", "unsafe"), effects) ==
          std::vector<std::string>{"Text: \"memory.stream[rate=4GiB/s] +30.0 % [20.0, 40.0] step, on average over the "
                                   "other noise: unsafe\""});
    CHECK(marked("undecided", "true", levels("alone", "undecided"), effects).empty());
    const testing::Outcome trusted = testing::run({"otf2-marker", scratch / "trusted/merged/traces.otf2"});
    CHECK(says(trusted.out, "\"crosstalk\""));

    const std::vector<std::string> distrusted = marked("distrusted", "false", levels("alone", "unsafe"), effects);
    REQUIRE(distrusted.size() == 2);
    CHECK(distrusted[0] == "Text: \"not trustworthy: too short\"");
    CHECK(says(testing::run({"otf2-marker", scratch / "distrusted/merged/traces.otf2"}).out,
               "\"crosstalk (not trustworthy)\""));
}
