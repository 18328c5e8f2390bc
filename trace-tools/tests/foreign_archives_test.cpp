// SPDX-License-Identifier: Apache-2.0
// Sound archives that differ from ours: other tools, older and newer OTF2, another byte order.
#include "base/files.hpp"
#include "testing/archives/listing.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/read/cut_off.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/profile/profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace fs = std::filesystem;

namespace {

// Writes the events of location 0: one visit of region 0, from 1000 to 3000.
void one_visit(otf2::RawArchive& archive)
{
    archive.enter(0, 1000, 0);
    archive.leave(0, 3000, 0);
    archive.end_events();
}

std::vector<std::string> events(const fs::path& anchor)
{
    otf2::Reader reader{anchor};
    otf2::Listing listing{reader.archive(), true};
    reader.read(listing);
    CHECK(reader.problems() == std::vector<std::string>{});
    otf2::Listing by_location{reader.archive(), true};
    reader.read_by_location(by_location);
    CHECK(reader.problems() == std::vector<std::string>{});
    return listing.lines;
}

}  // namespace

TEST_CASE("an archive without clock properties and system tree, of any name, is sound and reported as odd")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace", "my.run"};
    one_visit(archive);
    archive.process(0, "P");
    archive.location(0, "main", 0);
    archive.region(0, "work");
    archive.finish();

    otf2::Reader reader{scratch / "trace/my.run.otf2"};
    CHECK_FALSE(reader.archive().clock.stated);
    CHECK(reader.archive().problems == std::vector<std::string>{});
    CHECK(reader.archive().oddities == std::vector<std::string>{"no clock properties: assuming ticks of 1 ns",
                                                                "no system tree: nodes are not reported"});
    CHECK(events(archive.anchor()) == std::vector<std::string>{"1000 P/main: enter work", "3000 P/main: leave work"});
}

TEST_CASE("words of a newer OTF2 are kept as numbers and reported as odd")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    one_visit(archive);
    archive.clock(1000, 2000);
    archive.node(0, "host");
    archive.process(0, "P", 0, 77);
    archive.location(0, "main", 0, 9);
    archive.region(0, "work", 66, 99);
    archive.finish();

    otf2::Reader reader{archive.anchor()};
    CHECK(text(reader.archive().locations[0].kind) == "unknown (9)");
    CHECK(reader.archive().problems == std::vector<std::string>{});
    CHECK(reader.archive().oddities == std::vector<std::string>{"1 definitions with location kind 9, which is unknown",
                                                                "1 definitions with paradigm 99, which is unknown",
                                                                "1 definitions with region role 66, which is unknown"});
    CHECK(events(archive.anchor()).size() == 2);
}

TEST_CASE("events of kinds that OTF2 does not know are counted and reported as odd")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    archive.enter(0, 1000, 0);
    archive.enter(0, 2000, 1);
    archive.leave(0, 3000, 0);
    archive.end_events();
    archive.clock(1000, 2000);
    archive.node(0, "host");
    archive.process(0, "P", 0);
    archive.location(0, "main", 0);
    archive.region(0, "work");
    archive.finish();
    const fs::path file = scratch / "trace/traces/0.evt";
    std::string bytes = base::read_whole(file);
    constexpr std::string_view enter_region_1{"\x0c\x01\x01", 3};  // record type; compressed number: 1 byte, value 1
    const std::size_t at = bytes.find(enter_region_1);
    REQUIRE(at != std::string::npos);
    bytes[at] = '\xf0';
    base::write_whole(file, bytes);

    otf2::Reader reader{archive.anchor()};
    otf2::Listing listing{reader.archive(), true};
    reader.read(listing);
    CHECK(listing.lines ==
          std::vector<std::string>{"1000 P/main: enter work", "2000 P/main: other", "3000 P/main: leave work"});
    CHECK(reader.problems() == std::vector<std::string>{});
    CHECK(reader.oddities() == std::vector<std::string>{"1 events are of a kind unknown to this OTF2"});
}

