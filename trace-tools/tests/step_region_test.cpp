// SPDX-License-Identifier: Apache-2.0
// Detection of the step region, by its attribute or by how it repeats; and the phases of steps.
#include "trace-tools/steps/step_region.hpp"

#include "base/csv.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <functional>

namespace fs = std::filesystem;

namespace {

// Records the events of one rank on a synthetic clock.
class Rank {
 public:
    Rank(otf2::Recorder& recorder, int number) : rank{number}, recorder_{recorder}, main_{recorder.location("main")} {}

    using Inside = std::function<void()>;
    void region(const std::string& name, const Inside& inside, otf2::Paradigm paradigm = otf2::Paradigm::user)
    {
        const otf2::RegionRef region = recorder_.region(name, otf2::RegionRole::function, paradigm);
        main_.enter(region, now_ns_);
        inside();
        main_.leave(region, now_ns_);
    }
    void region(const std::string& name, std::int64_t ms, otf2::Paradigm paradigm = otf2::Paradigm::user)
    {
        region(
            name, [&] { now_ns_ += ms * 1'000'000; }, paradigm);
    }

    int rank;

 private:
    otf2::Recorder& recorder_;
    otf2::LocationRecorder& main_;
    std::int64_t now_ns_ = 1'000'000'000;
};

void repeat(int times, const Rank::Inside& inside)
{
    for (int i = 0; i < times; ++i) inside();
}

// Records `program` on each rank. Returns the anchor.
fs::path record(const testing::Scratch& scratch, int ranks, const std::function<void(Rank&)>& program)
{
    synth::ThreadMeeting meeting{ranks};
    synth::on_each_rank(meeting, [&](int number) {
        otf2::Recorder recorder{scratch / "trace",
                                std::make_unique<synth::ThreadTeam>(number, meeting, [at = std::int64_t{0}]() mutable {
                                    return otf2::ClockOffset{.at_ns = ++at};
                                })};
        Rank rank{recorder, number};
        program(rank);
        recorder.finish();
    });
    return scratch / "trace/traces.otf2";
}

std::string step_of(const fs::path& anchor)
{
    otf2::Reader reader{anchor};
    const auto region = otf2::find_step_region(reader);
    return region ? reader.archive().regions[*region].name : "none";
}

std::string step_of(int ranks, const std::function<void(Rank&)>& program)
{
    const testing::Scratch scratch;
    return step_of(record(scratch, ranks, program));
}

testing::Outcome trace_steps(const testing::Scratch& scratch, const fs::path& anchor, const std::string& region = "")
{
    std::vector<std::string> words{CROSSTALK_BIN "/trace-steps", anchor, "-o", scratch / "steps"};
    if (!region.empty()) words.insert(words.end(), {"--step-region", region});
    return testing::run(words);
}

testing::Outcome steps_from(const testing::Scratch& scratch, const fs::path& anchor, const std::string& region)
{
    fs::remove_all(scratch / "steps");
    return testing::run({CROSSTALK_BIN "/trace-steps", anchor, "-o", scratch / "steps", "--step-from", region});
}

constexpr otf2::Paradigm mpi = otf2::Paradigm::mpi;

}  // namespace

TEST_CASE("the loop between a program's beginning and end is its step")
{
    CHECK(step_of(3, [](Rank& rank) {
              rank.region("main", [&] {
                  rank.region("MPI_Init", 30, mpi);
                  rank.region("read_input", 20 + rank.rank);
                  repeat(200, [&] {
                      rank.region("iteration", [&] {
                          rank.region("compute", 2);
                          rank.region("MPI_Allreduce", 1, mpi);
                      });
                  });
                  rank.region("MPI_Finalize", 10, mpi);
              });
          }) == "iteration");
}

TEST_CASE("a first step that takes much longer does not hide the others")
{
    CHECK(step_of(1, [](Rank& rank) {
              rank.region("main", [&] {
                  rank.region("iteration", 50);
                  repeat(99, [&] { rank.region("iteration", 1); });
              });
          }) == "iteration");
}

