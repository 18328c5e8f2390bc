// SPDX-License-Identifier: Apache-2.0
// Events spilled to a file are delivered in time order, as by OTF2's own reader, whichever thread sorts them.
#include "base/error.hpp"
#include "testing/archives/listing.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/archives/small_archives.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/aside/events_aside.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/write/recorded.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace fs = std::filesystem;
using testing::small_archive;

namespace {

enum class Helper { none, now_and_then, always };

// Sorts lines "TIME PLACE: .." by time and place: OTF2 and Crosstalk order simultaneous events of several locations
// differently.
std::vector<std::string> by_place_at_each_time(std::vector<std::string> lines)
{
    const auto place = [](const std::string& line) {
        const std::size_t space = line.find(' ');
        return std::pair{std::stoll(line.substr(0, space)), line.substr(space, line.find(": ") - space)};
    };
    std::stable_sort(lines.begin(), lines.end(),
                     [&](const std::string& one, const std::string& other) { return place(one) < place(other); });
    return lines;
}

// Checks that OTF2's own reader, our merge and the file of spilled events list the same events in time order.
void check_orders(const fs::path& anchor)
{
    otf2::Reader direct{anchor};
    otf2::Reader merging{anchor, {.most_open_bytes = 0}};
    otf2::Listing ordered{direct.archive(), true};
    otf2::Listing merged{merging.archive(), true};
    direct.read(ordered);
    merging.read(merged);
    CHECK(!ordered.lines.empty());
    CHECK(by_place_at_each_time(ordered.lines) == by_place_at_each_time(merged.lines));
    CHECK(direct.problems() == merging.problems());

    for (const Helper helper : {Helper::none, Helper::now_and_then, Helper::always}) {
        otf2::Listing by_location{direct.archive()};
        otf2::Listing by_another{direct.archive()};
        const std::vector<otf2::Visitor*> two{&by_location, &by_another};
        otf2::EventsAside aside{direct, two};
        otf2::Listing from_there{direct.archive(), true};
        std::atomic<bool> over = false;
        std::thread beside{[&] {
            while (helper == Helper::now_and_then && !over) aside.help();
        }};
        aside.read(from_there, helper == Helper::always);
        over = true;
        beside.join();
        CHECK(merged.lines == from_there.lines);
        CHECK(by_location.lines.size() + by_another.lines.size() == ordered.lines.size());
    }
}

}  // namespace

TEST_CASE("events put aside are as OTF2's own reader gives them, in its order, whoever helps")
{
    const testing::Scratch scratch;
    {
        otf2::Recorder recorder{scratch / "kinds"};
        const otf2::RegionRef region = recorder.region("work");
        const otf2::AttributeRef whole = recorder.attribute("whole", otf2::Type::uint64, "");
        const otf2::AttributeRef negative = recorder.attribute("negative", otf2::Type::int64, "");
        const otf2::AttributeRef real = recorder.attribute("real", otf2::Type::real, "");
        const otf2::AttributeRef words = recorder.attribute("words", otf2::Type::text, "");
        const otf2::MetricRef metric = recorder.metric("change", "B", otf2::Type::int64);
        for (const char* name : {"one", "two", "three"}) {
            otf2::LocationRecorder& location = recorder.location(name);
            for (std::int64_t i = 0; i < 2'000; ++i) {
                location.enter(region, 1'000'000 * i,
                               {{whole, std::uint64_t{3}}, {negative, -i}, {real, 0.1 * static_cast<double>(i)}});
                location.metric(metric, -5 * i, 1'000'000 * i + 1);
                location.leave(region, 1'000'000 * i + 500'000 + i % 7, {{words, recorder.text(name)}});
            }
        }
        recorder.finish();
    }
    check_orders(scratch / "kinds/traces.otf2");
    std::ofstream{scratch / "spec"} << R"(ranks 5
clock 1 offset=21ms drift=40
repeat 300 step {
  work 1ms..9ms
  MPI_Bcast 1ms root=3 bytes=70kB
  MPI_Iallreduce 5ms request=one
  MPI_Isend 1>0 1ms..7ms request=two
  MPI_Send 0>2 1ms tag=70000
  MPI_Wait one
  MPI_Wait two
}
)";
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", scratch / "spec", "-o", scratch / "mpi"}).status == 0);
    check_orders(scratch / "mpi/traces.otf2");
}

TEST_CASE("events of real archives, put aside, are as OTF2's own reader gives them, whoever helps")
{
    for (const char* name : {"casita-4_mpi_ls_barr", "casita-2_cuda_simple", "pipit-ping-pong-papi"}) {
        const fs::path anchor = fs::path{CROSSTALK_SOURCE} / "../shared/traces" / name / "traces.otf2";
        if (!fs::exists(anchor)) return testing::skip("no real archives in ../shared/traces");
        check_orders(anchor);
    }
}

