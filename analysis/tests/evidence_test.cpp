// SPDX-License-Identifier: Apache-2.0
// Interruptions of main threads are divided among their ranks' steps; expected values are by hand.
#include "analysis/input/evidence.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace {

// Rank 0 is process 10, rank 1 process 20. Three steps of 10 ms, from 0 ms on; those of rank 1 begin 2 ms later.
analysis::StepTable three_steps()
{
    analysis::StepTable steps;
    for (const std::int64_t number : {5, 6, 7}) steps.numbers.push_back(number);
    for (int r = 0; r < 2; ++r) {
        analysis::RankSteps& rank = steps.ranks.emplace_back();
        rank.rank = r;
        for (std::int64_t i = 0; i < 3; ++i) {
            rank.begin_ns.push_back(i * 10'000'000 + r * 2'000'000);
            rank.end_ns.push_back((i + 1) * 10'000'000 + r * 2'000'000);
        }
    }
    return steps;
}

const nlohmann::ordered_json record = {
    {"result", {{"each_rank", {{{"host", "node1"}, {"pid", 10}}, {{"host", "node1"}, {"pid", 20}}}}}}};

void put_rows(const testing::Scratch& run, const std::string& rows)
{
    std::filesystem::create_directories(run / "os/node1");
    base::write_whole(run / "os/node1/os.csv",
                      "begin_ns,end_ns,source,cause,by,by_process,thread,cpu,count,ns\n" + rows);
}

double sum_of(const analysis::Evidence& evidence, int rank, std::int64_t step, const std::string& cause)
{
    double ms = 0.0;
    for (const analysis::EvidenceRow& row : evidence.rows)
        if (row.rank == rank && row.step == step && row.cause == cause) ms += row.ms;
    return ms;
}

}  // namespace

TEST_CASE("an interruption over two steps is divided by time and belongs to the rank whose main thread it kept")
{
    const testing::Scratch run;
    // On rank 0, 8 to 13 ms: 2 ms in step 5, 3 ms in step 6. Thread 11 is not a main thread. On rank 1, a softirq of 1
    // ms in its step 5, of which 0.5 ms were spent in an interrupt.
    put_rows(run,
             "8000000,13000000,bpf,neighbour,taker,99,10,0,1,5000000\n"
             "8000000,13000000,bpf,neighbour,taker,99,11,0,1,5000000\n"
             "3000000,4000000,bpf,softirq,NET_RX,,20,1,1,500000\n"
             "0,30000000,schedstat,runqueue_wait,,,10,,3,9000000\n");
    const analysis::Evidence evidence = analysis::read_evidence(run.path(), record, three_steps());
    CHECK(evidence.names == std::vector<std::string>{"neighbour", "softirq"});
    CHECK(sum_of(evidence, 0, 5, "neighbour") == doctest::Approx(2.0));
    CHECK(sum_of(evidence, 0, 6, "neighbour") == doctest::Approx(3.0));
    CHECK(sum_of(evidence, 0, 7, "neighbour") == 0.0);
    CHECK(sum_of(evidence, 1, 5, "softirq") == doctest::Approx(0.5));
    CHECK(sum_of(evidence, 1, 5, "neighbour") == 0.0);
    // The job's step is the mean over its two ranks.
    CHECK(evidence.ms(0, 0) == doctest::Approx(1.0));
    CHECK(evidence.ms(1, 0) == doctest::Approx(1.5));
    CHECK(evidence.ms(0, 1) == doctest::Approx(0.25));
}

TEST_CASE("waits by counters spread evenly where the kernel's programs did not record")
{
    const testing::Scratch run;
    put_rows(run,
             "5000000,25000000,schedstat,runqueue_wait,,,10,,3,4000000\n"
             "10000000,20000000,stat,block_io,,,10,,0,5000000\n"
             "10000000,20000000,stat,major_faults,,,10,,7,0\n");
    const analysis::Evidence evidence = analysis::read_evidence(run.path(), record, three_steps());
    CHECK(sum_of(evidence, 0, 5, "runqueue_wait") == doctest::Approx(1.0));
    CHECK(sum_of(evidence, 0, 6, "runqueue_wait") == doctest::Approx(2.0));
    CHECK(sum_of(evidence, 0, 7, "runqueue_wait") == doctest::Approx(1.0));
    CHECK(evidence.names == std::vector<std::string>{"block_io", "runqueue_wait"});
    CHECK(sum_of(evidence, 0, 6, "block_io") == doctest::Approx(5.0));
}

