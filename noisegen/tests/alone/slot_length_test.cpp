// SPDX-License-Identifier: Apache-2.0
// Lengths of slots and runs; slot=auto gives ten steps of a training that publishes its steps.
#include "noisegen/schedule/slot_length.hpp"

#include "base/contract/control_file.hpp"
#include "base/json.hpp"
#include "base/system/clock.hpp"
#include "base/system/launcher.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <thread>

using namespace std::chrono_literals;

TEST_CASE("a slot holds ten steps rounded up to a tenth of a second")
{
    CHECK(noisegen::slot_of({45ms}) == 500ms);
    CHECK(noisegen::slot_of({50ms}) == 500ms);
    CHECK(noisegen::slot_of({51ms}) == 600ms);
    CHECK(noisegen::slot_of({1ms}) == 200ms);
    CHECK(noisegen::slot_of({2s}) == 20s);
}

TEST_CASE("a slot holds ten steps on which a control can act, also where it acts eight steps late")
{
    CHECK(noisegen::slot_of({.length = 50ms, .ahead = 8}) == 900ms);  // 7 steps that it is too late for, and 10
}

TEST_CASE("the step of a training is measured through the control file")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch.path(), "here");
    const std::int64_t begin_ns = base::now_ns();
    control.page().steps_ahead = 8;
    std::atomic<bool> stop = false;
    std::thread training{[&] {
        while (!stop) {
            ++control.page().step;
            std::this_thread::sleep_for(20ms);
        }
    }};
    const auto step = noisegen::measure_step(scratch.path(), "here", 20s);
    stop = true;
    training.join();
    const std::int64_t took_ns = base::now_ns() - begin_ns;
    const auto steps = static_cast<std::int64_t>(control.page().step.load());
    REQUIRE(step.has_value());
    // Sleeps may be longer than requested, so the actual time of the steps is compared.
    CHECK(step->length.count() > took_ns / steps / 2);
    CHECK(step->length.count() < took_ns / steps * 2);
    CHECK(step->ahead == 8);
}

TEST_CASE("without a training there is no step")
{
    const testing::Scratch scratch;
    CHECK(!noisegen::measure_step(scratch.path(), "here", 100ms).has_value());
}

// A neighbour whose after-effects last 150 ms; until then a step takes three times as long.
TEST_CASE("slots are doubled where a neighbour's traces outlast its slot")
{
    const testing::Scratch scratch;
    const std::filesystem::path trace = scratch / "trace";
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    std::atomic<bool> stop = false;
    std::thread training{[&] {
        while (!stop) {
            std::error_code none;
            const auto left = std::filesystem::last_write_time(trace, none);
            const bool slow = !none && std::filesystem::file_time_type::clock::now() - left < 150ms;
            std::this_thread::sleep_for(slow ? 15ms : 5ms);
            ++control.page().step;
        }
    }};
    testing::Child noise{
        {testing::program, "--schedule",
         "rotation(job.run[command=while :; do touch " + trace.string() + "; sleep 0.01; done], placebo; slot=auto)",
         "--cpus", testing::cpu(), "--share", "--duration", "26s", "--out", scratch / "run"}};
    CHECK(testing::eventually([&] { return noise.output().find("slots are doubled") != std::string::npos; }));
    CHECK(testing::eventually([&] { return testing::has_rows(testing::part(scratch) / "noise.csv", 1); }));
    noise.signal(SIGTERM);
    CHECK(noise.wait() == 0);
    stop = true;
    training.join();
    INFO(noise.output());
    const auto record = base::read_json(scratch / "run/noise" / (base::host_name() + ".0") / "noise.json");
    const auto& round = record.at("pilot").at(0);
    CHECK(round.at("slot_ns") == 200'000'000);
    CHECK(round.at("left").at(0).at("noise") == "job.run");
    CHECK(round.at("left").at(0).at("percent").get<double>() > 20.0);
    CHECK(round.at("lasts") == true);
    CHECK(record.at("slot_ns") == 400'000'000);  // a pilot with these slots would exceed a fifth of the run
}

TEST_CASE("a single stressor is over after its length and a repeated schedule after the duration")
{
    const auto seconds = [](const std::vector<std::string>& words) {
        std::vector<std::string> all{"--cpus", testing::cpu(), "--json"};
        all.insert(all.end(), words.begin(), words.end());
        const testing::Outcome outcome = testing::run_noisegen(all);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        const auto record = nlohmann::json::parse(outcome.out);
        return (record.at("end_ns").get<double>() - record.at("begin_ns").get<double>()) / 1e9;
    };
    CHECK(seconds({"cpu.spin", "200ms"}) == doctest::Approx(0.2).epsilon(0.01));
    CHECK(seconds({"cpu.spin 100ms; quiet 100ms", "--duration", "400ms"}) == doctest::Approx(0.4).epsilon(0.01));
    CHECK(seconds({"cpu.spin", "100ms", "--duration", "300ms"}) == doctest::Approx(0.3).epsilon(0.01));
}
