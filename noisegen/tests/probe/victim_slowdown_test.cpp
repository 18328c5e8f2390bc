// SPDX-License-Identifier: Apache-2.0
// Damage computed from slices with known answers.
#include "noisegen/measure/victim_slowdown.hpp"

#include "base/figures.hpp"
#include "noisegen/measure/probe_files.hpp"
#include "noisegen/schedule/parser.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using noisegen::Slice;

constexpr std::int64_t one_ms = 1'000'000;
constexpr std::int64_t start_ns = 5'000 * one_ms;
constexpr std::int64_t slot_ms = 20;

// The victim's work in a slot.
struct Gets {
    double bytes_per_ms;
    double load_ns;
};

// A victim with two blocks of three slots: quiet, cpu.spin, memory.stream.
struct MadeVictim {
    noisegen::Schedule schedule = noisegen::parse_schedule("rotation(cpu.spin, memory.stream; slot=20ms; quiet=1)");
    std::vector<noisegen::Slot> table;
    std::vector<Slice> slices;

    MadeVictim()
    {
        const std::vector<noisegen::Treatment> treatments{{}, {0}, {1}};
        for (std::uint64_t i = 0; i < 6; ++i)
            table.push_back({.number = i,
                             .block = i / 3,
                             .position = i % 3,
                             .begin = std::chrono::milliseconds{i * slot_ms},
                             .end = std::chrono::milliseconds{(i + 1) * slot_ms},
                             .treatment = treatments[i % 3]});
    }

    void slice(Slice::Kind kind, std::int64_t begin_ms, std::int64_t end_ms, double amount, double cpu_share = 1.0)
    {
        const double length = static_cast<double>((end_ms - begin_ms) * one_ms);
        slices.push_back({.kind = kind,
                          .begin_ns = start_ns + begin_ms * one_ms,
                          .end_ns = start_ns + end_ms * one_ms,
                          .cpu_ns = std::llround(length * cpu_share),
                          .amount = amount});
    }

    // Adds three slices that lie wholly inside the slot.
    void slot(std::int64_t number, Gets gets)
    {
        const std::int64_t begin = number * slot_ms;
        slice(Slice::Kind::read, begin + 3, begin + 8, 5.0 * gets.bytes_per_ms);
        slice(Slice::Kind::chase, begin + 8, begin + 13, 5e6 / gets.load_ns);
        slice(Slice::Kind::cache, begin + 13, begin + 18, 5e6 / 20.0);
    }

    noisegen::DamageReport report() const { return noisegen::damage(schedule, table, start_ns, slices); }
};

noisegen::Estimate exactly(double value)
{
    return {value, value - 0.01, value + 0.01, 10};
}

noisegen::Damage damaged(const std::string& card, double kept, double latency)
{
    return {.stressor = card,
            .level = "",
            .card = card,
            .own_bytes_per_s = 1e9,
            .own_operations_per_s = 0.0,
            .bandwidth_kept = exactly(kept),
            .latency_factor = exactly(latency),
            .cache_latency_factor = exactly(1.0)};
}

std::string all_remarks(const std::vector<noisegen::Damage>& damages)
{
    std::string text;
    for (const std::string& remark :
         noisegen::remarks({.damages = damages, .slices = 1000, .noise_waited = 0.0, .disturbed = 0}))
        text += remark + "\n";
    return text;
}

}  // namespace

TEST_CASE("an estimate is the mean of blocks with Student's interval")
{
    const noisegen::Estimate estimate = noisegen::estimate({0.4, 0.5, 0.6});
    CHECK(estimate.value == doctest::Approx(0.5));
    CHECK(estimate.low == doctest::Approx(0.5 - 4.3027 * 0.1 / std::sqrt(3.0)).epsilon(0.001));
    CHECK(estimate.high == doctest::Approx(0.5 + 4.3027 * 0.1 / std::sqrt(3.0)).epsilon(0.001));
    CHECK(estimate.blocks == 3);
    CHECK(std::isnan(noisegen::estimate({0.4}).low));
    CHECK(std::isnan(noisegen::estimate({}).value));
}