TEST_CASE("schedstat's waits are the quota's for as long as that throttled the job")
{
    const testing::Scratch run;
    put_rows(run,
             "0,10000000,schedstat,runqueue_wait,,,10,,3,4000000\n"
             "0,10000000,cpu_stat,throttled,,,,,1,3000000\n"
             "10000000,20000000,schedstat,runqueue_wait,,,10,,3,1000000\n"
             "10000000,20000000,cpu_stat,throttled,,,,,1,9000000\n"
             "20000000,30000000,schedstat,runqueue_wait,,,10,,3,2000000\n");
    const analysis::Evidence evidence = analysis::read_evidence(run.path(), record, three_steps());
    CHECK(sum_of(evidence, 0, 5, "throttled") == doctest::Approx(3.0));
    CHECK(sum_of(evidence, 0, 5, "runqueue_wait") == doctest::Approx(1.0));
    CHECK(sum_of(evidence, 0, 6, "throttled") == doctest::Approx(1.0));
    CHECK(sum_of(evidence, 0, 6, "runqueue_wait") == 0.0);
    CHECK(sum_of(evidence, 0, 7, "throttled") == 0.0);
    CHECK(sum_of(evidence, 0, 7, "runqueue_wait") == doctest::Approx(2.0));
}

TEST_CASE("interrupts by counters count where the kernel's programs did not record, steal in any case")
{
    const testing::Scratch run;
    const std::string counters =
        "0,10000000,stat,steal,,,10,0,0,2000000\n"
        "0,10000000,stat,softirq,,,10,0,0,1000000\n"
        "0,10000000,proc_stat,steal,,,,0,0,4000000\n"
        "0,10000000,proc_stat,softirq,,,,0,0,2000000\n";
    put_rows(run, counters);
    const analysis::Evidence evidence = analysis::read_evidence(run.path(), record, three_steps());
    CHECK(evidence.names == std::vector<std::string>{"softirq", "steal"});
    CHECK(sum_of(evidence, 0, 5, "steal") == doctest::Approx(2.0));
    CHECK(sum_of(evidence, 0, 5, "softirq") == doctest::Approx(1.0));
    REQUIRE(evidence.readings.size() == 1);  // of the CPU
    CHECK(evidence.readings[0].ns == 4'000'000);
    put_rows(run, counters + "3000000,4000000,bpf,softirq,NET_RX,,10,0,1,500000\n");
    const analysis::Evidence by_programs = analysis::read_evidence(run.path(), record, three_steps());
    CHECK(sum_of(by_programs, 0, 5, "softirq") == doctest::Approx(0.5));
    CHECK(sum_of(by_programs, 0, 5, "steal") == doctest::Approx(2.0));
}

TEST_CASE("pressure comes with throttled time, or with why that is not known")
{
    const testing::Scratch run;
    put_rows(run,
             "0,10000000,psi,pressure,cpu some,,,,0,4000000\n"
             "0,10000000,cpu_stat,throttled,,,,,1,3000000\n"
             "0,10000000,stat,block_io,,,10,,0,2000000\n"
             "0,10000000,status,preempted,,,10,,4,0\n");
    base::write_whole(run / "os/node1/os.json", R"({"sources": {"cpu_stat": true}})");
    const analysis::Evidence evidence = analysis::read_evidence(run.path(), record, three_steps());
    REQUIRE(evidence.readings.size() == 2);
    CHECK(evidence.readings[0].by == "cpu some");
    CHECK(evidence.readings[1].ns == 3'000'000);
    CHECK(evidence.throttled_lacks.empty());
    CHECK(sum_of(evidence, 0, 5, "block_io") == doctest::Approx(2.0));
    base::write_whole(run / "os/node1/os.json", R"({"sources": {"cpu_stat": "no cpu.stat"}})");
    CHECK(analysis::read_evidence(run.path(), record, three_steps()).throttled_lacks == "no cpu.stat");
}

TEST_CASE("evidence of a damaged table, or of ranks without processes, is refused; none is no fault")
{
    const testing::Scratch run;
    CHECK_FALSE(analysis::read_evidence(run.path(), record, three_steps()).known());
    put_rows(run, "9,8,bpf,neighbour,x,1,10,0,1,5\n");
    CHECK_THROWS_AS(analysis::read_evidence(run.path(), record, three_steps()), base::Error);
    put_rows(run, "8,9,bpf,neighbour,x,1,10,0,1,1\n");
    CHECK_THROWS_AS(analysis::read_evidence(run.path(), nlohmann::ordered_json::object(), three_steps()), base::Error);
}

TEST_CASE("reading counts as progress, however long a table of interruptions is")
{
    const testing::Scratch run;
    std::string rows;
    for (int i = 0; i < 200'000; ++i) rows += "8000000,8001000,bpf,own_thread,job,10,10,0,1,1000\n";
    put_rows(run, rows);
    const auto read = [&]() -> int {
        const analysis::Evidence evidence = analysis::read_evidence(run.path(), record, three_steps());
        std::_Exit(sum_of(evidence, 0, 5, "own_thread") == doctest::Approx(200.0) ? 0 : 1);
    };
    CHECK(otf2::confined("test", {.stuck_s = 0.1}, read) == 0);
}
