// SPDX-License-Identifier: Apache-2.0
// The trace programs on archives with drifting clocks or faulty writers.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/archives/slow_rank.hpp"
#include "testing/programs.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace fs = std::filesystem;
using enum testing::Region;
using testing::define;
using testing::has;
using testing::ms;
using testing::slow_rank_1;

namespace {

constexpr std::uint64_t second = 1'000 * ms;

// Writes an archive whose second event is earlier than its first.
fs::path backwards(const fs::path& directory)
{
    otf2::RawArchive archive{directory};
    archive.enter(0, 0x1155, loop);
    archive.leave(0, 0x1200, loop);
    archive.enter(0, 0x1300, loop);
    archive.leave(0, 0x1400, loop);
    define(archive, 1, 0x1400);
    std::string bytes = base::read_whole(directory / "traces/0.evt");
    bytes.replace(bytes.find(std::string{"\x00\x13", 2}), 2, std::string{"\x00\x10", 2});
    base::write_whole(directory / "traces/0.evt", bytes);
    return archive.anchor();
}

}  // namespace

TEST_CASE("steps are judged and cut on the common clock where a node's own drifts")
{
    const testing::Scratch scratch;
    // Step i begins at about i x 100 ms; the clock of rank 1 is 10 ms off at 5 s, 16 ms at 8 s.
    base::write_whole(
        scratch / "spec",
        "ranks 2\nclock 1 offset=5ms drift=-2000\nrepeat 100 step {\n  work 100ms\n  MPI_Barrier 1us\n}\n");
    const fs::path anchor = scratch / "trace/traces.otf2";
    REQUIRE(testing::run({testing::bin / "trace-synth", scratch / "spec", "-o", scratch / "trace"}).status == 0);
    CHECK(testing::run({testing::bin / "trace-info", "--check", anchor}).status == 0);
    const auto visits = [&](std::vector<std::string> part) {
        part.insert(part.begin(), {testing::bin / "trace-steps", anchor});
        return testing::run(part).out;
    };
    CHECK(has(visits({}), "step 'step': 100 visits on each of 2 ranks"));
    CHECK(has(visits({"--from", "4.995s", "--to", "8.005s"}), "step 'step': 30 visits on each of 2 ranks"));
}

TEST_CASE("every trace program refuses what trace-info --check calls unsound, in one line, and leaves nothing")
{
    const testing::Scratch scratch;
    const std::string anchor = backwards(scratch / "trace");
    CHECK(testing::run({testing::bin / "trace-info", "--check", anchor}).status == 1);
    for (const char* program : {"trace-waits", "trace-path", "trace-steps"}) {
        CAPTURE(program);
        const testing::Outcome outcome = testing::run({testing::bin / program, anchor, "-o", scratch / "out"});
        CHECK(outcome.status == 1);
        CHECK(has(outcome.err, "is not sound: Master thread (0): 1 time stamps smaller than the previous one"));
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
        CHECK_FALSE(fs::exists(scratch / "out"));
    }
    const std::string sound = slow_rank_1(scratch / "sound");
    const testing::Outcome merged =
        testing::run({testing::bin / "trace-merge", sound, anchor, "-o", scratch / "merged"});
    CHECK(merged.status == 1);
    CHECK(has(merged.err, "is not sound"));
    CHECK_FALSE(fs::exists(scratch / "merged"));
}

TEST_CASE("an archive whose writer counts its events wrong is read to its end")
{
    constexpr std::uint64_t visits = 600'000;
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    for (std::uint64_t i = 0; i < visits; ++i) {
        archive.enter(0, 2 * i, loop);
        archive.leave(0, 2 * i + 1, loop);
    }
    archive.count_as(0, 3);
    define(archive, 1, 2 * visits);
    for (const char* program : {"trace-info", "trace-waits", "trace-path"}) {
        CAPTURE(program);
        CHECK(testing::run({testing::bin / program, archive.anchor()}).status == 0);
    }
    CHECK(has(testing::run({testing::bin / "trace-info", "--check", archive.anchor()}).out,
              "odd: 1200000 events are present, 3 are defined\n"));
}