TEST_CASE("of loops inside loops the outermost is the step that repeats often enough")
{
    const auto epochs = [](int count) {
        return [count](Rank& rank) {
            rank.region("main", [&] {
                repeat(count, [&] { rank.region("epoch", [&] { repeat(10, [&] { rank.region("iteration", 3); }); }); });
            });
        };
    };
    CHECK(step_of(2, epochs(3)) == "epoch");
    CHECK(step_of(2, epochs(2)) == "iteration");
}

TEST_CASE("no step is what ranks do unequally often, here and there, for unlike times, or for little of the run")
{
    CHECK(step_of(3, [](Rank& rank) {
              rank.region("main", [&] { repeat(4 + rank.rank, [&] { rank.region("iteration", 5); }); });
          }) == "none");
    CHECK(step_of(1, [](Rank& rank) {
              rank.region("main", [&] {
                  repeat(5, [&] { rank.region("work", 5); });
                  rank.region("again", [&] { repeat(5, [&] { rank.region("work", 5); }); });
              });
          }) == "none");
    CHECK(step_of(1, [](Rank& rank) {
              rank.region("main", [&] {
                  rank.region("part", 1);
                  rank.region("part", 100);
                  rank.region("part", 1);
              });
          }) == "none");
    CHECK(step_of(1, [](Rank& rank) {
              rank.region("main", [&] {
                  rank.region("other work", 101);
                  repeat(50, [&] { rank.region("iteration", 2); });
              });
          }) == "none");
    CHECK(step_of(2, [](Rank& rank) { repeat(50, [&] { rank.region("MPI_Barrier", 2, mpi); }); }) == "none");
}

TEST_CASE("a region that calls itself is visited once")
{
    CHECK(step_of(1, [](Rank& rank) {
              const std::function<void(int)> solve = [&](int depth) {
                  rank.region("solve", [&] {
                      rank.region("level", 5);
                      if (depth > 0) solve(depth - 1);
                  });
              };
              rank.region("main", [&] { solve(9); });
          }) == "none");
}

TEST_CASE("what has an attribute step is the step, whatever else has one inside or beside it")
{
    const testing::Scratch scratch;
    {
        otf2::Recorder recorder{scratch / "trace"};
        const otf2::AttributeRef number = recorder.attribute("step", otf2::Type::uint64);
        const otf2::RegionRef step = recorder.region("training step");
        const otf2::RegionRef bucket = recorder.region("bucket");
        otf2::LocationRecorder& main = recorder.location("main");
        otf2::LocationRecorder& transport = recorder.location("transport");
        for (int i = 0; i < 2; ++i) {
            const std::int64_t begin = 1000 + 100 * i;
            main.enter(step, begin, {{number, 7 + i}});
            main.enter(bucket, begin + 10, {{number, 7 + i}});
            main.leave(bucket, begin + 20);
            main.leave(step, begin + 30);
            transport.enter(bucket, begin, {{number, 7 + i}});
            transport.leave(bucket, begin + 99);
        }
        recorder.finish();
    }
    REQUIRE(step_of(scratch / "trace/traces.otf2") == "training step");

    REQUIRE(trace_steps(scratch, scratch / "trace/traces.otf2").status == 0);
    const base::CsvTable table{scratch / "steps/steps.csv"};
    CHECK(table.columns() == std::vector<std::string>{"rank", "step", "begin_ns", "end_ns", "bucket_ns", "other_ns"});
    REQUIRE(table.rows() == 2);
    CHECK(table.get<int>(1, "step") == 8);
    CHECK(table.get<int>(1, "begin_ns") == 1100);
    CHECK(table.get<int>(1, "end_ns") == 1130);
    CHECK(table.get<int>(1, "bucket_ns") == 10);
    CHECK(table.get<int>(1, "other_ns") == 20);
}

