// SPDX-License-Identifier: Apache-2.0
// Wait states and critical paths of synthetic archives, where they are known, and of a real one.
#include "trace-tools/replay/mpi_replay.hpp"

#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/archives/analysed_archives.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/replay/started_requests.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using testing::analyse;
using testing::Analysed;
using testing::check_answers;
using testing::check_equal;
using testing::make_and_analyse;
using testing::path;
using testing::Seconds;
using testing::sum;
using testing::table;
using testing::waits;

namespace {

// Returns the lines of a table, sorted.
std::multiset<std::string> rows(const fs::path& file)
{
    std::ifstream in{file};
    std::multiset<std::string> rows;
    for (std::string line; std::getline(in, line);) rows.insert(line);
    return rows;
}

const std::string three_in_the_background = R"(  backward 1ms..9ms
  MPI_Iallreduce 1us request=first
  backward 1ms..9ms
  MPI_Iallreduce 1us request=second
  backward 1ms..9ms
  MPI_Iallreduce 1us request=third
  update 1us..200us
)";

}  // namespace

TEST_CASE("wait states and critical path are those that the archive was made with")
{
    Analysed run;
    make_and_analyse(run, R"(ranks 4
seed 3
communicator row 0-1
communicator rest 1,2,3
repeat 20 step {
  load 1ms..3ms
  MPI_Bcast 300us..500us root=1
  forward 10ms..12ms
  MPI_Scatter 1ms root=1 comm=rest
  backward 20ms..25ms, 24ms on 1,3
  MPI_Allreduce 1ms..2ms bytes=4MiB
  MPI_Reduce 1ms root=2
  work 1ms..2ms
  MPI_Reduce 1ms root=1 comm=row
  MPI_Gather 200us root=1 comm=rest
  work 1ms..2ms
  MPI_Send 0>1 1ms tag=7
  work 1ms..2ms
  MPI_Ssend 2>3 1ms
  MPI_Ssend 3>2 1ms
  work 1ms..4ms
  MPI_Iallreduce 5ms request=gradient
  MPI_Isend 1>0 1ms..7ms request=news
  work 1ms..6ms
  MPI_Wait gradient
  MPI_Wait news
  MPI_Alltoall 1ms..3ms comm=rest
  MPI_Barrier 10us..20us
}
work 1ms..2ms
)");
    CHECK(run.complaints.empty());
    CHECK(waits(run.made).size() > 400);
    CHECK(rows(run.made / "waits.csv") == rows(run.found / "waits.csv"));
    check_equal(waits(run.made), waits(run.found));
    CHECK(path(run.made).size() > 40);
    check_equal(path(run.made), path(run.found));
}

TEST_CASE("of several collectives in the background each is waited for as long as its last rank is late")
{
    Analysed run;
    make_and_analyse(run, "ranks 4\nseed 8\nrepeat 50 step {\n" + three_in_the_background + R"(  MPI_Wait first
  update 1us..200us
  MPI_Wait second
  update 1us..200us
  MPI_Wait third
}
)");
    CHECK(waits(run.made).size() > 200);
    check_answers(run);
}

TEST_CASE("collectives in the background are those that were started together, in whatever order ranks wait for them")
{
    Analysed run;
    make_and_analyse(run, "ranks 3\nseed 5\ncommunicator pair 0-1\nrepeat 30 step {\n" + three_in_the_background +
                              R"(  MPI_Wait third on 0
  MPI_Wait second on 0,2
  update 1us..200us
  MPI_Wait first
  MPI_Wait third on 2
  MPI_Wait second on 1
  MPI_Wait third on 1
}
repeat 30 more {
  backward 1ms..9ms
  MPI_Ibarrier 1us request=all
  backward 1ms..9ms
  MPI_Iallreduce 1us request=two comm=pair
  MPI_Wait two
  MPI_Wait all
}
)");
    CHECK(waits(run.made).size() > 200);
    check_answers(run);
}

TEST_CASE("collectives in the background are told apart by their communicators")
{
    for (const char* spec : {R"(ranks 5
communicator c6 2
communicator c39 0,1,2
MPI_Iallreduce 765us..3135us comm=c6 request=r0
MPI_Ssend 0>4 1719us..2239us tag=97105
MPI_Ibarrier 3783us comm=c39 request=r1
MPI_Wait r1
MPI_Wait r0
)",
                             R"(ranks 4
communicator c25 0,2,3
communicator c31 1,2,3
MPI_Bcast 3595us..4481us comm=c25 root=2
MPI_Ibarrier 176us..1800us comm=c31 request=r4
w2 723us, 1921us on 0,1,3
MPI_Iallreduce 1834us comm=c31 request=r5
MPI_Wait r4 on 2,3
MPI_Wait r5
MPI_Wait r4 on 1
)"}) {
        Analysed run;
        make_and_analyse(run, spec);
        check_answers(run);
    }
}

