// SPDX-License-Identifier: Apache-2.0
// Faults that make an archive unsound; archives of real programs, which are sound.
#include "trace-tools/otf2/read/soundness.hpp"

#include "base/files.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/read/fan_out.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <doctest/doctest.h>

#include <functional>

namespace {

using Lines = std::vector<std::string>;

// Writes an archive with one location "main" and regions 0 "step", 1 "forward", 2 "marker". The clock properties state
// `begin` and `length` in ns. Returns the anchor.
std::filesystem::path archive_of(const std::filesystem::path& directory,
                                 const std::function<void(otf2::RawArchive&)>& events, std::uint64_t begin,
                                 std::uint64_t length)
{
    otf2::RawArchive archive{directory};
    events(archive);
    archive.end_events();
    archive.clock(begin, length);
    archive.node(0, "host");
    archive.process(0, "P", 0);
    archive.location(0, "main", 0);
    archive.region(0, "step");
    archive.region(1, "forward");
    archive.region(2, "marker");
    archive.finish();
    return archive.anchor();
}

struct Found {
    Lines problems;
    Lines oddities;
};

Found found(const std::filesystem::path& anchor)
{
    otf2::Reader reader{anchor};
    otf2::Soundness soundness{reader.archive()};
    otf2::Visitor another;
    otf2::FanOut both{&soundness, &another};
    reader.read_by_location(both);
    const Found all{otf2::problems_of(reader, soundness), otf2::oddities_of(reader, soundness)};
    if (all.problems.empty())
        otf2::refuse_unsound(reader, soundness);
    else
        CHECK_THROWS_AS(otf2::refuse_unsound(reader, soundness), base::Error);
    return all;
}

// Writes steps of 10 us, the first at 1 ms, each with a forward inside.
void steps(otf2::RawArchive& archive, int count)
{
    for (std::uint64_t i = 0, at = 1'000'000; i < static_cast<std::uint64_t>(count); ++i, at += 10'000) {
        archive.enter(0, at, 0);
        archive.enter(0, at + 2'000, 1);
        archive.leave(0, at + 4'000, 1);
        archive.leave(0, at + 10'000, 0);
    }
}

}  // namespace

TEST_CASE("time that goes backwards is unsound")
{
    const testing::Scratch scratch;
    const auto anchor = archive_of(
        scratch / "trace",
        [](otf2::RawArchive& archive) {
            archive.enter(0, 0x1100, 0);
            archive.enter(0, 0x1155, 1);
            archive.leave(0, 0x1200, 1);
            archive.leave(0, 0x1300, 0);
        },
        0x1000, 0x300);
    const std::filesystem::path file = scratch / "trace/traces/0.evt";
    std::string bytes = base::read_whole(file);
    const std::size_t at = bytes.find("\x55\x11");  // OTF2 refuses to write a decreasing time stamp
    REQUIRE(at != std::string::npos);
    bytes.replace(at, 2, "\x55\x10");
    base::write_whole(file, bytes);
    CHECK(found(anchor).problems == Lines{"main (0): 1 time stamps smaller than the previous one"});
}

TEST_CASE("events far outside of the clock properties are unsound, a hundredth of their length is only odd")
{
    const testing::Scratch scratch;
    const auto ten_steps = [](otf2::RawArchive& archive) { steps(archive, 10); };  // 1.0 to 1.1 ms
    const Lines outside{"events lie outside of the clock properties' range"};
    CHECK(found(archive_of(scratch / "exact", ten_steps, 1'000'000, 100'000)).problems == Lines{});
    CHECK(found(archive_of(scratch / "rounded", ten_steps, 1'000'900, 99'000)).oddities == Lines{});
    const Found late = found(archive_of(scratch / "late", ten_steps, 0, 1'090'000));  // 10 us outside of 1.09 ms
    CHECK(late.problems == Lines{});
    CHECK(late.oddities == outside);
    const Found beyond = found(archive_of(scratch / "beyond", ten_steps, 1'000'000, 90'000));  // 10 us outside of 90 us
    CHECK(beyond.problems == Lines{"main (0): events lie outside of the clock properties' range"});
    CHECK(found(archive_of(scratch / "early", ten_steps, 1'020'000, 90'000)).problems.size() == 1);
}

TEST_CASE("clock properties that the writer did not fill in are odd")
{
    const testing::Scratch scratch;
    const auto ten_steps = [](otf2::RawArchive& archive) { steps(archive, 10); };
    const Lines outside{"events lie outside of the clock properties' range"};
    for (const auto& [begin, length] : {std::pair{0ULL, 2ULL}, {1'000'000ULL, 0ULL}, {1'000'000ULL, UINT64_MAX}}) {
        const Found one = found(archive_of(scratch / std::to_string(length), ten_steps, begin, length));
        CHECK(one.problems == Lines{});
        CHECK(one.oddities == outside);
    }
}

TEST_CASE("a region that is left at other times and once not lacks its LEAVE")
{
    const testing::Scratch scratch;
    const auto lost_inside = [](otf2::RawArchive& archive) {
        steps(archive, 1);
        archive.enter(0, 1'010'000, 0);
        archive.enter(0, 1'011'000, 1);
        archive.leave(0, 1'020'000, 0);
    };
    const auto lost_outermost = [](otf2::RawArchive& archive) {
        archive.enter(0, 990'000, 0);
        steps(archive, 2);  // inside the step entered above
    };
    const Lines lost{"main (0): 1 regions entered but not left, although other visits of them are left"};
    CHECK(found(archive_of(scratch / "inside", lost_inside, 1'000'000, 20'000)).problems == lost);
    CHECK(found(archive_of(scratch / "outermost", lost_outermost, 990'000, 30'000)).problems == lost);
}

TEST_CASE("markers without an end and a program that ends inside regions are odd")
{
    const testing::Scratch scratch;
    const auto markers = [](otf2::RawArchive& archive) {
        archive.enter(0, 1'000, 0);
        for (const std::uint64_t at : {2'000, 3'000}) {
            archive.enter(0, at, 2);
            archive.enter(0, at + 100, 1);
            archive.leave(0, at + 200, 1);
        }
        archive.leave(0, 4'000, 0);
    };
    const auto ended_inside = [](otf2::RawArchive& archive) {
        steps(archive, 2);
        archive.enter(0, 1'020'000, 0);
        archive.enter(0, 1'021'000, 1);
    };
    const Found marked = found(archive_of(scratch / "markers", markers, 1'000, 3'000));
    CHECK(marked.problems == Lines{});
    CHECK(marked.oddities == Lines{"2 regions are never left; assumed to end with their parent"});
    const Found ended = found(archive_of(scratch / "ended", ended_inside, 1'000'000, 21'000));
    CHECK(ended.problems == Lines{});
    CHECK(ended.oddities == Lines{"2 regions are never left; assumed to end at the last event"});
}

TEST_CASE("what several threads saw of an archive's locations adds up")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    const otf2::RegionRef work = recorder.region("work");
    for (const char* name : {"one", "two", "three"}) {
        otf2::LocationRecorder& location = recorder.location(name);
        location.enter(work, 1000);
        location.leave(work, 3000);
        if (name == std::string{"three"}) location.leave(work, 3000);
    }
    recorder.finish();
    otf2::Reader reader{scratch / "trace/traces.otf2"};
    otf2::Soundness one{reader.archive()};
    otf2::Soundness two{reader.archive()};
    const std::array<otf2::Visitor*, 2> both{&one, &two};
    reader.read_by_location(both);
    one.add(two);
    CHECK(one.problems().size() == 1);
    CHECK(one.locations()[0].events == 2);
    CHECK(one.locations()[2].stray_leaves == 1);
}
