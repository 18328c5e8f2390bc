// SPDX-License-Identifier: Apache-2.0
// Root causes: delay costs, the critical path, efficiencies.
#include "base/csv.hpp"
#include "testing/archives/analysed_archives.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/replay/mpi_replay.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace fs = std::filesystem;
using testing::analyse;
using testing::Analysed;
using testing::check_answers;
using testing::check_equal;
using testing::make_and_analyse;
using testing::path;
using testing::Seconds;
using testing::sum;
using testing::sum_of;
using testing::table;
using testing::waits;

TEST_CASE("clocks that differ change nothing but the last nanoseconds")
{
    Analysed run;
    make_and_analyse(run, R"(ranks 3
clock 1 offset=21ms drift=40
clock 2 offset=3s
repeat 50 step {
  work 1ms..9ms
  MPI_Allreduce 1ms
}
)");
    CHECK(run.complaints.empty());
    const double truth = sum(run.made / "waits.csv", "seconds", "pattern", "mpi_wait_nxn");
    CHECK(sum(run.found / "waits.csv", "seconds", "pattern", "mpi_wait_nxn") == doctest::Approx(truth).epsilon(1e-6));
}

TEST_CASE("the cause of a wait is found however many calls lie between it and the last meeting")
{
    const std::string messages = "repeat 300 again {\n  MPI_Send 0>1 1us\n}\n";
    const std::string late = "late 100ms on 0\n";
    for (const std::string& between : {messages + late, late + messages}) {
        Analysed run;
        make_and_analyse(run, "ranks 2\nwork 1s on 1\nMPI_Barrier 1us\n" + between + "MPI_Barrier 1us\n");
        CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "region", "work") == doctest::Approx(1.0));
        CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "region", "late") ==
              doctest::Approx(0.1).epsilon(0.01));
        CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "region", "(cause unknown)") == doctest::Approx(0.0));
    }
}

TEST_CASE("the late work of a rank costs what others waited and what they made others wait in turn")
{
    Analysed run;
    make_and_analyse(run, R"(ranks 3
work 10ms, 15ms on 0
MPI_Send 0>1 1ms
work 1ms on 1
MPI_Send 1>2 1ms
)");
    // Rank 1 waits 5 ms for rank 0, and rank 2 waits 7 ms for rank 1, which came 7 ms late: 5 ms because of its own
    // wait, 1 ms in MPI_Recv after it, 1 ms of work.
    CHECK(waits(run.found) == Seconds{{{"mpi_latesender", "MPI_Recv", "1", "-1", "1"}, 0.005},
                                      {{"mpi_latesender", "MPI_Recv", "2", "-1", "1"}, 0.007}});
    CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "rank", "0") == doctest::Approx(0.005 + 0.005));
    CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "rank", "1") == doctest::Approx(0.001 + 0.001));
    CHECK(sum(run.found / "path.csv", "direct_seconds", "rank", "0") == doctest::Approx(0.005));
    CHECK(sum(run.found / "path.csv", "indirect_seconds", "rank", "0") == doctest::Approx(0.005));
    CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "region", "MPI_Recv") == doctest::Approx(0.001));
}

TEST_CASE("messages for which nobody waits leave the lateness of a rank with its work")
{
    Analysed run;
    make_and_analyse(run, R"(ranks 4
repeat 100 step {
  MPI_Isend 0>1 1us request=a
  MPI_Isend 1>2 1us request=b
  MPI_Isend 2>3 1us request=c
  MPI_Isend 3>0 1us request=d
  work 2ms, 6ms on 2
  MPI_Wait a
  MPI_Wait b
  MPI_Wait c
  MPI_Wait d
  MPI_Allreduce 10us
}
)");
    check_answers(run);
    check_equal({{{"mpi_wait_nxn"}, 1.2}}, table(run.found / "waits.csv", {"pattern"}));
    check_equal({{{"work", "2"}, 1.2}}, table(run.found / "path.csv", {"region", "rank"}, "delay_cost_seconds"));
}

TEST_CASE("efficiencies of a run whose balance is known")
{
    Analysed run;
    make_and_analyse(run, R"(ranks 2
repeat 10 step {
  work 8ms, 4ms on 1
  MPI_Allreduce 2ms
}
)");
    const auto efficiency = [&](const std::string& name) {
        return sum(run.found / "pop.csv", "value", "metric", name);
    };
    CHECK(efficiency("load_balance") == doctest::Approx(0.75));
    CHECK(efficiency("serialisation_efficiency") == doctest::Approx(1.0));
    CHECK(efficiency("transfer_efficiency") == doctest::Approx(0.8));
    CHECK(efficiency("parallel_efficiency") == doctest::Approx(0.6));
    CHECK(efficiency("wait_time_mpi_s") == doctest::Approx(0.04));
}