TEST_CASE("messages are received in the order in which receives were posted, in whatever order ranks wait for them")
{
    Analysed run;
    make_and_analyse(run, R"(ranks 2
repeat 30 step {
  MPI_Isend 0>1 1us request=first
  work 1ms..9ms
  MPI_Isend 0>1 1us request=other tag=2
  MPI_Isend 0>1 1us request=second
  work 1ms..9ms on 0
  MPI_Isend 0>1 1us request=third
  work 1ms..9ms
  MPI_Wait third
  MPI_Wait first
  MPI_Send 0>1 1us
  work 1ms..9ms on 0
  MPI_Wait other
  MPI_Send 0>1 1us
  MPI_Wait second
}
)");
    CHECK(waits(run.made).size() > 30);
    check_answers(run);
}

TEST_CASE("a receive that is cancelled, or never waited for, takes no message from those posted after it")
{
    Analysed run;
    {
        otf2::Recorder recorder{run.made};
        otf2::LocationRecorder& main = recorder.location("main");
        recorder.speaks_mpi(main);
        const otf2::Message message{.peer = 0, .communicator = recorder.communicator(otf2::world_communicator, {0})};
        const otf2::RegionRef send = recorder.region("MPI_Send", otf2::RegionRole::point_to_point, otf2::Paradigm::mpi);
        const otf2::RegionRef post =
            recorder.region("MPI_Irecv", otf2::RegionRole::point_to_point, otf2::Paradigm::mpi);
        const otf2::RegionRef wait = recorder.region("MPI_Wait", otf2::RegionRole::point_to_point, otf2::Paradigm::mpi);
        main.enter(post, 0);
        for (const std::uint64_t request : {1, 2, 3, 4}) main.receive_request(0, request);
        main.request_cancelled(10, 1);  // request 3 is freed: it never completes
        main.leave(post, 10);
        for (const int ns : {20, 30}) {
            main.enter(send, ns);
            main.send(ns, message);
            main.leave(send, ns + 5);
        }
        main.enter(wait, 40);
        main.receive_complete(50, message, 4);
        main.leave(wait, 50);
        main.enter(wait, 60);
        main.receive_complete(70, message, 2);
        main.leave(wait, 70);
        recorder.finish();
    }
    otf2::Reader reader{run.made / "traces.otf2"};
    using Post = replay::StartedReceives::Post;
    CHECK(replay::started_requests(reader, true, 2).receives.at(0).posted ==
          std::vector<Post>{{1, otf2::nowhere}, {1, 0}, {1, otf2::nowhere}, {1, 0}});
    analyse(run, run.made / "traces.otf2");
    CHECK(run.complaints.empty());
}

TEST_CASE("where steps last from call to call trace-waits has the steps that trace-steps finds")
{
    Analysed run;
    std::string spec = "ranks 2\n";
    for (int i = 0; i < 12; ++i) spec += "a 1ms, 3ms on 1\nb 1ms\nMPI_Allreduce 10us\n";
    std::ofstream{run.scratch / "spec"} << spec;
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", run.scratch / "spec", "-o", run.made}).status == 0);
    analyse(run, run.made / "traces.otf2");
    Seconds truth;
    Seconds of_waits{{{"mpi_wait_nxn", "0", "-1"}, 0.002}};  // before the first step
    for (int step = 0; step < 11; ++step) {
        const std::string number = std::to_string(step);
        truth[{"a", "0", number}] = 0.001;
        truth[{"a", "1", number}] = 0.003;
        truth[{"MPI_Allreduce", "0", number}] = 0.00201;
        truth[{"MPI_Allreduce", "1", number}] = 0.00001;
        for (const char* rank : {"0", "1"}) truth[{"b", rank, number}] = 0.001;
        of_waits[{"mpi_wait_nxn", "0", number}] = 0.002;
    }
    check_equal(truth, table(run.found / "phases.csv", {"region", "rank", "step"}));
    check_equal(of_waits, table(run.found / "waits.csv", {"pattern", "rank", "step"}));
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-waits", run.made / "traces.otf2", "--step-from", "MPI_Allreduce", "-o",
                          run.scratch / "chosen"})
                .status == 0);
    CHECK(base::read_whole(run.scratch / "chosen/phases.csv") == base::read_whole(run.found / "phases.csv"));
    CHECK(
        testing::run({CROSSTALK_BIN "/trace-waits", run.made / "traces.otf2", "--step-from", "a", "--step-region", "b"})
            .status == 2);
}

TEST_CASE("lateness is blamed past a collective in the background for which nobody waited")
{
    Analysed run;
    make_and_analyse(run, R"(ranks 3
repeat 5 step {
  MPI_Iallreduce 3ms request=g
  update 1ms, 5ms on 2
  MPI_Wait g
  MPI_Bcast 1ms root=2
}
)");
    const double waited = sum(run.found / "waits.csv", "seconds", "pattern", "mpi_latebroadcast");
    CHECK(waited == doctest::Approx(0.02).epsilon(0.01));
    CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "region", "update") == doctest::Approx(waited));
}

