// SPDX-License-Identifier: Apache-2.0
// Archives that the recorder writes, read back.
#include "trace-tools/otf2/write/recorder.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/archives/listing.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorded.hpp"

#include <doctest/doctest.h>

#include <thread>

using otf2::Type;

namespace {

using Lines = std::vector<std::string>;

Lines recorded_events(const std::filesystem::path& directory, bool times = false)
{
    otf2::Reader reader{directory / "traces.otf2"};
    otf2::Listing listing{reader.archive(), times};
    reader.read(listing);
    CHECK(reader.archive().problems == Lines{});
    CHECK(reader.problems() == Lines{});
    return listing.lines;
}

struct Flushed {
    std::size_t events = 0;   // enters and leaves of work
    std::size_t flushes = 0;  // OTF2's BufferFlush records
    Lines regions;            // "enter", "leave" of the flush region, in time order
};

// Records visits of a region with memory_bytes of trace memory (0: the default).
Flushed flushed(int visits, std::uint64_t memory_bytes)
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace", std::make_unique<otf2::SoloTeam>(), "process", memory_bytes};
    otf2::LocationRecorder& main = recorder.location("main");
    const otf2::RegionRef region = recorder.region("work");
    for (int i = 0; i < visits; ++i) {
        main.enter(region);
        main.leave(region);
    }
    recorder.finish();
    Flushed result;
    for (const std::string& line : recorded_events(scratch / "trace")) {
        if (line == "process/main: flush") ++result.flushes;
        if (line.ends_with("work")) ++result.events;
        if (line.ends_with("TRACE BUFFER FLUSH")) result.regions.push_back(line.substr(14, 5));
    }
    return result;
}

}  // namespace

TEST_CASE("events come back as they were recorded")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace", std::make_unique<otf2::SoloTeam>(), "trainer"};
    const otf2::RegionRef step = recorder.region("step");
    const otf2::AttributeRef number = recorder.attribute("step", Type::uint64);
    const otf2::AttributeRef change = recorder.attribute("change", Type::int64);
    const otf2::AttributeRef loss = recorder.attribute("loss", Type::real);
    const otf2::AttributeRef level = recorder.attribute("level", Type::text);
    const otf2::MetricRef queue = recorder.metric("queue", "batches", Type::uint64);
    const otf2::MetricRef rate = recorder.metric("rate", "B/s", Type::real);
    const otf2::MetricRef debt = recorder.metric("debt", "ns", Type::int64);
    otf2::LocationRecorder& main = recorder.location("main");
    main.enter(step, 1000, {{number, 3}, {change, -5}, {loss, 0.5}, {level, recorder.text("rate=4GiB/s")}});
    main.metric(queue, 7, 1100);
    main.metric(rate, 2.5e9, 1200);
    main.metric(debt, -40, 1300);
    main.leave(step, 1300);  // equal times are allowed
    recorder.finish();

    CHECK(recorded_events(scratch / "trace", true) ==
          Lines{"1000 trainer/main: enter step step=3 change=-5 loss=0.5 level=rate=4GiB/s",
                "1100 trainer/main: queue is 7 batches", "1200 trainer/main: rate is 2.5e+09 B/s",
                "1300 trainer/main: debt is -40 ns", "1300 trainer/main: leave step"});
}

