// SPDX-License-Identifier: Apache-2.0
// Threads that execute tasks of other threads; steps and phases of a replay.
#include "base/csv.hpp"
#include "testing/archives/analysed_archives.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/replay/mpi_replay.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using testing::analyse;
using testing::Analysed;
using testing::check_equal;
using testing::path;
using testing::Seconds;
using testing::sum;
using testing::sum_of;
using testing::table;
using testing::waits;

namespace {

// Records a training rank, all times in ms: one thread computes and hands over buckets, another one averages them.
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
    CHECK(testing::run(command).status == 2);  // waits.csv is there already
    std::filesystem::remove_all(scratch / "found");
    with_steps.back() = "iterations";
    const testing::Outcome wrong = testing::run(with_steps);
    CHECK(wrong.status == 2);
    CHECK(wrong.err.find("no region 'iterations'") != std::string::npos);
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

TEST_CASE("the path goes from a thread that waits to the thread that works for it, and on to the rank that was late")
{
    Analysed run;
    synth::ThreadMeeting meeting{2};
    synth::on_each_rank(meeting, [&](int number) {
        TaskRank rank{run.made, number, meeting};
        const bool late = number == 1;
        for (const int begin : {0, 100}) {  // rank 1 hands over its first bucket 20 ms late
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
    // The path of each of the two steps ends on rank 0's main thread: rank 1 computes for 55 ms up to its second
    // bucket, the exchange takes 5 ms, and the waiting thread continues 1 ms later.
    CHECK(share("forward", "1") == doctest::Approx(0.020));
    CHECK(share("delay", "1") == doctest::Approx(0.040));
    CHECK(share("backward", "1") == doctest::Approx(0.050));
    CHECK(share("MPI_Wait", "0") + share("MPI_Wait", "1") == doctest::Approx(0.010));
    CHECK(share("wait", "0") + share("wait", "1") == doctest::Approx(0.002));
    CHECK(share("update", "0") + share("update", "1") == doctest::Approx(0.078));
    double all = 0.0;
    for (const auto& [key, seconds] : found) all += seconds;
    CHECK(all == doctest::Approx(0.200).epsilon(1e-12));
    // In each step rank 0 waits 20 ms for the first bucket and 10 ms more for the second, all because of the delay.
    CHECK(sum(run.found / "waits.csv", "seconds", "pattern", "mpi_icollective_wait") == doctest::Approx(0.060));
    CHECK(sum(run.found / "path.csv", "delay_cost_seconds", "region", "delay") == doctest::Approx(0.060));
}

TEST_CASE("delay costs of threads that do tasks for others add up to what was waited")
{
    std::mt19937 random{3};  // NOLINT: fixed seed
    const auto up_to = [&](int most) { return 1 + std::uniform_int_distribution{0, most - 1}(random); };
    for (int round = 0; round < 5; ++round) {
        // Times in ms. A bucket is averaged once both ranks have it and the previous one is done.
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
    // Events of a thread, times in ms: + enters and - leaves a region that creates a task, is one, waits for one, or
    // does none of these.
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
    // A task that another thread executes, such as writing a checkpoint, belongs to the thread that created it.
    check_path({{{0, "+work"}, {5, "+create"}, {6, "-create"}, {10, "+wait"}, {20, "-wait"}, {50, "-work"}},
                {{6, "+task"}, {19, "-task"}},
                {{50, "+work"}, {90, "-work"}}},
               {{{"work"}, 0.075}, {{"task"}, 0.013}});

    std::mt19937 random{7};  // NOLINT: fixed seed
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