TEST_CASE("of events of one tick what must come first does")
{
    const testing::Scratch scratch;
    {
        otf2::Recorder recorder{scratch / "tick"};
        const otf2::RegionRef receive = recorder.region("MPI_Recv", otf2::RegionRole::point_to_point);
        const otf2::RegionRef send = recorder.region("MPI_Send", otf2::RegionRole::point_to_point);
        otf2::LocationRecorder& one = recorder.location("one");
        otf2::LocationRecorder& two = recorder.location("two");
        otf2::LocationRecorder& stream =
            recorder.location("stream", {.kind = otf2::LocationKind::accelerator_stream, .accelerator = "GPU"});
        recorder.speaks_mpi(one);
        const otf2::Message message{.peer = 0, .communicator = recorder.communicator(otf2::world_communicator, {0})};
        one.enter(receive, 5);
        one.receive(10, message);
        one.leave(receive, 10);
        two.enter(send, 10);
        two.send(10, message);
        two.leave(send, 10);
        stream.enter(send, 5);
        stream.leave(send, 10);
        stream.enter(receive, 10);
        stream.leave(receive, 12);
        recorder.finish();
    }
    otf2::Reader reader{scratch / "tick/traces.otf2", {.most_open_bytes = 0}};
    otf2::Listing listing{reader.archive()};
    reader.read(listing);
    std::vector<std::string> places;
    for (const std::string& line : listing.lines) {
        const std::size_t what = line.find(": ") + 2;
        const std::size_t place = line.rfind('/', what) + 1;
        places.push_back(line.substr(place, line.find(' ', what) - place));
    }
    CHECK(places == std::vector<std::string>{"one: enter", "stream: enter", "stream: leave", "two: enter", "two: send",
                                             "two: leave", "stream: enter", "one: receive", "one: leave",
                                             "stream: leave"});
}

TEST_CASE("events of one nanosecond come in the order of the clock's ticks, those of one tick by their locations")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "ties"};
    constexpr std::uint64_t ticks_per_s = 3'000'000'000;
    const std::vector<std::uint64_t> locations{7, 2, 5};  // in definition order
    for (const std::uint64_t location : locations)
        for (std::uint64_t i = 0; i < 300; ++i) {
            const std::uint64_t tick = 9'000 + location % 3 + 2 * i - i % 2;
            if (i % 2 == 0)
                archive.enter(location, tick, 0);
            else
                archive.leave(location, tick, 0);
        }
    archive.end_events();
    archive.clock(9'000, 1'000, ticks_per_s);
    archive.node(0, "node");
    archive.process(0, "process", 0);
    for (const std::uint64_t location : locations) archive.location(location, std::to_string(location), 0);
    archive.region(0, "work");
    archive.finish();
    check_orders(archive.anchor());
}

TEST_CASE("where events cannot be put aside the archive is read again")
{
    const testing::Scratch scratch;
    const fs::path anchor = small_archive(scratch) / "traces.otf2";
    otf2::Reader reader{anchor};
    otf2::Listing ordered{reader.archive(), true};
    reader.read(ordered);
    const char* const found = std::getenv("TMPDIR");
    const std::string before = found != nullptr ? found : "";
    ::setenv("TMPDIR", "/proc", 1);
    otf2::Visitor nobody;
    otf2::Visitor* const alone = &nobody;
    otf2::EventsAside aside{reader, {&alone, 1}};
    if (before.empty())
        ::unsetenv("TMPDIR");
    else
        ::setenv("TMPDIR", before.c_str(), 1);
    otf2::Listing again{reader.archive(), true};
    aside.read(again);
    CHECK(ordered.lines == again.lines);
}

TEST_CASE("what a visitor throws comes out of the reading")
{
    const testing::Scratch scratch;
    const fs::path directory = small_archive(scratch);
    struct Impatient : otf2::Visitor {
        void leave(const otf2::At&, std::uint32_t, const otf2::EventAttributes&) override
        {
            throw base::UsageError{"enough"};
        }
    };
    otf2::Reader reader{directory / "traces.otf2"};
    Impatient impatient;
    CHECK_THROWS_WITH_AS(reader.read(impatient), "enough", base::UsageError);
    CHECK_THROWS_WITH_AS(reader.read_by_location(impatient), "enough", base::UsageError);
    otf2::Visitor patient;
    const std::vector<otf2::Visitor*> both{&patient, &impatient};
    CHECK_THROWS_WITH_AS(otf2::EventsAside(reader, std::span{both}.subspan(1)), "enough", base::UsageError);
    for (const bool with_a_thread : {false, true})
        CHECK_THROWS_WITH_AS(otf2::EventsAside(reader, std::span{both}.first(1)).read(impatient, with_a_thread),
                             "enough", base::UsageError);
}