TEST_CASE("a send that is over before its receive is posted has waited for nobody")
{
    Analysed run;
    make_and_analyse(run, R"(ranks 2
repeat 100 step {
  work 10us, 2ms on 1
  MPI_Send 0>1 10us
  MPI_Allreduce 10us
}
)");
    check_answers(run);
    check_equal({{{"mpi_wait_nxn"}, 0.199}}, table(run.found / "waits.csv", {"pattern"}));
    check_equal({{{"1"}, 0.199}}, table(run.found / "path.csv", {"rank"}, "delay_cost_seconds"));
    CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "region", "work") > 0.198);
}

TEST_CASE("of several operations that one call waits for each has what those before have left")
{
    Analysed run;
    synth::ThreadMeeting meeting{2};
    constexpr std::int64_t ms = 1'000'000;
    synth::on_each_rank(meeting, [&](int rank) {
        otf2::Recorder recorder{run.made, std::make_unique<synth::ThreadTeam>(rank, meeting, [end = 0]() mutable {
                                    return otf2::ClockOffset{.at_ns = 100 * ms * end++};
                                })};
        otf2::LocationRecorder& main = recorder.location("main");
        otf2::LocationRecorder& helper = recorder.location("helper");
        recorder.speaks_mpi(main);
        const otf2::CommunicatorRef world = recorder.communicator(otf2::world_communicator, {0, 1});
        const auto mpi = [&](const char* name) {
            return recorder.region(name, otf2::RegionRole::all_to_all, otf2::Paradigm::mpi);
        };
        const otf2::CollectiveEnd sum{.operation = otf2::Operation::allreduce, .communicator = world};
        const std::int64_t late = rank == 1 ? 40 * ms : 0;
        main.enter(recorder.region("work"), 0);
        main.leave(recorder.region("work"), late);
        main.enter(mpi("MPI_Iallreduce"), late);
        for (const std::uint64_t request : {1, 2, 3}) main.collective_request(late, request);
        if (rank == 1) main.send_request(late, {.peer = 0, .communicator = world, .tag = 1, .bytes = 8}, 4);
        if (rank == 0) main.receive_request(late, 4);
        main.leave(mpi("MPI_Iallreduce"), late);
        main.enter(mpi("MPI_Waitall"), late);
        for (const std::uint64_t request : {2, 1, 3}) main.collective_complete(41 * ms, sum, request);
        if (rank == 1) main.send_complete(41 * ms, 4);
        if (rank == 0) main.receive_complete(41 * ms, {.peer = 1, .communicator = world, .tag = 1, .bytes = 8}, 4);
        main.leave(mpi("MPI_Waitall"), 41 * ms);
        // The second allreduce is called by a helper thread, not by the thread that represents the rank.
        const std::int64_t later = rank == 1 ? 60 * ms : 50 * ms;
        helper.enter(recorder.region("work"), 41 * ms);
        helper.leave(recorder.region("work"), later);
        helper.enter(mpi("MPI_Allreduce"), later);
        helper.collective_begin(later);
        helper.collective_end(61 * ms, sum);
        helper.leave(mpi("MPI_Allreduce"), 61 * ms);
        recorder.finish();
    });
    analyse(run, run.made / "traces.otf2");
    CHECK(run.complaints.empty());
    CHECK(waits(run.found).at({"mpi_icollective_wait", "MPI_Waitall", "0", "-1", "1"}) == doctest::Approx(0.040));
    CHECK(sum(run.found / "waits.csv", "seconds", "pattern", "mpi_latesender") == 0.0);
    CHECK(sum(run.found / "waits.csv", "seconds", "pattern", "mpi_wait_nxn") == doctest::Approx(0.010));
    CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "rank", "1") == doctest::Approx(0.050));
    CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "rank", "0") == 0.0);
}

TEST_CASE("MPI events outside of MPI calls are reported and make no waits")
{
    Analysed run;
    {
        otf2::Recorder recorder{run.made};
        otf2::LocationRecorder& location = recorder.location("main");
        recorder.speaks_mpi(location);
        const otf2::CommunicatorRef world = recorder.communicator(otf2::world_communicator, {0});
        location.collective_begin(10);
        location.collective_end(20, {.operation = otf2::Operation::allreduce, .communicator = world});
        location.send(30, {.peer = 0, .communicator = world});
        location.receive(40, {.peer = 0, .communicator = world});
        recorder.finish();
    }
    analyse(run, run.made / "traces.otf2");
    CHECK(run.complaints.find("trace-waits: 3 MPI events have no MPI call") != std::string::npos);
    CHECK(waits(run.found).empty());
}