TEST_CASE("accelerator streams and metric locations are read like others")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    archive.enter(7, 1000, 0);
    archive.leave(7, 3000, 0);
    const OTF2_Type type = OTF2_TYPE_UINT64;
    OTF2_MetricValue value{};
    value.unsigned_int = 42;
    otf2::check(OTF2_EvtWriter_Metric(archive.events(9), nullptr, 2000, 1, 1, &type, &value), "write a metric");
    archive.end_events();
    archive.clock(1000, 2000);
    archive.node(0, "host");
    archive.process(0, "card", 0, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR);
    archive.location(7, "CUDA[0:7]", 0, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM);
    archive.location(9, "power", 0, OTF2_LOCATION_TYPE_METRIC);
    archive.region(0, "kernel", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_CUDA);
    const OTF2_StringRef name = archive.text("watts");
    const OTF2_StringRef unit = archive.text("W");
    otf2::check(OTF2_GlobalDefWriter_WriteMetricMember(archive.definitions(), 0, name, name, OTF2_METRIC_TYPE_OTHER,
                                                       OTF2_METRIC_ABSOLUTE_POINT, type, OTF2_BASE_DECIMAL, 0, unit),
                "define");
    const OTF2_MetricMemberRef member = 0;
    otf2::check(OTF2_GlobalDefWriter_WriteMetricClass(archive.definitions(), 0, 1, &member, OTF2_METRIC_ASYNCHRONOUS,
                                                      OTF2_RECORDER_KIND_ABSTRACT),
                "define");
    otf2::check(
        OTF2_GlobalDefWriter_WriteMetricInstance(archive.definitions(), 1, 0, 9, OTF2_SCOPE_SYSTEM_TREE_NODE, 0),
        "define");
    archive.finish();

    otf2::Reader reader{archive.anchor()};
    CHECK(reader.archive().processes[0].accelerator);
    CHECK(text(reader.archive().locations[0].kind) == "accelerator stream");
    CHECK(text(reader.archive().locations[1].kind) == "metric");
    CHECK(reader.archive().oddities == std::vector<std::string>{});
    CHECK(events(archive.anchor()) == std::vector<std::string>{"1000 card/CUDA[0:7]: enter kernel",
                                                               "2000 card/power: watts is 42 W",
                                                               "3000 card/CUDA[0:7]: leave kernel"});
}

TEST_CASE("each location's own numbering of regions is undone")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    for (const OTF2_LocationRef location : {0, 1}) {
        archive.enter(location, 1000 + location, 0);
        archive.leave(location, 3000 + location, 0);
    }
    archive.end_events({{1, {1, 0}}});
    archive.clock(1000, 2001);
    archive.node(0, "host");
    archive.process(0, "P", 0);
    archive.location(0, "a", 0);
    archive.location(1, "b", 0);
    archive.region(0, "zero");
    archive.region(1, "one");
    archive.finish();
    CHECK(events(archive.anchor()) == std::vector<std::string>{"1000 P/a: enter zero", "1001 P/b: enter one",
                                                               "3000 P/a: leave zero", "3001 P/b: leave one"});
}

TEST_CASE("two lists of a paradigm's locations are odd and the first one counts")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    one_visit(archive);
    archive.clock(1000, 2000);
    archive.node(0, "host");
    archive.process(0, "P", 0);
    archive.location(0, "main", 0);
    archive.region(0, "work");
    const OTF2_StringRef name = archive.text("");
    const std::uint64_t listed[] = {0};
    const std::uint64_t not_listed[] = {5};
    const auto group = [&](OTF2_GroupRef number, OTF2_GroupType type, const std::uint64_t* members) {
        otf2::check(OTF2_GlobalDefWriter_WriteGroup(archive.definitions(), number, name, type, OTF2_PARADIGM_MPI,
                                                    OTF2_GROUP_FLAG_NONE, 1, members),
                    "define");
    };
    group(0, OTF2_GROUP_TYPE_COMM_LOCATIONS, listed);
    group(1, OTF2_GROUP_TYPE_COMM_LOCATIONS, not_listed);
    group(2, OTF2_GROUP_TYPE_COMM_GROUP, listed);
    otf2::check(
        OTF2_GlobalDefWriter_WriteComm(archive.definitions(), 0, name, 2, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE),
        "define");
    archive.finish();

    otf2::Reader reader{archive.anchor()};
    CHECK(reader.archive().communicators[0].members == std::vector<std::uint32_t>{0});
    CHECK(reader.archive().problems == std::vector<std::string>{});
    CHECK(reader.archive().oddities ==
          std::vector<std::string>{"a second list of the locations of MPI; the first one is used"});
}