TEST_CASE("time in wait states is that until others came, not what an operation takes once they are there")
{
    Analysed run;
    make_and_analyse(run, R"(ranks 3
work 3ms, 10ms on 0
MPI_Send 0>1 1ms
MPI_Iallreduce 2ms request=sum
work 1ms on 2
MPI_Wait sum
work 4ms on 1
MPI_Ssend 2>1 1ms
)");
    // Rank 1 waits for the message from 3 ms to 10 ms and is the last to start the sum, at 11 ms. Rank 0 waits for that
    // from 10.002 ms and rank 2 from 4.001 ms: a call that starts or sends takes 1 us. All have the sum at 13 ms, and
    // rank 2 is blocked in MPI_Ssend until rank 1 receives at 17 ms.
    const Seconds found = table(run.found / "pop.csv", {"metric", "rank"}, "value");
    check_equal({{{"mpi_latesender", "1"}, 0.007},
                 {{"mpi_icollective_exposed", "0"}, 0.002998},
                 {{"mpi_icollective_wait", "0"}, 0.000998},
                 {{"mpi_icollective_exposed", "1"}, 0.001999},
                 {{"mpi_icollective_exposed", "2"}, 0.008999},
                 {{"mpi_icollective_wait", "2"}, 0.006999},
                 {{"mpi_latereceiver", "2"}, 0.004}},
                table(run.found / "waits.csv", {"pattern", "rank"}));
    CHECK(found.at({"wait_time_mpi_s", "0"}) == doctest::Approx(0.000998));
    CHECK(found.at({"wait_time_mpi_s", "1"}) == doctest::Approx(0.007));
    CHECK(found.at({"wait_time_mpi_s", "2"}) == doctest::Approx(0.006999 + 0.004));
    CHECK(found.at({"mpi_s", "0"}) == doctest::Approx(0.000002 + 0.002998));
    CHECK(found.at({"mpi_s", "1"}) == doctest::Approx(0.008 + 0.000001 + 0.001999 + 0.001));
    CHECK(found.at({"mpi_s", "2"}) == doctest::Approx(0.000001 + 0.008999 + 0.005));
}

TEST_CASE("imbalance is what a region has on the critical path beyond its mean, by the ranks that have it there")
{
    Analysed run;
    make_and_analyse(run, R"(ranks 2
work 6ms, 2ms on 1
MPI_Barrier 1ms
work 1ms, 3ms on 1
MPI_Barrier 1ms
load 1ms, 5ms on 1
MPI_Barrier 1ms
update 2ms
MPI_Barrier 1ms
)");
    // The path has 9 ms of work (6 ms on rank 0, 3 ms on rank 1), where a rank does 6 ms on average, and 5 ms of
    // loading on rank 1, where the average is 3 ms. Updates are balanced; a rank spends more time in barriers than the
    // path does.
    check_equal({{{"work", "0"}, 0.003 * 6 / 9}, {{"work", "1"}, 0.003 * 3 / 9}, {{"load", "1"}, 0.002}},
                table(run.found / "path.csv", {"region", "rank"}, "imbalance_seconds"));
}

TEST_CASE("an archive without MPI has no efficiencies")
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "spec"} << "ranks 2\nrepeat 3 step {\nwork 1ms, 2ms on 1\n}\n";
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", scratch / "spec", "-o", scratch / "made"}).status == 0);
    const testing::Outcome outcome =
        testing::run({CROSSTALK_BIN "/trace-waits", scratch / "made/traces.otf2", "-o", scratch / "found"});
    CHECK(outcome.status == 0);
    CHECK(outcome.out == "no MPI in this archive: no wait states and no efficiencies\n");
    CHECK(base::CsvTable{scratch / "found/pop.csv"}.rows() == 0);
}

TEST_CASE("a Score-P archive has the late senders that Scalasca finds")
{
    const fs::path anchor = fs::path{CROSSTALK_SOURCE} / "../shared/traces/casita-4_mpi_ls_barr/traces.otf2";
    if (!fs::exists(anchor)) return testing::skip("no real archives in ../shared/traces");
    Analysed run;
    analyse(run, anchor);
    CHECK(run.complaints.empty());
    CHECK(sum(run.found / "waits.csv", "seconds", "pattern", "mpi_latesender") ==
          doctest::Approx(30.020573).epsilon(1e-7));
    double length = 0.0;
    for (const auto& [key, seconds] : path(run.found)) length += seconds;
    CHECK(std::abs(length - 20.085424627) <= 1e-6);  // last event - first event, by otf2-print
    // All waiting is caused by foo, on rank 0 and on the ranks that waited for it; CASITA attributes 51.428 s to foo.
    CHECK(sum_of(run.found / "path.csv", "delay_cost_seconds") == doctest::Approx(51.42983952).epsilon(1e-9));
    CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "region", "foo") == doctest::Approx(51.429).epsilon(1e-5));
}