TEST_CASE("the clock of an archive begins at its first event and is as long as its events")
{
    const testing::Scratch scratch;
    const std::int64_t before_ns = base::now_ns();
    const std::int64_t realtime_ns = before_ns + base::realtime_offset_ns();
    {
        otf2::Recorder recorder{scratch / "trace"};
        const otf2::RegionRef region = recorder.region("work");
        recorder.location("early").enter(region, before_ns);
        recorder.location("late").enter(region, before_ns + 5000);
        recorder.location("never used");
        recorder.finish();
    }
    const otf2::Reader reader{scratch / "trace/traces.otf2"};
    const otf2::Clock& clock = reader.archive().clock;
    CHECK(clock.stated);
    CHECK(clock.ticks_per_s == 1'000'000'000);
    CHECK(clock.begin_ns == before_ns);
    CHECK(clock.length_ns == 5000);
    REQUIRE(clock.realtime_ns.has_value());
    CHECK(std::abs(*clock.realtime_ns - realtime_ns) < 1'000'000'000);
}

TEST_CASE("an archive says whose clock it was recorded with and how that relates to the date")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    otf2::LocationRecorder& main = recorder.location("main");
    main.enter(recorder.region("work"));
    recorder.property("crosstalk::schedule", "memory.stream 2s; quiet 2s\n# \"and so on\"");
    recorder.process_property("crosstalk::role", "noise");
    recorder.finish();

    const otf2::Reader reader{scratch / "trace/traces.otf2"};
    const otf2::Archive& archive = reader.archive();
    const otf2::Location& location = archive.locations.front();
    CHECK(archive.clock_identity(location) == base::clock_identity().text());
    for (const char* name :
         {"crosstalk::realtime_minus_monotonic_start_ns", "crosstalk::realtime_minus_monotonic_end_ns"}) {
        REQUIRE(archive.property(location, name).has_value());
        CHECK(std::abs(std::stoll(*archive.property(location, name)) - base::realtime_offset_ns()) < 1'000'000'000);
    }
    CHECK(archive.property("crosstalk::schedule") == "memory.stream 2s; quiet 2s\n# \"and so on\"");
    CHECK(archive.property(location, "crosstalk::role") == "noise");
    CHECK_FALSE(archive.property("crosstalk::no such").has_value());
    CHECK(location.clock_offsets.size() == 2);
    for (const otf2::ClockOffset& offset : location.clock_offsets) CHECK(offset.offset_ns == 0);
}

TEST_CASE("threads define the same things at the same time and agree")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    constexpr int threads = 4;
    constexpr int visits = 500;
    std::vector<std::thread> team;
    for (int i = 0; i < threads; ++i)
        team.emplace_back([&, i] {
            otf2::LocationRecorder& location = recorder.location("thread " + std::to_string(i));
            for (int visit = 0; visit < visits; ++visit) {
                const otf2::RegionRef region = recorder.region("region " + std::to_string(visit % 7));
                location.enter(region);
                location.leave(region);
            }
        });
    for (std::thread& thread : team) thread.join();
    recorder.finish();
    CHECK(recorded_events(scratch / "trace").size() == threads * visits * 2);
    CHECK(otf2::Reader{scratch / "trace/traces.otf2"}.archive().regions.size() == 7);
}

TEST_CASE("more events than fit into memory are flushed on the way and are all there, and each flush is a region")
{
    constexpr int visits = 30'000;  // more than twice the 256 KiB of memory
    const Flushed result = flushed(visits, 0);
    CHECK(result.events == 2 * visits);
    CHECK(result.flushes == 2);
    CHECK(result.regions == Lines{"enter", "leave", "enter", "leave"});
}

TEST_CASE("with more memory there are fewer flushes, and none if all fits")
{
    CHECK(flushed(30'000, 512 << 10).flushes == 1);
    CHECK(flushed(30'000, 4 << 20).flushes == 0);
}

TEST_CASE("a flush is as long as the time that no event was recorded in")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    otf2::LocationRecorder& main = recorder.location("main");
    const otf2::RegionRef region = recorder.region("work");
    for (int i = 0; i < 30'000; ++i) {
        const std::int64_t now_ns = base::now_ns();
        main.enter(region, now_ns);
        main.leave(region, now_ns);  // may be written after a flush that began later
    }
    recorder.finish();
    struct Order : otf2::Visitor {
        explicit Order(const otf2::Archive& of) : archive{of} {}
        void enter(const otf2::At& at, std::uint32_t entered, const otf2::EventAttributes&) override
        {
            if (archive.regions[entered].name == "work") return;
            CHECK(archive.regions[entered].paradigm == otf2::Paradigm::measurement_system);
            begin_ns = at.time_ns;
        }
        void leave(const otf2::At& at, std::uint32_t left, const otf2::EventAttributes&) override
        {
            if (archive.regions[left].name != "work") length_ns += at.time_ns - begin_ns;
        }
        void buffer_flush(const otf2::At&, std::int64_t until_ns) override { last_ns = until_ns; }
        const otf2::Archive& archive;
        std::int64_t begin_ns = 0;
        std::int64_t length_ns = 0;
        std::int64_t last_ns = 0;
    };
    otf2::Reader reader{scratch / "trace/traces.otf2"};
    Order order{reader.archive()};
    reader.read(order);
    CHECK(order.length_ns > 0);
    CHECK(order.begin_ns < order.last_ns);
}

TEST_CASE("a location that memory has no room for is refused, and the others are recorded")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace", std::make_unique<otf2::SoloTeam>(), "", 600'000};
    const otf2::RegionRef region = recorder.region("work");
    for (const char* name : {"one", "two"}) {
        otf2::LocationRecorder& location = recorder.location(name);
        location.enter(region);
        location.leave(region);
    }
    CHECK_THROWS_WITH_AS(recorder.location("three"),
                         "cannot record on three: no memory left for its events, 256KiB a location", base::Error);
    recorder.finish();
    CHECK(recorded_events(scratch / "trace").size() == 4);
}

TEST_CASE("memory that holds no chunk of events is refused")
{
    const testing::Scratch scratch;
    CHECK_THROWS_WITH_AS((otf2::Recorder{scratch / "trace", std::make_unique<otf2::SoloTeam>(), "", 1000}),
                         "memory of 1kB is too small: at least 256KiB a location", base::Error);
    CHECK_FALSE(std::filesystem::exists(scratch / "trace"));
    CHECK_FALSE(std::filesystem::exists(scratch / "trace.tmp"));
}

TEST_CASE("otf2-print reads what the recorder wrote without a complaint")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    otf2::LocationRecorder& main = recorder.location("main");
    otf2::LocationRecorder& gauge = recorder.location("gauge", otf2::LocationKind::metric);
    {
        const otf2::Scope scope{main, recorder.region("step"), {{recorder.attribute("step", Type::uint64), 1}}};
        gauge.metric(recorder.metric("rate", "B/s", Type::real), 1.0);
    }
    recorder.finish();
    if (testing::run({"sh", "-c", "command -v otf2-print"}).status != 0) {
        testing::skip("no otf2-print (package otf2-tools)");
        return;
    }
    const testing::Outcome outcome = testing::run({"otf2-print", "--silent", scratch / "trace/traces.otf2"});
    CHECK(outcome.status == 0);
    CHECK(outcome.err == "");
}

TEST_CASE("until it is finished there is no archive")
{
    const testing::Scratch scratch;
    {
        otf2::Recorder recorder{scratch / "trace"};
        recorder.location("main").enter(recorder.region("work"));
        CHECK_FALSE(std::filesystem::exists(scratch / "trace"));
    }  // destroyed unfinished, as by an exception
    CHECK_FALSE(std::filesystem::exists(scratch / "trace"));
    CHECK_FALSE(std::filesystem::exists(scratch / "trace.tmp/traces.otf2"));
}

TEST_CASE("a directory with a slash at its end is the same directory to the recorder")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{(scratch / "trace").string() + "/"};
    otf2::LocationRecorder& main = recorder.location("main");
    const otf2::RegionRef region = recorder.region("work");
    main.enter(region);
    main.leave(region);
    recorder.finish();
    CHECK(recorded_events(scratch / "trace").size() == 2);
    CHECK_FALSE(std::filesystem::exists(scratch / "trace/.tmp"));
    CHECK_FALSE(std::filesystem::exists(scratch / "trace.tmp"));
}

TEST_CASE("a recorder that is off records nothing anywhere")
{
    otf2::Recorder recorder = otf2::Recorder::off();
    CHECK_FALSE(recorder.on());
    otf2::LocationRecorder& main = recorder.location("main");
    CHECK_FALSE(main.on());
    const otf2::RegionRef region = recorder.region("step");
    const otf2::Scope scope{main, region, {{recorder.attribute("step", Type::uint64), 1}}};
    main.metric(recorder.metric("rate", "B/s", Type::real), 1.0);
    main.collective_begin(0);
    recorder.property("crosstalk::seed", "1");
    recorder.finish();
}

TEST_CASE("ranks that number their regions differently share one set of definitions")
{
    otf2::ProcessRecord zero;
    zero.regions = {{.name = "load"}, {.name = "step"}};
    zero.texts = {"low"};
    otf2::ProcessRecord one;
    one.regions = {{.name = "step"}, {.name = "only here"}, {.name = "load"}};
    one.texts = {"high", "low"};
    const otf2::Unified unified = otf2::unify({zero, otf2::record_from_bytes(otf2::to_bytes(one))});
    REQUIRE(unified.regions.rows().size() == 3);
    CHECK(unified.numberings[0].regions == std::vector<std::uint32_t>{0, 1});
    CHECK(unified.numberings[1].regions == std::vector<std::uint32_t>{1, 2, 0});
    CHECK(unified.numberings[1].texts == std::vector<std::uint32_t>{1, 0});
}

TEST_CASE("the offset of a clock lies on the line through two comparisons, and before and after them on the nearest")
{
    const std::vector<otf2::ClockOffset> offsets{{.at_ns = 1000, .offset_ns = 100}, {.at_ns = 3000, .offset_ns = 300}};
    CHECK(otf2::on_common_clock(500, offsets) == 550);
    CHECK(otf2::on_common_clock(1000, offsets) == 1100);
    CHECK(otf2::on_common_clock(2000, offsets) == 2200);
    CHECK(otf2::on_common_clock(4000, offsets) == 4400);
    CHECK(otf2::on_common_clock(4000, {}) == 4000);
}
