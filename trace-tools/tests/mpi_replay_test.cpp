// Wait states and critical paths: of archives made with known ones, and of a real one.
#include "trace-tools/replay/mpi_replay.hpp"

#include "base/csv.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/replay/started_requests.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

// Seconds by what the other columns say.
using Seconds = std::map<std::vector<std::string>, double>;

Seconds table(const fs::path& file, const std::vector<std::string>& columns, const std::string& of = "seconds")
{
    const base::CsvTable csv{file};
    Seconds seconds;
    for (std::size_t row = 0; row < csv.rows(); ++row) {
        std::vector<std::string> key;
        for (const std::string& column : columns) key.push_back(csv.text(row, column));
        if (csv.get<double>(row, of) > 0.0) seconds[key] += csv.get<double>(row, of);
    }
    return seconds;
}

Seconds waits(const fs::path& directory)
{
    return table(directory / "waits.csv", {"pattern", "region", "rank", "step", "count"});
}

// All that a table says, in an order of its own.
std::multiset<std::string> rows(const fs::path& file)
{
    std::ifstream in{file};
    std::multiset<std::string> rows;
    for (std::string line; std::getline(in, line);) rows.insert(line);
    return rows;
}

Seconds path(const fs::path& directory)
{
    return table(directory / "path.csv", {"region", "rank"});
}

double sum(const fs::path& file, const std::string& column, const std::string& name, const std::string& value)
{
    const base::CsvTable csv{file};
    double all = 0.0;
    for (std::size_t row = 0; row < csv.rows(); ++row)
        if (csv.text(row, name) == value) all += csv.get<double>(row, column);
    return all;
}

double sum_of(const fs::path& file, const std::string& column)
{
    const base::CsvTable csv{file};
    double all = 0.0;
    for (std::size_t row = 0; row < csv.rows(); ++row) all += csv.get<double>(row, column);
    return all;
}

struct Analysed {
    testing::Scratch scratch;
    fs::path made = scratch / "made";
    fs::path found = scratch / "found";
    std::string complaints;
};

void analyse(Analysed& run, const fs::path& anchor)
{
    for (const char* tool : {"/trace-waits", "/trace-path"}) {
        const testing::Outcome outcome = testing::run({CROSSTALK_BIN + std::string{tool}, anchor, "-o", run.found});
        REQUIRE(outcome.status == 0);
        run.complaints += outcome.err;
    }
}

void make_and_analyse(Analysed& run, const std::string& spec)
{
    std::ofstream{run.scratch / "spec"} << spec;
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", run.scratch / "spec", "-o", run.made}).status == 0);
    analyse(run, run.made / "traces.otf2");
}

void check_equal(const Seconds& truth, const Seconds& found)
{
    CHECK(truth.size() == found.size());
    for (const auto& [key, seconds] : truth) {
        const auto there = found.find(key);
        REQUIRE(there != found.end());
        CHECK(std::abs(there->second - seconds) <= 1e-9 * seconds);
    }
}

// Waits and path are those that the archive was made with.
void check_answers(const Analysed& run)
{
    CHECK(run.complaints.empty());
    check_equal(waits(run.made), waits(run.found));
    check_equal(path(run.made), path(run.found));
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
        main.request_cancelled(10, 1);  // and 3 is freed
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
    CHECK(replay::started_requests(reader, false).receives.at(0).posted ==
          std::vector<std::uint32_t>{otf2::nowhere, 0, otf2::nowhere, 0});
    analyse(run, run.made / "traces.otf2");
    CHECK(run.complaints.empty());
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
    // Rank 1 waits for the message from 3 ms to 10 ms and starts the sum last, at 11 ms. For that rank 0 waits from
    // 10.002 ms and rank 2 from 4.001 ms: a call that starts or sends takes 1 us. All have the sum at 13 ms, and rank 2
    // is blocked in MPI_Ssend until rank 1 receives at 17 ms.
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
    // The path has 6 ms of work on rank 0 and 3 ms on rank 1, of which both do 6 ms on average, and 5 ms of loading on
    // rank 1 beside an average of 3 ms. Updates are balanced; in barriers a rank is longer than the path.
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
    // All waiting has a cause: foo, on rank 0 and on those that waited for it; CASITA blames 51.428 s on it.
    CHECK(sum_of(run.found / "path.csv", "delay_cost_seconds") == doctest::Approx(51.42983952).epsilon(1e-9));
    CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "region", "foo") == doctest::Approx(51.429).epsilon(1e-5));
}

