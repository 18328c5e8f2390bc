// SPDX-License-Identifier: Apache-2.0
// Runs interference predict on directories with known numbers.
#include "base/csv.hpp"
#include "testing/interference_runs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;
using testing::Outcome;
using testing::Scratch;

Outcome predict(const std::vector<std::string>& words)
{
    std::vector<std::string> all{testing::program, "predict"};
    all.insert(all.end(), words.begin(), words.end());
    return testing::run(all);
}

void write(const fs::path& file, const std::string& text)
{
    fs::create_directories(file.parent_path());
    std::ofstream{file} << text;
}

// The record of a noise process that does 1 or 2 GB/s of memory.stream, or writes 100 MB/s.
std::string memory_and_disk(const std::string& host)
{
    return R"({"host": ")" + host + R"(", "factor_levels": [
        {"factor": "mem", "level": "rate=1GB/s", "bytes_per_s": 1e9, "operations_per_s": 0},
        {"factor": "mem", "level": "rate=2GB/s", "bytes_per_s": 2e9, "operations_per_s": 0},
        {"factor": "io.write", "level": "", "bytes_per_s": 1e8, "operations_per_s": 100}]})";
}

// A report in which memory.stream at 1 and 2 GB/s costs 2 and 6 %, and io.write at 100 MB/s 1 %.
fs::path run_with_report(const Scratch& scratch)
{
    const fs::path run = scratch / "run";
    write(run / "train/trace/traces.otf2", "not read");
    write(run / "noise/n1.0/noise.json", memory_and_disk("n1"));
    write(run / "report/verdict.json", R"({"confidence_percent": 95, "quiet_step_ms": 40.0, "trustworthy": true})");
    write(run / "report/verdicts.csv",
          "factor,level,stressor,effect_percent,low_percent,high_percent\n"
          "mem,rate=2GB/s,memory.stream,6,5,7\nmem,rate=1GB/s,memory.stream,2,1.5,2.5\n"
          "io.write,,io.write,1,0.5,1.5\n");
    return run;
}

std::string pressure_json(const std::string& memory_level, const std::string& high)
{
    return R"({"command": "./app", "host": "n9", "noise_cpus": "1", "pressures": [
        {"stressor": "memory.stream", "unit": "bytes/s", "felt": true, "level": )" +
           memory_level + R"(, "low": 1.25e9, "high": )" + high + R"(},
        {"stressor": "cache.llc", "unit": "operations/s", "felt": true, "level": 1e6, "low": 0, "high": 2e6},
        {"stressor": "io.write", "unit": "bytes/s", "felt": true, "level": 0, "low": 0, "high": 5e7}]})";
}

// A training of four ranks: in step i, rank r is ready after 10 ms + 0.1 ms x (7 i + 3 r) mod 11, then waits until 12
// ms.
fs::path training_alone(const Scratch& scratch)
{
    std::string rows = "rank,step,begin_ns,end_ns,forward_ns,wait_exchange_ns\n";
    for (int rank = 0; rank < 4; ++rank)
        for (long step = 0; step < 400; ++step) {
            const long begin = step * 12'000'000;
            const long own = 10'000'000 + 100'000 * ((7 * step + 3 * rank) % 11);
            rows += std::to_string(rank) + "," + std::to_string(step) + "," + std::to_string(begin) + "," +
                    std::to_string(begin + 12'000'000) + "," + std::to_string(own) + "," +
                    std::to_string(12'000'000 - own) + "\n";
        }
    write(scratch / "alone/train/steps.csv", rows);
    return scratch / "alone";
}

}  // namespace

