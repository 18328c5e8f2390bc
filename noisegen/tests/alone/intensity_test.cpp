// SPDX-License-Identifier: Apache-2.0
// Requested and recorded intensity of a stressor: rates, duties, levels every tenth of a second.
#include "noisegen/schedule/intensity.hpp"

#include "base/csv.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace testing;

namespace {

noisegen::Intensity asked(const std::map<std::string, std::string>& options)
{
    const auto& card = noisegen::stressors().find("memory.stream");
    return noisegen::intensity(card, noisegen::stressors().settings(card, options));
}

Outcome run_for(const Scratch& scratch, const std::string& schedule, const std::string& duration)
{
    return run_noisegen({"--schedule", schedule, "--cpus", cpu(), "--duration", duration, "--out", scratch / "run"});
}

double sum(const base::CsvTable& csv, const std::string& column)
{
    double total = 0.0;
    for (std::size_t row = 0; row < csv.rows(); ++row) total += csv.get<double>(row, column);
    return total;
}

}  // namespace

TEST_CASE("an intensity is a rate, a duty and an arrival")
{
    CHECK(asked({}) == noisegen::Intensity{});
    CHECK(!asked({}).asks());
    CHECK(asked({{"rate", "4GiB/s"}}).rate->per_second == doctest::Approx(4.0 * (1 << 30)));
    CHECK(asked({{"rate", "60%"}}).of_limit->value == 60.0);
    CHECK(asked({{"duty", "30%"}, {"period", "20ms"}}).duty.value == 30.0);
    CHECK(asked({{"duty", "30%"}, {"period", "20ms"}}).period == std::chrono::milliseconds{20});
    CHECK(asked({{"rate", "1GB/s"}, {"arrival", "poisson"}}).poisson);
    for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"rate", "0%"},
                                                                                      {"rate", "101%"},
                                                                                      {"rate", "0B/s"},
                                                                                      {"rate", "5/s"},
                                                                                      {"rate", "much"},
                                                                                      {"duty", "0%"},
                                                                                      {"duty", "200%"},
                                                                                      {"period", "10us"},
                                                                                      {"period", "2h"},
                                                                                      {"arrival", "poisson"},
                                                                                      {"arrival", "never"}}) {
        CAPTURE(name + "=" + value);
        CHECK_THROWS_AS(asked({{name, value}}), base::UsageError);
    }
}

TEST_CASE("levels are recorded about every tenth of a second and add up to the slots")
{
    const Scratch scratch;
    const Outcome outcome = run_for(scratch, "cpu.spin[rate=200/s] 700ms; quiet 300ms", "2s");
    INFO(outcome.err);
    REQUIRE(std::filesystem::exists(part(scratch) / "samples.csv"));
    const base::CsvTable levels{part(scratch) / "samples.csv"};
    const base::CsvTable slots{part(scratch) / "noise.csv"};
    CHECK(levels.columns() == std::vector<std::string>{"slot", "factor", "level", "cpu", "begin_ns", "end_ns",
                                                       "requested", "bytes", "operations", "requested_duty", "duty",
                                                       "waited_ns"});
    CHECK(levels.rows() >= 6);  // fewer if the thread gets its CPU late
    CHECK(levels.rows() <= 18);
    CHECK(sum(levels, "operations") == sum(slots, "operations"));
    CHECK(sum(levels, "operations") > 0.0);
    for (std::size_t row = 0; row < levels.rows(); ++row) {
        CHECK(levels.text(row, "factor") == "cpu.spin");
        CHECK(levels.get<double>(row, "requested") == doctest::Approx(200.0));
        CHECK(levels.get<std::int64_t>(row, "end_ns") > levels.get<std::int64_t>(row, "begin_ns"));
    }
}

TEST_CASE("a duty is on for its share of the time")
{
    const Scratch scratch;
    const Outcome outcome = run_for(scratch, "cpu.spin[duty=40%,period=50ms] 2s", "2s");
    INFO(outcome.err);
    const base::CsvTable slots{part(scratch) / "noise.csv"};
    REQUIRE(slots.rows() == 1);
    CHECK(slots.get<double>(0, "requested_duty") == doctest::Approx(0.4));
    const double waited = slots.get<double>(0, "waited_ns") / 2e9;
    CHECK(slots.get<double>(0, "duty") + waited == doctest::Approx(0.4).epsilon(0.15));  // tolerance for a busy machine
    const auto level = record(part(scratch)).at("factor_levels").at(0);
    CHECK(level.at("requested_duty") == doctest::Approx(0.4));
    CHECK(level.at("duty").get<double>() == doctest::Approx(slots.get<double>(0, "duty")));
}

TEST_CASE("what another process takes of the CPU shows as starvation, not as duty")
{
    const Scratch scratch;
    Child other{{"taskset", "-c", cpu(), "sh", "-c", "while :; do :; done"}};
    const Outcome outcome = run_for(scratch, "cpu.spin[duty=90%,period=50ms] 2s", "2s");
    other.signal(SIGKILL);
    other.wait();
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("does not reach its duty of 90%") != std::string::npos);
    CHECK(outcome.err.find("duty not reached: cpu.spin") != std::string::npos);
    const base::CsvTable slots{part(scratch) / "noise.csv"};
    REQUIRE(slots.rows() == 1);
    CHECK(slots.get<double>(0, "waited_ns") > 0.0);
    CHECK(slots.get<double>(0, "duty") < 0.8);
    CHECK(slots.get<double>(0, "reached") < 0.9);
}

TEST_CASE("after it was stopped for a second no tenth of a second has much more than its rate")
{
    const Scratch scratch;
    Child child{{program, "--schedule", "cpu.spin[rate=200/s] 10s", "--cpus", cpu(), "--duration", "3s", "--out",
                 scratch / "run"}};
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "samples.csv", 5); }));
    child.signal(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::seconds{1});
    child.signal(SIGCONT);
    child.wait();
    const base::CsvTable levels{part(scratch) / "samples.csv"};
    double longest = 0.0;
    double most = 0.0;
    for (std::size_t row = 0; row < levels.rows(); ++row) {
        const double seconds = (levels.get<double>(row, "end_ns") - levels.get<double>(row, "begin_ns")) * 1e-9;
        longest = std::max(longest, seconds);
        if (seconds > 0.05) most = std::max(most, levels.get<double>(row, "operations") / seconds / 200.0);
    }
    CHECK(longest > 0.9);
    CHECK(most > 0.1);
    CHECK(most <= 1.1);
}

TEST_CASE("the record of the run is printed as JSON on demand")
{
    const Scratch scratch;
    const Outcome outcome = run_noisegen({"--schedule", "cpu.spin 100ms; quiet 100ms", "--cpus", cpu(), "--duration",
                                          "200ms", "--out", scratch / "run", "--json"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(nlohmann::json::parse(outcome.out) == record(part(scratch)));
}