TEST_CASE("steps may be the visits of a named region")
{
    testing::Scratch scratch;
    std::ofstream{scratch / "spec"} << "ranks 2\nregion iteration {\nwork 1ms, 2ms on 1\nMPI_Barrier 1ms\n}\n"
                                       "region iteration {\nwork 1ms, 4ms on 1\nMPI_Barrier 1ms\n}\n";
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", scratch / "spec", "-o", scratch / "made"}).status == 0);
    const std::vector<std::string> command{CROSSTALK_BIN "/trace-waits", scratch / "made/traces.otf2", "-o",
                                           scratch / "found"};
    std::vector<std::string> with_steps = command;
    with_steps.insert(with_steps.end(), {"--step-region", "iteration"});
    REQUIRE(testing::run(with_steps).status == 0);
    CHECK(waits(scratch / "found") == Seconds{{{"mpi_barrier_wait", "MPI_Barrier", "0", "0", "1"}, 0.001},
                                              {{"mpi_barrier_wait", "MPI_Barrier", "0", "1", "1"}, 0.003}});
    with_steps.back() = "iterations";
    const testing::Outcome wrong = testing::run(with_steps);
    CHECK(wrong.status == 2);
    CHECK(wrong.err.find("there is no region 'iterations'") != std::string::npos);
    CHECK(testing::run(command).status == 2);  // waits.csv is there already
}

TEST_CASE("steps that no attribute numbers are those that trace-steps finds")
{
    Analysed run;
    std::ofstream{run.scratch / "spec"} << "ranks 2\nwork 1ms\n"
                                        << "region iteration {\nwork 2ms, 3ms on 1\nMPI_Barrier 1ms\n}\n"
                                        << "region iteration {\nwork 2ms, 4ms on 1\nMPI_Barrier 1ms\n}\n"
                                        << "region iteration {\nwork 2ms, 5ms on 1\nMPI_Barrier 1ms\n}\n";
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", run.scratch / "spec", "-o", run.made}).status == 0);
    analyse(run, run.made / "traces.otf2");
    check_equal({{{"mpi_barrier_wait", "MPI_Barrier", "0", "0", "1"}, 0.001},
                 {{"mpi_barrier_wait", "MPI_Barrier", "0", "1", "1"}, 0.002},
                 {{"mpi_barrier_wait", "MPI_Barrier", "0", "2", "1"}, 0.003}},
                waits(run.found));
}