TEST_CASE("damage is noise against quiet in the same block, so that drift does not count")
{
    MadeVictim made;
    made.slot(0, {100.0, 80.0});
    made.slot(1, {100.0, 80.0});
    made.slot(2, {40.0, 120.0});
    made.slot(3, {50.0, 160.0});  // from here everything is half as fast
    made.slot(4, {50.0, 160.0});
    made.slot(5, {30.0, 320.0});
    const noisegen::DamageReport report = made.report();
    REQUIRE(report.damages.size() == 2);
    const noisegen::Damage& spin = report.damages[0];
    const noisegen::Damage& stream = report.damages[1];
    CHECK(spin.card == "cpu.spin");
    CHECK(spin.bandwidth_kept.value == doctest::Approx(1.0));
    CHECK(spin.bandwidth_kept.low == doctest::Approx(1.0));
    CHECK(spin.latency_factor.value == doctest::Approx(1.0));
    CHECK(stream.bandwidth_kept.value == doctest::Approx(0.48990));  // geometric mean of 0.4 and 0.6
    CHECK(stream.bandwidth_kept.blocks == 2);
    CHECK(stream.bandwidth_kept.low == doctest::Approx(0.0373).epsilon(0.002));  // exp(-0.7136 - 12.706 x 0.2027)
    CHECK(stream.latency_factor.value == doctest::Approx(1.73205));              // geometric mean of 1.5 and 2.0
    CHECK(stream.cache_latency_factor.value == doctest::Approx(1.0));
    CHECK(report.alone.bytes_per_s == doctest::Approx(75e3));
    CHECK(report.alone.load_ns == doctest::Approx(2.0 / (1.0 / 80.0 + 1.0 / 160.0)));  // median of two rates
    CHECK(report.alone.cached_load_ns == doctest::Approx(20.0));
    CHECK(report.slices == 18);
    CHECK(report.disturbed == 0);
}