TEST_CASE("all 200 steps of a synthetic training are found with the phases it was made of")
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "spec"} << "ranks 3\n"
                                       "region main {\n"
                                       "  prepare 50ms\n"
                                       "  repeat 200 iteration {\n"
                                       "    forward 10ms, 14ms on 1\n"
                                       "    MPI_Allreduce 1ms bytes=4MiB\n"
                                       "    update 2ms\n"
                                       "  }\n"
                                       "}\n";
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", scratch / "spec", "-o", scratch / "made"}).status == 0);
    const testing::Outcome outcome = trace_steps(scratch, scratch / "made/traces.otf2");
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.find("step 'iteration': 200 visits on each of 3 ranks, 17.000 ms each") == 0);

    const base::CsvTable table{scratch / "steps/steps.csv"};
    REQUIRE(table.rows() == 600);
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const int rank = table.get<int>(row, "rank");
        CHECK(rank == static_cast<int>(row / 200));
        CHECK(table.get<int>(row, "step") == static_cast<int>(row % 200));
        CHECK(table.get<std::int64_t>(row, "end_ns") - table.get<std::int64_t>(row, "begin_ns") == 17'000'000);
        CHECK(table.get<int>(row, "forward_ns") == (rank == 1 ? 14'000'000 : 10'000'000));
        CHECK(table.get<int>(row, "MPI_Allreduce_ns") == (rank == 1 ? 1'000'000 : 5'000'000));
        CHECK(table.get<int>(row, "update_ns") == 2'000'000);
        CHECK(table.get<int>(row, "other_ns") == 0);
    }
}

TEST_CASE("where nothing repeats trace-steps says so and takes the region that is named")
{
    const testing::Scratch scratch;
    const fs::path anchor = record(scratch, 3, [](Rank& rank) {
        rank.region("main", [&] { repeat(4 + rank.rank, [&] { rank.region("iteration", 5); }); });
    });
    const testing::Outcome nothing = trace_steps(scratch, anchor);
    CHECK(nothing.status == 3);
    CHECK(nothing.err.find(anchor.string() + ": no region repeats like a step") != std::string::npos);
    CHECK(nothing.err.find("main, iteration") != std::string::npos);
    CHECK_FALSE(fs::exists(scratch / "steps"));
    CHECK(trace_steps(scratch, anchor, "iterations").status == 2);

    const testing::Outcome named = trace_steps(scratch, anchor, "iteration");
    CHECK(named.status == 0);
    CHECK(named.out.find("step 'iteration': 4 to 6 visits on each of 3 ranks, 5.000 ms each") == 0);
    CHECK(base::CsvTable{scratch / "steps/steps.csv"}.rows() == 15);
}

TEST_CASE("of an archive that has MPI calls only the call that repeats is found")
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "spec"} << "ranks 2\nMPI_Barrier 1ms\nMPI_Barrier 1ms\nMPI_Barrier 1ms\n";
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", scratch / "spec", "-o", scratch / "made"}).status == 0);
    const std::string anchor = scratch / "made/traces.otf2";
    const std::string answer = "step 'MPI_Barrier to MPI_Barrier': 2 visits on each of 2 ranks, 1.000 ms each";
    const testing::Outcome found = trace_steps(scratch, anchor);
    CHECK_MESSAGE(found.out.find(answer) == 0, found.out, found.err);
    CHECK(steps_from(scratch, anchor, "MPI_Barrier").out.find(answer) == 0);
    fs::remove_all(scratch / "steps");
    CHECK(trace_steps(scratch, anchor, "MPI_Barrier").status == 0);
}

TEST_CASE("of several calls that repeat the one made least often is the step's end if that is often enough")
{
    const auto found_in = [](const std::string& loop, int times) {
        const testing::Scratch scratch;
        std::ofstream spec{scratch / "spec"};
        spec << "ranks 2\n";
        for (int i = 0; i < times; ++i) spec << loop;
        spec.close();
        REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", scratch / "spec", "-o", scratch / "made"}).status == 0);
        otf2::Reader reader{scratch / "made/traces.otf2"};
        const auto call = otf2::find_steps(reader).call;
        return call ? reader.archive().regions[*call].name : "none";
    };
    const std::string three_and_one = "MPI_Allreduce 1ms\nMPI_Allreduce 1ms\nMPI_Allreduce 1ms\nMPI_Barrier 1ms\n";
    CHECK(found_in(three_and_one, 100) == "MPI_Barrier");
    CHECK(found_in(three_and_one, 99) == "MPI_Allreduce");
}