TEST_CASE("a neighbour's cost is read off the training's curves")
{
    const Scratch scratch;
    const fs::path run = run_with_report(scratch);
    write(scratch / "pressure.json", pressure_json("1.5e9", "1.75e9"));
    const Outcome outcome =
        predict({run, "--neighbour", scratch / "pressure.json", "--out", scratch / "predicted.csv"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.find("cache.llc was not measured with this training") != std::string::npos);
    CHECK(outcome.out.find("io.write had one level") != std::string::npos);
    const base::CsvTable table{scratch / "predicted.csv"};
    REQUIRE(table.rows() == 3);
    CHECK(table.text(0, "stressor") == "memory.stream");
    CHECK(table.get<double>(0, "slowdown_percent") == doctest::Approx(4.0));
    // The pressure's error gives 3 to 5 %, the curve's 3.25 to 4.75 %.
    CHECK(table.get<double>(0, "low_percent") == doctest::Approx(4.0 - 1.25));
    CHECK(table.get<double>(0, "high_percent") == doctest::Approx(4.0 + 1.25));
    CHECK(table.get<double>(0, "measured_to") == 2e9);
    CHECK(table.text(2, "stressor") == "together");
    CHECK(table.get<double>(2, "slowdown_percent") == doctest::Approx(4.0));
    CHECK(table.get<double>(2, "high_percent") == doctest::Approx(4.0 + std::hypot(1.25, 0.5)));
}

TEST_CASE("noise processes add up on a node, and do not over nodes and parts of a run")
{
    // Two processes on each node make 1 GB/s each, so a node has 2 GB/s at the level that costs 2 %. A pressure of 3
    // GB/s is half-way between the levels: 4 %.
    const Scratch scratch;
    const fs::path run = run_with_report(scratch);
    for (const char* process : {"n1.1", "n2.2", "n2.3"})
        write(run / "noise" / process / "noise.json", memory_and_disk(std::string{process}.substr(0, 2)));
    write(scratch / "pressure.json", R"({"command": "./app", "host": "n9", "noise_cpus": "1", "pressures": [
        {"stressor": "memory.stream", "unit": "bytes/s", "felt": true, "level": 3e9, "low": 2.5e9, "high": 3.5e9}]})");
    const Outcome outcome =
        predict({run, "--neighbour", scratch / "pressure.json", "--out", scratch / "predicted.csv"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const base::CsvTable table{scratch / "predicted.csv"};
    CHECK(table.get<double>(0, "slowdown_percent") == doctest::Approx(4.0));
    CHECK(table.get<double>(0, "measured_to") == 4e9);
}

TEST_CASE("a neighbour that presses harder than what was measured has no slowdown, and the exit code says so")
{
    const Scratch scratch;
    const fs::path run = run_with_report(scratch);
    write(scratch / "beyond.json", pressure_json("2.5e9", "null"));
    const Outcome outcome = predict({run, "--neighbour", scratch / "beyond.json", "--out", scratch / "beyond.csv"});
    CHECK(outcome.status == 3);
    CHECK(outcome.out.find("outside the measured range") != std::string::npos);
    const base::CsvTable table{scratch / "beyond.csv"};
    CHECK(table.text(0, "slowdown_percent").empty());
    CHECK(table.text(2, "slowdown_percent").empty());
}

TEST_CASE("files that are no pressure and reports of another confidence are refused in one line")
{
    const Scratch scratch;
    const fs::path run = run_with_report(scratch);
    for (const char* text : {"{}", "no JSON", R"({"pressures": [], "host": 3})",
                             R"({"command": "a", "host": "b", "noise_cpus": "1", "pressures": [{"stressor": 7}]})"}) {
        CAPTURE(text);
        write(scratch / "wrong.json", text);
        const Outcome outcome = predict({run, "--neighbour", scratch / "wrong.json"});
        CHECK(outcome.status == 1);
        CHECK(testing::one_line(outcome.err));
    }
    write(scratch / "pressure.json", pressure_json("1.5e9", "1.75e9"));
    write(run / "report/verdict.json", R"({"confidence_percent": 90, "quiet_step_ms": 40.0, "trustworthy": true})");
    const Outcome other = predict({run, "--neighbour", scratch / "pressure.json"});
    CHECK(other.status == 1);
    CHECK(other.err.find("need those of 95 %") != std::string::npos);
    fs::remove(run / "report/verdict.json");
    const Outcome none = predict({run, "--neighbour", scratch / "pressure.json"});
    CHECK(none.status == 1);
    CHECK(none.err.find("interference analyse") != std::string::npos);
    CHECK(predict({run}).status == 2);
    CHECK(predict({run, "--ranks", "4", "--neighbour", scratch / "pressure.json"}).status == 2);
    CHECK(predict({run, "--ranks", "none"}).status == 2);
    CHECK(predict({run, "--ranks", "4", "--ranks-per-node", "0"}).status == 2);
}

TEST_CASE("steps of a training alone are projected to other numbers of ranks")
{
    const Scratch scratch;
    const fs::path run = training_alone(scratch);
    const Outcome outcome = predict({run, "--ranks", "1..64", "--out", scratch / "ranks.csv"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.find("from 4 ranks on 1 node") != std::string::npos);
    CHECK(outcome.out.find("no buckets were recorded") != std::string::npos);
    const base::CsvTable table{scratch / "ranks.csv"};
    REQUIRE(table.rows() == 7);
    // Over eleven steps, each rank's own work is uniform from 10 to 11 ms, 10.5 ms on average.
    CHECK(table.get<double>(0, "own_ms") == doctest::Approx(10.5).epsilon(0.002));
    double last = 0.0;
    for (int step = 0; step < 11; ++step) {
        int most = 0;
        for (int rank = 0; rank < 4; ++rank) most = std::max(most, (7 * step + 3 * rank) % 11);
        last += (10.0 + 0.1 * most) / 11.0;
    }
    // All steps take 12 ms, and the time after the slowest rank is kept.
    CHECK(table.get<int>(2, "ranks") == 4);
    CHECK(table.get<double>(2, "step_ms") == doctest::Approx(12.0).epsilon(0.002));
    CHECK(table.get<double>(2, "slack_ms") == doctest::Approx(last - 10.5).epsilon(0.03));
    CHECK(table.get<double>(0, "step_ms") == doctest::Approx(12.0 - (last - 10.5)).epsilon(0.002));
    for (std::size_t row = 1; row < 7; ++row)
        CHECK(table.get<double>(row, "step_ms") >= table.get<double>(row - 1, "step_ms"));
    CHECK(table.text(6, "slowdown_percent").empty());
    CHECK(predict({run, "--ranks", "4", "--out", scratch / "ranks.csv"}).status == 2);
}
