// SPDX-License-Identifier: Apache-2.0
// Noise that is on only during phases of the training.
#include "base/contract/control_file.hpp"
#include "base/csv.hpp"
#include "base/system/clock.hpp"
#include "noisegen/schedule/parser.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <thread>

using namespace testing;
using base::TrainingPhase;

namespace {

struct Interval {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
};

// A training whose steps consist of forward and backward, published on the run's control page.
class Steps {
 public:
    explicit Steps(const std::filesystem::path& run)
        : control_{base::ControlFile::open(run, base::host_name())}, thread_{[this](const std::stop_token& stop) {
              while (!stop.stop_requested()) step();
          }}
    {
    }

    // Ends the training; returns the intervals of its backward phases, in order.
    std::vector<Interval> backwards()
    {
        thread_.request_stop();
        thread_.join();
        return backwards_;
    }

 private:
    void step()
    {
        base::publish_phase(control_.page(), TrainingPhase::forward, base::now_ns());
        std::this_thread::sleep_for(std::chrono::milliseconds{40});
        const std::int64_t begin = base::now_ns();
        base::publish_phase(control_.page(), TrainingPhase::backward, begin);
        std::this_thread::sleep_for(std::chrono::milliseconds{40});
        const std::int64_t end = base::now_ns();
        base::publish_phase(control_.page(), TrainingPhase::update, end);
        backwards_.push_back({begin, end});
    }

    base::ControlFile control_;
    std::vector<Interval> backwards_;
    std::jthread thread_;
};

std::int64_t common(const Interval& one, const Interval& other)
{
    return std::max<std::int64_t>(0, std::min(one.end_ns, other.end_ns) - std::max(one.begin_ns, other.begin_ns));
}

class Regions : public otf2::Visitor {
 public:
    explicit Regions(const otf2::Archive& archive) : archive_{archive} {}
    void enter(const otf2::At&, std::uint32_t region, const otf2::EventAttributes&) override
    {
        if (archive_.regions.at(region).name == "on") ++on;
    }
    std::size_t on = 0;

 private:
    const otf2::Archive& archive_;
};

Outcome run_following(const Scratch& scratch, std::vector<std::string> words)
{
    words.insert(words.end(), {"--cpus", cpu(), "--duration", "1500ms", "--out", scratch / "run"});
    return run_noisegen(words);
}

}  // namespace

TEST_CASE("noise that follows a phase is on in that phase and on record")
{
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--schedule", "memory.stream[bytes=32MiB,follow=backward] 1s; quiet 100ms"},
          {"--schedule", "memory.stream[bytes=32MiB,rate=200MiB/s] 1s; quiet 100ms", "--follow", "backward"}}) {
        CAPTURE(words.at(1));
        const Scratch scratch;
        Steps training{scratch / "run"};
        const Outcome outcome = run_following(scratch, words);
        INFO(outcome.err);
        const std::vector<Interval> backwards = training.backwards();
        const base::CsvTable followed{part(scratch) / "followed.csv"};
        REQUIRE(followed.rows() >= 3);
        std::int64_t on = 0;
        std::int64_t in_backward = 0;
        for (std::size_t row = 0; row < followed.rows(); ++row) {
            const Interval noise{followed.get<std::int64_t>(row, "begin_ns"),
                                 followed.get<std::int64_t>(row, "end_ns")};
            on += noise.end_ns - noise.begin_ns;
            for (const Interval& backward : backwards) in_backward += common(noise, backward);
        }
        CHECK(in_backward > on / 2);
        const nlohmann::json json = record(part(scratch));
        CHECK(json["factor_levels"][0]["follows"] == "backward");
        CHECK(json["factor_levels"][0]["bytes_per_s"] > 0.0);
        CHECK(json["factor_levels"][0]["duty"] < 0.9);
        CHECK(json["late_to_follow_ns"]["median"] > 0);
        otf2::Reader reader{part(scratch) / "trace/traces.otf2"};
        Regions regions{reader.archive()};
        reader.read(regions);
        CHECK(regions.on == followed.rows());
    }
}

TEST_CASE("noise that follows a training which is not there is never on and says so")
{
    const Scratch scratch;
    const Outcome outcome = run_following(scratch, {"--schedule", "cpu.spin[follow=forward+backward] 1h"});
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("follows forward+backward, but no training on this node entered that phase") !=
          std::string::npos);
    CHECK(record(part(scratch))["factor_levels"][0]["duty"] == 0.0);
}

TEST_CASE("phases to follow are levels of a factor")
{
    const noisegen::Schedule schedule =
        noisegen::parse_schedule("rotation(memory.stream[follow=forward|backward]; slot=1s)");
    REQUIRE(schedule.levels.size() == 2);
    CHECK(schedule.stressors.size() == 1);
    CHECK(schedule.levels[0].level == "follow=forward");
    CHECK(schedule.levels[1].intensity.follow == std::vector{TrainingPhase::backward});
}

TEST_CASE("what cannot be followed is refused")
{
    for (const std::string wrong : {"memory.stream[follow=backwards] 1s", "memory.stream[follow=other] 1s",
                                    "memory.stream[follow=backward,duty=50%] 1s", "quiet[follow=load] 1s"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(noisegen::parse_schedule(wrong), base::UsageError);
    }
    noisegen::Schedule quiet = noisegen::parse_schedule("quiet 1s; control.delay 1s");
    CHECK_THROWS_AS(noisegen::follow(quiet, {TrainingPhase::load}), base::UsageError);
}