// Swaps only the full-width numbers: all references are small, and a compressed number of one byte has no byte order.
TEST_CASE("events in the other byte order are the same events")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    for (OTF2_RegionRef i = 0; i < 100; ++i) {
        archive.enter(0, 1'000'000'007 + 1000 * i, i % 3);
        archive.leave(0, 1'000'000'307 + 1000 * i, i % 3);
    }
    archive.end_events();
    archive.clock(1'000'000'007, 100'000);
    archive.node(0, "host");
    archive.process(0, "P", 0);
    archive.location(0, "main", 0);
    for (OTF2_RegionRef i = 0; i < 3; ++i) archive.region(i, "r" + std::to_string(i));
    archive.finish();
    const std::vector<std::string> before = events(archive.anchor());
    REQUIRE(before.size() == 200);

    const fs::path file = scratch / "trace/traces/0.evt";
    std::string bytes = base::read_whole(file);
    const auto turn = [&](std::size_t at) {
        const auto number = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        std::reverse(number, number + 8);
    };
    CHECK(bytes[1] == 0x42);
    bytes[1] = 0x23;
    turn(2);
    turn(10);
    for (std::size_t at = 18; bytes.at(at) != 2;) {
        if (bytes[at] == 5) {
            turn(at + 1);
            at += 9;
        } else {
            at += 2 + static_cast<std::size_t>(bytes[at + 1]);
        }
    }
    base::write_whole(file, bytes);
    CHECK(events(archive.anchor()) == before);
    fs::resize_file(file, bytes.size() - 20);
    CHECK_THROWS_AS(otf2::refuse_if_cut_off(file, 256 * 1024, otf2::Records::events), base::Error);
}

// Both locations have the same events: stale data of the first one in memory would complete the second one's file.
TEST_CASE("a file cut off at any byte is told from a whole one")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    for (const OTF2_LocationRef location : {0, 1})
        for (std::uint64_t i = 0; i < 10; ++i) {
            archive.enter(location, 1000 + 10 * i, 0);
            archive.leave(location, 1005 + 10 * i, i == 5 ? OTF2_UNDEFINED_REGION : 0);
        }
    archive.end_events();
    archive.clock(1000, 100);
    archive.node(0, "host");
    archive.process(0, "P", 0);
    archive.location(0, "a", 0);
    archive.location(1, "b", 0);
    archive.region(0, "work");
    archive.finish();
    for (const auto& [name, kind] : std::map<std::string, otf2::Records>{{"traces/1.evt", otf2::Records::events},
                                                                         {"traces.def", otf2::Records::definitions}}) {
        const fs::path file = scratch / "trace" / name;
        const std::string whole = base::read_whole(file);
        CHECK_NOTHROW(otf2::refuse_if_cut_off(file, 256 * 1024, kind));
        const std::size_t mark = whole.size() - 2;  // one more byte follows the end mark
        for (std::size_t bytes = 0; bytes <= mark; ++bytes) {
            fs::resize_file(file, bytes);
            CHECK_THROWS_AS(otf2::refuse_if_cut_off(file, 256 * 1024, kind), base::Error);
            base::write_whole(file, whole);
        }
    }
}