TEST_CASE("phases are the regions directly inside a step and add up to it")
{
    Analysed run;
    std::ofstream{run.scratch / "spec"} << "ranks 2\nrepeat 2 step {\n"
                                           "load 1ms\n"
                                           "region train {\nforward 2ms\nMPI_Barrier 1ms\n}\n"
                                           "load 3ms, 5ms on 1\n"
                                           "}\nload 7ms\n";
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", run.scratch / "spec", "-o", run.made}).status == 0);
    analyse(run, run.made / "traces.otf2");
    Seconds truth;
    for (const char* rank : {"0", "1"})
        for (const char* step : {"0", "1"}) {
            truth[{"load", rank, step}] = *rank == '0' ? 0.004 : 0.006;
            truth[{"train", rank, step}] = *rank == '0' && *step == '1' ? 0.005 : 0.003;
        }
    check_equal(truth, table(run.found / "phases.csv", {"region", "rank", "step"}));

    {
        otf2::Recorder recorder{run.scratch / "gaps"};
        otf2::LocationRecorder& location = recorder.location("main");
        const otf2::RegionRef step = recorder.region("step");
        const otf2::RegionRef part = recorder.region("part");
        location.enter(step, 0, {{recorder.attribute("step", otf2::Type::uint64, ""), 4}});
        location.enter(part, 1'000'000'000);
        location.leave(part, 3'000'000'000);
        location.leave(step, 7'000'000'000);
        recorder.finish();
    }
    REQUIRE(
        testing::run({CROSSTALK_BIN "/trace-waits", run.scratch / "gaps/traces.otf2", "-o", run.scratch / "of gaps"})
            .status == 0);
    CHECK(table(run.scratch / "of gaps/phases.csv", {"region", "rank", "step"}) ==
          Seconds{{{"part", "-1", "4"}, 2.0}, {{"step", "-1", "4"}, 5.0}});
}

namespace {

// A rank of a training, ms by ms: a thread computes and hands buckets to another one that averages them.
class TaskRank {
 public:
    TaskRank(const fs::path& directory, int rank, synth::ThreadMeeting& meeting)
        : recorder_{directory, std::make_unique<synth::ThreadTeam>(rank, meeting, [end = 0]() mutable {
                        return otf2::ClockOffset{.at_ns = 1000 * ms * end++};
                    })}
    {
        recorder_.speaks_mpi(transport_);
    }

    void work(const std::string& region, int begin, int end) { visit(main_, recorder_.region(region), begin, end); }
    void hand_over(int at) { visit(main_, recorder_.region("ready", otf2::RegionRole::task_create), at, at); }
    void wait(int begin, int end) { visit(main_, recorder_.region("wait", otf2::RegionRole::task_wait), begin, end); }
    void average(int begin, int end)
    {
        const auto bucket = recorder_.region("bucket", otf2::RegionRole::task);
        const auto start = recorder_.region("MPI_Iallreduce", otf2::RegionRole::all_to_all, otf2::Paradigm::mpi);
        const auto test = recorder_.region("MPI_Wait", otf2::RegionRole::point_to_point, otf2::Paradigm::mpi);
        const otf2::CommunicatorRef world = recorder_.communicator(otf2::world_communicator, {0, 1});
        transport_.enter(bucket, begin * ms);
        transport_.enter(start, begin * ms);
        transport_.collective_request(begin * ms, ++requests_);
        transport_.leave(start, begin * ms);
        transport_.enter(test, begin * ms);
        transport_.collective_complete(end * ms, {.operation = otf2::Operation::allreduce, .communicator = world},
                                       requests_);
        transport_.leave(test, end * ms);
        transport_.leave(bucket, end * ms);
    }
    void finish() { recorder_.finish(); }

 private:
    static constexpr std::int64_t ms = 1'000'000;

    static void visit(otf2::LocationRecorder& location, otf2::RegionRef region, int begin, int end)
    {
        location.enter(region, begin * ms);
        location.leave(region, end * ms);
    }

    otf2::Recorder recorder_;
    otf2::LocationRecorder& main_ = recorder_.location("main");
    otf2::LocationRecorder& transport_ = recorder_.location("transport");
    std::uint64_t requests_ = 0;
};

}  // namespace

TEST_CASE("the path goes from a thread that waits to the thread that works for it, and on to the rank that was late")
{
    Analysed run;
    synth::ThreadMeeting meeting{2};
    synth::on_each_rank(meeting, [&](int number) {
        TaskRank rank{run.made, number, meeting};
        const bool late = number == 1;
        for (const int begin : {0, 100}) {  // the late one hands its first bucket over 20 ms later
            const int delay = late ? 20 : 0;
            rank.work("forward", begin, begin + 10);
            if (late) rank.work("delay", begin + 10, begin + 30);
            rank.work("backward", begin + 10 + delay, begin + 20 + delay);
            rank.hand_over(begin + 20 + delay);
            rank.work("backward", begin + 20 + delay, begin + 35 + delay);
            rank.hand_over(begin + 35 + delay);
            rank.wait(begin + 35 + delay, begin + 61);
            rank.average(begin + 20 + delay, begin + 45);
            rank.average(begin + (late ? 55 : 45), begin + 60);
            rank.work("update", begin + 61, begin + 100);
        }
        rank.finish();
    });
    analyse(run, run.made / "traces.otf2");
    CHECK(run.complaints.empty());
    const Seconds found = path(run.found);
    const auto share = [&](const char* region, const char* rank) {
        const auto there = found.find({region, rank});
        return there == found.end() ? 0.0 : there->second;
    };
    // Twice, up to the end on rank 0's main thread: the late one computes up to its second bucket, 55 ms, 5 ms go
    // into the exchange, 1 ms into the news of it.
    CHECK(share("forward", "1") == doctest::Approx(0.020));
    CHECK(share("delay", "1") == doctest::Approx(0.040));
    CHECK(share("backward", "1") == doctest::Approx(0.050));
    CHECK(share("MPI_Wait", "0") + share("MPI_Wait", "1") == doctest::Approx(0.010));
    CHECK(share("wait", "0") + share("wait", "1") == doctest::Approx(0.002));
    CHECK(share("update", "0") + share("update", "1") == doctest::Approx(0.078));
    double all = 0.0;
    for (const auto& [key, seconds] : found) all += seconds;
    CHECK(all == doctest::Approx(0.200).epsilon(1e-12));
    // Rank 0 waits 20 ms for the first bucket and 10 ms more for the second, each time for the delay alone.
    CHECK(sum(run.found / "waits.csv", "seconds", "pattern", "mpi_icollective_wait") == doctest::Approx(0.060));
    CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "region", "delay") == doctest::Approx(0.060));
}

TEST_CASE("delay costs of threads that do tasks for others add up to what was waited")
{
    std::mt19937 random{3};  // NOLINT: the same each time
    const auto up_to = [&](int most) { return 1 + std::uniform_int_distribution{0, most - 1}(random); };
    for (int round = 0; round < 5; ++round) {
        // By step and rank, in ms: each bucket is averaged when both ranks have it and the one before is done.
        constexpr int step_ms = 120;
        std::vector<std::array<std::array<int, 2>, 2>> ready(8);  // by step, bucket and rank
        for (auto& buckets : ready)
            for (int rank : {0, 1}) {
                buckets[0].at(static_cast<std::size_t>(rank)) = up_to(40);
                buckets[1].at(static_cast<std::size_t>(rank)) =
                    buckets[0].at(static_cast<std::size_t>(rank)) + up_to(30);
            }
        Analysed run;
        synth::ThreadMeeting meeting{2};
        synth::on_each_rank(meeting, [&](int number) {
            const auto own = static_cast<std::size_t>(number);
            TaskRank rank{run.made, number, meeting};
            for (std::size_t step = 0; step < ready.size(); ++step) {
                const int begin = static_cast<int>(step) * step_ms;
                const auto& [first, second] = ready[step];
                const int first_end = std::max(first[0], first[1]) + 2;
                const int second_end = std::max({second[0], second[1], first_end}) + 2;
                rank.work("forward", begin, begin + first.at(own));
                rank.hand_over(begin + first.at(own));
                rank.work("backward", begin + first.at(own), begin + second.at(own));
                rank.hand_over(begin + second.at(own));
                rank.wait(begin + second.at(own), begin + second_end);
                rank.average(begin + first.at(own), begin + first_end);
                rank.average(begin + std::max(first_end, second.at(own)), begin + second_end);
                rank.work("update", begin + second_end, begin + step_ms);
            }
            rank.finish();
        });
        analyse(run, run.made / "traces.otf2");
        const double waited = sum(run.found / "waits.csv", "seconds", "pattern", "mpi_icollective_wait");
        CHECK(waited > 0.05);
        CHECK(sum_of(run.found / "path.csv", "delay_cost_seconds") == doctest::Approx(waited).epsilon(1e-9));
        CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "region", "(cause unknown)") == 0.0);
    }
}