TEST_CASE("waits, exclusive time, path and delay costs are reported by call path where these are followed")
{
    Analysed run;
    std::ofstream{run.scratch / "spec"} << "ranks 2\n"
                                           "region near {\nwork 1ms, 2ms on 1\nMPI_Barrier 1ms\n}\n"
                                           "region far {\nregion near {\nwork 1ms, 4ms on 1\nMPI_Barrier 1ms\n}\n}\n";
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", run.scratch / "spec", "-o", run.made}).status == 0);
    otf2::Reader reader{run.made / "traces.otf2"};
    otf2::CallTree paths;
    const auto name = [&](std::uint32_t path) {
        std::string text;
        for (; path != otf2::nowhere; path = paths.nodes()[path].parent)
            text = "/" + reader.archive().regions[paths.nodes()[path].region].name + text;
        return text;
    };
    std::map<std::string, double> found;
    replay::MpiReplay replay{reader,
                             {.critical_path = true, .call_paths = &paths},
                             [&](const replay::WaitKey& key, const replay::WaitSum& sum) {
                                 found[replay::wait_state(key.pattern).cube_name + name(key.where)] +=
                                     static_cast<double>(sum.ns);
                             }};
    reader.read(replay);
    replay.finish();
    CHECK(paths.nodes().size() == 9);  // with MPI_Init and MPI_Finalize
    CHECK(found == std::map<std::string, double>{{"mpi_barrier_wait/near/MPI_Barrier", 1e6},
                                                 {"mpi_barrier_wait/far/near/MPI_Barrier", 3e6}});
    found.clear();
    for (const auto& [key, ns] : replay.exclusive()) found[name(key.where)] += static_cast<double>(ns);
    CHECK(found == std::map<std::string, double>{{"/near/work", 3e6},
                                                 {"/near/MPI_Barrier", 3e6},
                                                 {"/far/near/work", 5e6},
                                                 {"/far/near/MPI_Barrier", 5e6}});
    found.clear();
    const replay::CriticalPath path = replay.critical_path();
    for (const auto& [key, ns] : path.ns) found[name(key.where)] += static_cast<double>(ns);
    CHECK(found == std::map<std::string, double>{{"/near/work", 2e6},
                                                 {"/near/MPI_Barrier", 1e6},
                                                 {"/far/near/work", 4e6},
                                                 {"/far/near/MPI_Barrier", 1e6}});
    found.clear();
    for (const auto& [key, seconds] : path.delay) found[name(key.where)] += seconds;
    CHECK(found.size() == 2);
    CHECK(found["/near/work"] == doctest::Approx(1e-3));
    CHECK(found["/far/near/work"] == doctest::Approx(3e-3));
}

TEST_CASE("waiting that no delay explains is reported the rank that waited")
{
    Analysed run;
    synth::ThreadMeeting meeting{2};
    constexpr std::int64_t ms = 1'000'000;
    synth::on_each_rank(meeting, [&](int rank) {
        otf2::Recorder recorder{run.made, std::make_unique<synth::ThreadTeam>(rank, meeting, [end = 0]() mutable {
                                    return otf2::ClockOffset{.at_ns = 100 * ms * end++};
                                })};
        otf2::LocationRecorder& main = recorder.location("main");
        recorder.speaks_mpi(main);
        const otf2::CommunicatorRef world = recorder.communicator(otf2::world_communicator, {0, 1});
        const auto bcast = recorder.region("MPI_Bcast", otf2::RegionRole::one_to_all, otf2::Paradigm::mpi);
        // Rank 1 ends the broadcast before rank 0 enters it: the clocks are not corrected.
        const std::int64_t begin_ns = rank == 0 ? 50 * ms : 10 * ms;
        main.enter(bcast, begin_ns);
        main.collective_begin(begin_ns);
        main.collective_end(begin_ns + ms, {.operation = otf2::Operation::broadcast, .communicator = world, .root = 0});
        main.leave(bcast, begin_ns + ms);
        recorder.finish();
    });
    analyse(run, run.made / "traces.otf2");
    CHECK(run.complaints.find("uncorrected clocks?") != std::string::npos);
    CHECK(sum(run.found / "waits.csv", "seconds", "pattern", "mpi_latebroadcast") == doctest::Approx(0.040));
    check_equal({{{"(cause unknown)", "1"}, 0.040}},
                table(run.found / "path.csv", {"region", "rank"}, "delay_cost_seconds"));
}