TEST_CASE("threads share the locations and find what one finds")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    constexpr OTF2_LocationRef locations = 100;
    for (OTF2_LocationRef location = 0; location < locations; ++location)
        for (OTF2_RegionRef i = 0; i < 10 + location; ++i) {
            archive.enter(location, 1000 + 10 * i, i % 2);
            archive.leave(location, 1005 + 10 * i + location % 5, i % 2);
        }
    archive.end_events();
    archive.clock(1000, 5000);
    archive.node(0, "host");
    archive.process(0, "P", 0);
    for (OTF2_LocationRef location = 0; location < locations; ++location)
        archive.location(location, std::to_string(location), 0);
    archive.region(0, "even");
    archive.region(1, "odd");
    archive.finish();

    otf2::Reader reader{archive.anchor()};
    otf2::Profile one{reader.archive()};
    reader.read_by_location(one);
    one.finish();
    otf2::Profile first{reader.archive()};
    otf2::Profile second{reader.archive()};
    otf2::Profile third{reader.archive()};
    otf2::Visitor* const all[] = {&first, &second, &third};
    reader.read_by_location(all);
    CHECK(reader.problems() == std::vector<std::string>{});
    for (otf2::Profile* part : {&first, &second, &third}) part->finish();
    first.add(second);
    first.add(third);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(first.regions()[i].visits == one.regions()[i].visits);
        CHECK(first.regions()[i].inclusive_ns.sum == one.regions()[i].inclusive_ns.sum);
        CHECK(first.regions()[i].exclusive_ns.least == one.regions()[i].exclusive_ns.least);
        CHECK(first.regions()[i].exclusive_ns.most == one.regions()[i].exclusive_ns.most);
    }
    for (std::size_t i = 0; i < locations; ++i) {
        CHECK(first.locations()[i].events == 20 + 2 * i);
        CHECK(first.locations()[i].last_ns == one.locations()[i].last_ns);
    }
}

TEST_CASE("what a visitor throws in any thread comes out of the reading")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    for (const OTF2_LocationRef location : {0, 1}) {
        archive.enter(location, 1000, 0);
        archive.leave(location, 3000, 0);
    }
    archive.end_events();
    archive.location(0, "a", 0);
    archive.location(1, "b", 0);
    archive.region(0, "work");
    archive.finish();
    struct Impatient : otf2::Visitor {
        void leave(const otf2::At&, std::uint32_t, const otf2::EventAttributes&) override
        {
            throw base::UsageError{"enough"};
        }
    };
    otf2::Reader reader{archive.anchor()};
    Impatient one;
    Impatient other;
    otf2::Visitor* const both[] = {&one, &other};
    CHECK_THROWS_WITH_AS(reader.read_by_location(both), "enough", base::UsageError);
}

TEST_CASE("recursion deeper than any stack is profiled by counting")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    constexpr std::uint64_t deep = 50'000;
    archive.enter(0, 0, 1);
    for (std::uint64_t i = 1; i <= deep; ++i) archive.enter(0, i, i % 2 == 0 ? 0 : 2);
    for (std::uint64_t i = deep; i >= 1; --i) archive.leave(0, 2 * deep + 1 - i, i % 2 == 0 ? 0 : 2);
    archive.leave(0, 2 * deep + 1, 1);
    archive.end_events();
    archive.clock(0, 2 * deep + 1);
    archive.location(0, "main", OTF2_UNDEFINED_LOCATION_GROUP);
    for (OTF2_RegionRef i = 0; i < 3; ++i) archive.region(i, "r" + std::to_string(i));
    archive.finish();

    otf2::Reader reader{archive.anchor()};
    otf2::Profile profile{reader.archive()};
    reader.read_by_location(profile);
    profile.finish();
    CHECK(profile.problems() == std::vector<std::string>{});
    CHECK(profile.regions()[0].visits == deep / 2);
    CHECK(profile.regions()[1].inclusive_ns.sum == 2 * deep + 1);
    CHECK(profile.regions()[0].inclusive_ns.sum == 2 * deep - 3);  // the outermost visit: level 2
    CHECK(profile.regions()[1].exclusive_ns.sum == 2);
}