TEST_CASE("threads that wait for tasks and do some themselves have a path as long as the run")
{
    // By thread, in ms: + enters and - leaves a region that creates a task, is one, waits or does nothing of that.
    using Thread = std::vector<std::pair<int, std::string>>;
    const auto check_path = [](const std::vector<Thread>& threads, const Seconds& pieces) {
        Analysed run;
        std::int64_t first_ns = INT64_MAX;
        std::int64_t last_ns = 0;
        {
            otf2::Recorder recorder{run.made};
            const std::map<std::string, otf2::RegionRef> regions{
                {"create", recorder.region("create", otf2::RegionRole::task_create)},
                {"task", recorder.region("task", otf2::RegionRole::task)},
                {"wait", recorder.region("wait", otf2::RegionRole::task_wait)},
                {"work", recorder.region("work")}};
            for (std::size_t number = 0; number < threads.size(); ++number) {
                otf2::LocationRecorder& location = recorder.location("thread " + std::to_string(number));
                for (const auto& [ms, event] : threads[number]) {
                    const otf2::RegionRef region = regions.at(event.substr(1));
                    const std::int64_t at_ns = ms * std::int64_t{1'000'000};
                    event.front() == '+' ? location.enter(region, at_ns) : location.leave(region, at_ns);
                    first_ns = std::min(first_ns, at_ns);
                    last_ns = std::max(last_ns, at_ns);
                }
            }
            recorder.finish();
        }
        analyse(run, run.made / "traces.otf2");
        const Seconds found = table(run.found / "path.csv", {"region"});
        double length_s = 0.0;
        for (const auto& [region, seconds] : found) length_s += seconds;
        CHECK(length_s == doctest::Approx(static_cast<double>(last_ns - first_ns) / 1e9).epsilon(1e-12));
        for (const auto& [region, seconds] : pieces) CHECK(found.at(region) == doctest::Approx(seconds));
    };
    check_path({{{0, "+work"}, {10, "+wait"}, {20, "+work"}, {80, "-work"}, {90, "-wait"}, {100, "-work"}}},
               {{{"work"}, 0.080}, {{"wait"}, 0.020}});
    check_path({{{0, "+work"}, {20, "+create"}, {21, "-create"}, {40, "-work"}},
                {{0, "+work"}, {10, "+wait"}, {30, "+task"}, {50, "-task"}, {60, "-wait"}, {70, "-work"}}},
               {});
    // The checkpoint that another thread continues to write belongs to the thread that created it.
    check_path({{{0, "+work"}, {5, "+create"}, {6, "-create"}, {10, "+wait"}, {20, "-wait"}, {50, "-work"}},
                {{6, "+task"}, {19, "-task"}},
                {{50, "+work"}, {90, "-work"}}},
               {{{"work"}, 0.075}, {{"task"}, 0.013}});

    std::mt19937 random{7};  // NOLINT: the same each time
    const auto up_to = [&](int most) { return std::uniform_int_distribution{0, most}(random); };
    const std::array<std::string, 4> names{"create", "task", "wait", "work"};
    for (int round = 0; round < 20; ++round) {
        std::vector<Thread> threads(static_cast<std::size_t>(2 + up_to(1)));
        for (Thread& thread : threads) {
            std::vector<std::string> open;
            int ms = up_to(4);
            for (int event = 0; event < 30 || !open.empty(); ++event, ms += up_to(8)) {
                if (!open.empty() && (event >= 30 || up_to(1) == 1)) {
                    thread.emplace_back(ms, "-" + open.back());
                    open.pop_back();
                } else {
                    open.push_back(names.at(static_cast<std::size_t>(up_to(3))));
                    thread.emplace_back(ms, "+" + open.back());
                }
            }
        }
        check_path(threads, {});
    }
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
        // Another thread than the one that stands for the rank meets the other rank's.
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

TEST_CASE("a thread that tells of steps without being in them has no phases, and its waits have steps")
{
    Analysed run;
    {
        otf2::Recorder recorder{run.made};
        otf2::LocationRecorder& main = recorder.location("main");
        otf2::LocationRecorder& exchanges = recorder.location("exchanges");
        recorder.speaks_mpi(exchanges);
        const otf2::CommunicatorRef world = recorder.communicator(otf2::world_communicator, {0});
        const otf2::RegionRef step = recorder.region("step");
        const otf2::RegionRef bucket = recorder.region("bucket");
        const otf2::RegionRef call = recorder.region("MPI_Test", otf2::RegionRole::point_to_point, otf2::Paradigm::mpi);
        const otf2::RegionRef start =
            recorder.region("MPI_Iallreduce", otf2::RegionRole::all_to_all, otf2::Paradigm::mpi);
        const otf2::AttributeRef number = recorder.attribute("step", otf2::Type::uint64, "");
        main.enter(step, 0, {{number, 4}});
        exchanges.enter(bucket, 1'000'000'000, {{number, 4}});
        exchanges.enter(start, 1'000'000'000);
        exchanges.collective_request(1'000'000'000, 1);
        exchanges.leave(start, 1'000'000'000);
        exchanges.enter(call, 2'000'000'000);
        exchanges.collective_complete(3'000'000'000, {.operation = otf2::Operation::allreduce, .communicator = world},
                                      1);
        exchanges.leave(call, 3'000'000'000);
        exchanges.leave(bucket, 3'000'000'000);
        main.leave(step, 7'000'000'000);
        recorder.finish();
    }
    for (const char* words : {"", "--step-region=step"}) {
        const fs::path found = run.scratch / (std::string{"found"} + words);
        std::vector<std::string> command{CROSSTALK_BIN "/trace-waits", run.made / "traces.otf2", "-o", found};
        if (*words != 0) command.emplace_back(words);
        REQUIRE(testing::run(command).status == 0);
        CHECK(table(found / "phases.csv", {"region", "step"}) == Seconds{{{"step", "4"}, 7.0}});
        CHECK(waits(found) == Seconds{{{"mpi_icollective_exposed", "MPI_Test", "0", "4", "1"}, 1.0}});
    }
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
        // Rank 1 has what rank 0 sends before that comes: by clocks that are not corrected.
        const std::int64_t begin_ns = rank == 0 ? 50 * ms : 10 * ms;
        main.enter(bcast, begin_ns);
        main.collective_begin(begin_ns);
        main.collective_end(begin_ns + ms, {.operation = otf2::Operation::broadcast, .communicator = world, .root = 0});
        main.leave(bcast, begin_ns + ms);
        recorder.finish();
    });
    analyse(run, run.made / "traces.otf2");
    CHECK(run.complaints.find("clocks that are not corrected?") != std::string::npos);
    CHECK(sum(run.found / "waits.csv", "seconds", "pattern", "mpi_latebroadcast") == doctest::Approx(0.040));
    check_equal({{{"(cause unknown)", "1"}, 0.040}},
                table(run.found / "path.csv", {"region", "rank"}, "delay_cost_seconds"));
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
    CHECK(run.complaints.find("trace-waits: 3 MPI events are outside of an MPI call") != std::string::npos);
    CHECK(waits(run.found).empty());
}
