// SPDX-License-Identifier: Apache-2.0
// Archives of processes that terminate early, one after the other.
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "testing/archives/listing.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

namespace {

struct Read {
    explicit Read(const fs::path& directory) : reader{directory / "traces.otf2"}, listing{reader.archive()}
    {
        reader.read_by_location(listing);
        CHECK(reader.archive().problems == Lines{});
        CHECK(reader.problems() == Lines{});
    }
    otf2::Reader reader;
    otf2::Listing listing;
};

void check_readable(const fs::path& directory)
{
    const testing::Outcome info =
        testing::run({fs::path{CROSSTALK_BIN} / "trace-info", directory / "traces.otf2", "--check"});
    CHECK_MESSAGE(info.status == 0, info.out, info.err);
}

}  // namespace

TEST_CASE("processes that end one by one leave one archive, which the last of them makes")
{
    const testing::Scratch scratch;
    const fs::path trace = scratch / "trace";
    synth::ThreadMeeting meeting{3};
    std::atomic<int> ended{0};
    std::atomic<int> made{0};
    synth::on_each_rank(meeting, [&](int rank) {
        const auto clock = [] { return otf2::ClockOffset{.at_ns = base::now_ns()}; };
        otf2::Recorder recorder{trace, std::make_unique<synth::ThreadTeam>(rank, meeting, clock)};
        otf2::LocationRecorder& main = recorder.location("main");
        recorder.speaks_mpi(main);
        const otf2::CommunicatorRef world = recorder.communicator(otf2::world_communicator, {0, 1, 2}, "everybody");
        // Regions are numbered differently on each rank.
        if (rank == 2) recorder.region("only of rank 2");
        main.enter(recorder.region("loop"));
        main.enter(recorder.region("exchange"));
        if (rank == 0) main.send(base::now_ns(), {.peer = 1, .communicator = world, .tag = 5, .bytes = 80});
        if (rank == 1) main.receive(base::now_ns(), {.peer = 0, .communicator = world, .tag = 5, .bytes = 80});
        main.leave(recorder.region("exchange"));
        while (ended != rank) std::this_thread::yield();  // one after the other
        CHECK_FALSE(fs::exists(trace));
        if (recorder.finish_alone("SIGTERM")) ++made;
        main.leave(recorder.region("loop"));  // ignored: the recorder has finished
        ++ended;
    });
    CHECK(made == 1);
    CHECK_FALSE(fs::exists(otf2::unfinished(trace)));
    Lines files;
    for (const auto& entry : fs::recursive_directory_iterator{trace})
        files.push_back(entry.path().lexically_relative(trace).string());
    std::sort(files.begin(), files.end());
    CHECK(files == Lines{"traces", "traces.def", "traces.otf2", "traces/0.def", "traces/0.evt", "traces/1.def",
                         "traces/1.evt", "traces/2.def", "traces/2.evt"});
    const Read read{trace};
    CHECK(read.reader.archive().property("crosstalk::cut_off") == "SIGTERM");
    CHECK(read.listing.of("MPI Rank 0/main") == Lines{"enter loop", "enter exchange",
                                                      "send peer 1 on everybody tag 5 bytes 80", "leave exchange",
                                                      "leave loop"});
    CHECK(read.listing.of("MPI Rank 1/main") == Lines{"enter loop", "enter exchange",
                                                      "receive peer 0 on everybody tag 5 bytes 80", "leave exchange",
                                                      "leave loop"});
    CHECK(read.listing.of("MPI Rank 2/main") == Lines{"enter loop", "enter exchange", "leave exchange", "leave loop"});
    check_readable(trace);
}

TEST_CASE("processes that end at the same time leave one archive")
{
    const testing::Scratch scratch;
    for (int time = 0; time < 20; ++time) {
        const fs::path trace = scratch / std::to_string(time);
        synth::ThreadMeeting meeting{4};
        std::atomic<int> made{0};
        synth::on_each_rank(meeting, [&](int rank) {
            const auto clock = [] { return otf2::ClockOffset{.at_ns = base::now_ns()}; };
            otf2::Recorder recorder{trace, std::make_unique<synth::ThreadTeam>(rank, meeting, clock)};
            recorder.location("main").enter(recorder.region("loop"));
            meeting.all.arrive_and_wait();
            if (recorder.finish_alone("SIGTERM")) ++made;
        });
        CHECK(made == 1);
        CHECK(Read{trace}.listing.lines.size() == 8);
    }
}

TEST_CASE("threads record on while their process finishes its archive, and what they had recorded is in it")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace", std::make_unique<otf2::SoloTeam>(), "program"};
    std::atomic<bool> stop{false};
    std::atomic<std::size_t> visits{0};  // of thread 0
    std::vector<std::jthread> threads;
    for (int number = 0; number < 3; ++number) {
        otf2::LocationRecorder& location = recorder.location("thread " + std::to_string(number));
        threads.emplace_back([&, mine = &location, number] {
            const otf2::RegionRef outer = recorder.region("outer");
            const otf2::RegionRef inner = recorder.region("inner");
            while (!stop) {
                mine->enter(outer);
                mine->enter(inner);
                mine->leave(inner);
                mine->leave(outer);
                if (number == 0) ++visits;
            }
        });
    }
    while (visits < 50'000) std::this_thread::yield();  // fills more than one chunk of trace memory
    const std::size_t before = visits;
    CHECK(recorder.finish_alone("SIGTERM"));
    CHECK_THROWS_AS(recorder.location("late"), base::Error);
    stop = true;
    threads.clear();
    check_readable(scratch / "trace");
    const Lines lines = Read{scratch / "trace"}.listing.of("program/thread 0");
    CHECK(lines.size() >= 4 * before);
    CHECK(lines.back() == "leave outer");
}

TEST_CASE("a process that cannot write its events says so")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace", std::make_unique<otf2::SoloTeam>(), "program"};
    recorder.location("main").enter(recorder.region("loop"));
    fs::remove_all(otf2::unfinished(scratch / "trace"));
    CHECK_THROWS_AS(recorder.finish_alone("SIGTERM"), base::Error);
    CHECK_FALSE(fs::exists(scratch / "trace"));
}