TEST_CASE("a victim alone is as its median slice in which it ran")
{
    const noisegen::Schedule schedule = noisegen::parse_schedule("rotation(cpu.spin; slot=1s)");
    const std::vector<noisegen::Slot> table = noisegen::slot_table(schedule, 1, std::chrono::seconds{2});
    const std::int64_t quiet_ns = table[0].treatment.empty() ? 0 : 1'000'000'000;
    std::vector<noisegen::Slice> slices;
    const auto add = [&](std::int64_t length_ns, std::int64_t cpu_ns, double loads) {
        const std::int64_t begin = slices.empty() ? quiet_ns + 10'000'000 : slices.back().end_ns;
        slices.push_back({noisegen::Slice::Kind::chase, begin, begin + length_ns, cpu_ns, loads});
    };
    for (int i = 0; i < 5; ++i) add(5'000'000, 5'000'000, 50'000);  // 100 ns a load
    add(50'000'000, 48'000'000, 5'000);                             // the host took its CPU: 9.6 us per load
    add(50'000'000, 10'000'000, 5'000);                             // other processes ran
    const noisegen::DamageReport report = noisegen::damage(schedule, table, 0, slices);
    CHECK(report.alone.load_ns == doctest::Approx(100.0));
    CHECK(report.disturbed == 1);
}

TEST_CASE("a slice counts if it lies wholly in a slot, by the CPU time that it had")
{
    MadeVictim made;
    made.slice(Slice::Kind::read, -4, 1, 1e9);  // before the table begins
    made.slice(Slice::Kind::read, 0, 5, 1e9);   // within the guard time
    made.slice(Slice::Kind::read, 5, 10, 500.0);
    made.slice(Slice::Kind::read, 10, 15, 250.0, 0.5);  // another process had the CPU
    made.slice(Slice::Kind::read, 17, 23, 1e9);         // crosses the slot's border
    made.slice(Slice::Kind::read, 45, 50, 250.0);
    made.slice(Slice::Kind::read, 65, 70, 500.0);
    made.slice(Slice::Kind::read, 105, 110, 250.0);
    made.slice(Slice::Kind::read, 118, 123, 1e9);  // extends beyond the table
    const noisegen::DamageReport report = made.report();
    CHECK(report.slices == 5);
    CHECK(report.disturbed == 1);
    CHECK(report.damages[1].bandwidth_kept.value == doctest::Approx(0.5));
    CHECK(report.damages[0].bandwidth_kept.blocks == 0);
    CHECK(std::isnan(report.damages[0].bandwidth_kept.value));
    CHECK(std::isnan(report.damages[1].latency_factor.value));
}

TEST_CASE("remarks say when noise does not reach the victim and when controls hurt")
{
    const auto spin = damaged("cpu.spin", 1.0, 1.0);
    const auto placebo = damaged("placebo", 1.0, 1.0);
    CHECK(all_remarks({placebo, spin, damaged("memory.stream", 0.5, 1.2)}) == "");
    CHECK(all_remarks({spin, damaged("memory.stream", 1.0, 1.3)}) == "");  // latency alone suffices
    CHECK(all_remarks({spin}) == "");
    CHECK(all_remarks({placebo, spin, damaged("memory.stream", 0.98, 1.0)}) ==
          "victim and noise do not share a memory path now: no memory noise took more than 5% beyond cpu.spin\n");
    // Time lost to mere computation is not attributed to memory.
    const std::string slowed = all_remarks({damaged("cpu.spin", 0.8, 1.0), damaged("memory.stream", 0.79, 1.0)});
    CHECK(slowed.find("cpu.spin touches no memory, yet the victim kept 80%") != std::string::npos);
    CHECK(slowed.find("do not share a memory path now") != std::string::npos);
    CHECK(all_remarks({damaged("placebo", 0.8, 1.0)}).find("do not trust this run") != std::string::npos);
    const auto busy = noisegen::remarks({.damages = {spin}, .slices = 100, .noise_waited = 0.0, .disturbed = 50});
    REQUIRE(busy.size() == 1);
    CHECK(busy[0].find("in 50 of 100 measurements") != std::string::npos);
    const auto starved = noisegen::remarks(
        {.damages = {damaged("memory.stream", 1.0, 1.0)}, .slices = 100, .noise_waited = 0.66, .disturbed = 0});
    REQUIRE(starved.size() == 1);
    CHECK(starved[0].find("other processes used the noise's CPUs for 66% of the time") != std::string::npos);
    auto unknown = damaged("memory.stream", 1.0, 1.0);
    unknown.bandwidth_kept = noisegen::estimate({1.0});
    CHECK(all_remarks({spin, unknown}).find("give a longer --slot") != std::string::npos);
    CHECK(all_remarks({spin, unknown}).find("do not share") == std::string::npos);
}

TEST_CASE("a cache that serves the victim no faster than memory does is reported")
{
    const auto reported = [](double cached_load_ns) {
        return noisegen::remarks({.alone = {.bytes_per_s = 1e10, .load_ns = 100.0, .cached_load_ns = cached_load_ns},
                                  .damages = {damaged("memory.stream", 0.5, 1.5)},
                                  .slices = 100,
                                  .noise_waited = 0.0,
                                  .disturbed = 0});
    };
    CHECK(reported(30.0).empty());
    REQUIRE(reported(95.0).size() == 1);
    CHECK(reported(95.0)[0].find("(95 ns against 100 ns)") != std::string::npos);
}

TEST_CASE("labels keep their distance and their order")
{
    const std::vector<double> places = noisegen::spread({0.5, 0.9, 0.5, 1.0, 0.0}, 0.1);
    CHECK(places[4] == doctest::Approx(0.0));
    CHECK(places[0] == doctest::Approx(0.5));
    CHECK(places[2] == doctest::Approx(0.6));
    CHECK(places[1] == doctest::Approx(0.9));
    CHECK(places[3] == doctest::Approx(1.0));
    const std::vector<double> crowded = noisegen::spread({1.0, 1.0, 1.0}, 0.1);
    CHECK(crowded[0] == doctest::Approx(0.8));
    CHECK(crowded[2] == doctest::Approx(1.0));
    CHECK(noisegen::spread({}, 0.1).empty());
}

TEST_CASE("speeds read well and columns stand under each other")
{
    CHECK(base::speed_text(3.214e9) == "3.21 GB/s");
    CHECK(base::speed_text(999.7e6) == "1 GB/s");
    CHECK(base::speed_text(0.0) == "0 B/s");
    CHECK(base::operations_text(1.5e6) == "1.5 M/s");
    CHECK(base::table_text({{"a", "b"}, {"long", "12"}}, 1) == "a      b\nlong  12\n");
}