TEST_CASE("calls that are made at the beginning only or on one rank only are no steps and trace-steps says what to do")
{
    const testing::Scratch scratch;
    const fs::path anchor = record(scratch, 2, [](Rank& rank) {
        for (int i = 0; i < 5; ++i) rank.region("MPI_Bcast", 1, mpi);  // not recorded as a collective
        rank.region("main", [&] { rank.region("work", 100); });
    });
    const testing::Outcome nothing = trace_steps(scratch, anchor);
    CHECK(nothing.status == 3);
    CHECK(nothing.err.find("give one with --step-region: main, work") != std::string::npos);
    std::ofstream{scratch / "spec"}
        << "ranks 2\nMPI_Barrier 1us\nMPI_Barrier 1us\nMPI_Barrier 1us\nMPI_Send 0>1 50ms\n";
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", scratch / "spec", "-o", scratch / "early"}).status == 0);
    const std::string early = scratch / "early/traces.otf2";
    const testing::Outcome none = trace_steps(scratch, early);
    CHECK(none.status == 3);
    CHECK(none.err == "trace-steps: " + early +
                          ": no call repeats on all ranks; give one with --step-from, such as MPI_Barrier, MPI_Send, "
                          "MPI_Recv (trace-info counts them)\n");
}

TEST_CASE("steps from call to call end with the call, which is one of their phases")
{
    const testing::Scratch scratch;
    {
        otf2::Recorder recorder{scratch / "trace"};
        const auto call = [&](const char* name) {
            return recorder.region(name, otf2::RegionRole::function, otf2::Paradigm::mpi);
        };
        const otf2::RegionRef reduce = call("MPI_Allreduce");
        const otf2::RegionRef send = call("MPI_Send");
        otf2::LocationRecorder& main = recorder.location("main");
        const auto visit = [&](otf2::RegionRef region, std::int64_t begin_ns, std::int64_t end_ns) {
            main.enter(region, begin_ns);
            main.leave(region, end_ns);
        };
        visit(send, 5, 9);  // before the first call: in no step
        visit(reduce, 10, 30);
        visit(send, 40, 45);
        visit(send, 50, 56);
        visit(reduce, 70, 100);
        visit(reduce, 160, 170);
        visit(send, 180, 190);  // after the last
        main.enter(call("MPI_Init"), 200);
        visit(reduce, 210, 220);  // no step follows: MPI_Init ends before the next call
        main.leave(call("MPI_Init"), 230);
        visit(reduce, 240, 250);
        recorder.finish();
    }
    const testing::Outcome outcome = steps_from(scratch, scratch / "trace/traces.otf2", "MPI_Allreduce");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    const base::CsvTable table{scratch / "steps/steps.csv"};
    REQUIRE(table.rows() == 2);
    const auto row = [&](std::size_t number) {
        std::vector<int> cells;
        for (const char* column : {"step", "begin_ns", "end_ns", "MPI_Send_ns", "MPI_Allreduce_ns", "other_ns"})
            cells.push_back(table.get<int>(number, column));
        return cells;
    };
    CHECK(row(0) == std::vector<int>{0, 30, 100, 11, 30, 29});
    CHECK(row(1) == std::vector<int>{1, 100, 170, 0, 10, 60});
    const fs::path anchor = scratch / "trace/traces.otf2";
    CHECK(steps_from(scratch, anchor, "MPI_Alreduce").err.find("--step-from: no region") != std::string::npos);
    CHECK(testing::run({CROSSTALK_BIN "/trace-steps", anchor, "--step-from", "MPI_Send", "--step-region", "MPI_Send"})
              .status == 2);
}

TEST_CASE("a step that never ends is none and a phase that is never left ends with its step")
{
    const testing::Scratch scratch;
    {
        otf2::Recorder recorder{scratch / "trace"};
        const otf2::RegionRef step = recorder.region("step");
        const otf2::RegionRef phase = recorder.region("phase");
        otf2::LocationRecorder& main = recorder.location("main");
        main.enter(step, 1000);
        main.enter(phase, 1010);
        main.leave(step, 1030);
        main.enter(step, 1040);
        recorder.finish();
    }
    REQUIRE(trace_steps(scratch, scratch / "trace/traces.otf2", "step").status == 0);
    const base::CsvTable table{scratch / "steps/steps.csv"};
    REQUIRE(table.rows() == 1);
    CHECK(table.get<int>(0, "phase_ns") == 20);
    CHECK(table.get<int>(0, "other_ns") == 10);
}
