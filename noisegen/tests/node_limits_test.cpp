// SPDX-License-Identifier: Apache-2.0
// Stored calibrations, and rates that are a share of one.
#include "base/files.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/resources/rates_of_limits.hpp"
#include "noisegen/schedule/parser.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/environment.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <thread>

#include <sys/stat.h>

namespace {

using Of = base::Rate::Of;
using noisegen::Configured;
using noisegen::StressorLimit;
using testing::Scratch;

Configured configured(const std::string& name, const std::map<std::string, std::string>& options = {})
{
    const auto& card = noisegen::stressors().find(name);
    return {&card, noisegen::stressors().settings(card, options)};
}

StressorLimit entry(const Configured& stressor, std::size_t cpus, double worst)
{
    StressorLimit limit;
    limit.stressor = stressor.card->name;
    limit.options = noisegen::own_options(stressor.settings);
    limit.cpus = cpus;
    limit.cpus_used = "0";
    limit.rounds = 9;
    limit.round = std::chrono::milliseconds{300};
    limit.measured = "2026-01-31T12:00:00Z";
    auto& of = stressor.card->counts_bytes ? limit.bytes_per_s : limit.operations_per_s;
    of = {.worst = worst, .median = worst * 1.5, .best = worst * 2.0};
    return limit;
}

Configured stream()
{
    return configured("memory.stream");
}
Configured update()
{
    return configured("memory.stream", {{"shape", "update"}});
}
Configured spin()
{
    return configured("cpu.spin");
}

std::string reported(const std::function<void()>& call)
{
    try {
        call();
    } catch (const base::UsageError& error) {
        return error.what();
    }
    return "nothing";
}

}  // namespace

TEST_CASE("the worst, the median and the best of rounds")
{
    const noisegen::Limit odd = noisegen::limit_of({3.0, 1.0, 2.0});
    CHECK(odd.worst == 1.0);
    CHECK(odd.median == 2.0);
    CHECK(odd.best == 3.0);
    CHECK(noisegen::limit_of({4.0, 1.0}).median == 2.5);
    CHECK(noisegen::limit_of({7.0}).worst == 7.0);
}

TEST_CASE("windows hold what 95 of 100 reached, less 2 %")
{
    std::vector<double> windows;
    for (int i = 100; i >= 0; --i) windows.push_back(static_cast<double>(i));
    CHECK(noisegen::held_in_windows(windows) == doctest::Approx(0.98 * 5.0));
    CHECK(noisegen::held_in_windows({50.0}) == doctest::Approx(49.0));
    CHECK(noisegen::held_in_windows({}) == 0.0);
}

TEST_CASE("a rate that windows of a tenth of a second do not hold is reported with what they hold")
{
    const Scratch scratch;
    const auto file = scratch / "limits.json";
    StressorLimit limit = entry(stream(), 1, 10e9);
    limit.window = {.windows = 27, .bytes_per_s = 6e9, .operations_per_s = 0.0};
    noisegen::add_limits(file, {limit, entry(update(), 1, 20e9)});
    CHECK(noisegen::read_limits(file).entries.at(0).window.windows == 27);
    const auto lines = [&](const std::string& text) {
        noisegen::Schedule schedule = noisegen::parse_schedule(text);
        noisegen::resolve_rates(schedule, {{0}}, file);
        return noisegen::rates_beyond_windows(schedule, {{0}}, file);
    };
    CHECK(lines("memory.stream[rate=5GB/s] 1s").empty());
    CHECK(lines("memory.stream[rate=50%] 1s").empty());
    REQUIRE(lines("memory.stream[rate=80%] 1s").size() == 1);
    CHECK(lines("memory.stream[rate=7GB/s] 1s").at(0) ==
          "memory.stream: windows of 100 ms sustain only 6 GB/s here, but 7 GB/s is requested: some will fall short");
    CHECK(lines("memory.stream[shape=update,rate=19GB/s] 1s").empty());  // its windows were not measured
    CHECK(lines("memory.stream 1s").empty());
    // Limits of an earlier version have no windows; a damaged file does not matter for a rate that needs no limits.
    auto json = nlohmann::ordered_json::parse(base::read_whole(file));
    for (auto& kept : json["limits"]) kept.erase("windows_of_100ms");
    base::write_whole(file, json.dump());
    CHECK(lines("memory.stream[rate=7GB/s] 1s").empty());
    base::write_whole(file, "damaged");
    CHECK(
        noisegen::rates_beyond_windows(noisegen::parse_schedule("memory.stream[rate=7GB/s] 1s"), {{0}}, file).empty());
}

TEST_CASE("limits that were kept are found by stressor, options and CPUs, whatever the intensity")
{
    const Scratch scratch;
    const auto file = scratch / "deep/er/limits.json";
    noisegen::add_limits(file, {entry(stream(), 1, 10e9), entry(stream(), 2, 18e9), entry(update(), 1, 20e9)});
    const noisegen::NodeLimits limits = noisegen::read_limits(file);
    REQUIRE(limits.entries.size() == 3);
    CHECK(limits.entries[0].rounds == 9);
    CHECK(limits.entries[0].measured == "2026-01-31T12:00:00Z");
    const auto bytes = [&](const Configured& stressor, std::size_t cpus) {
        return noisegen::find(limits, stressor.card->name, stressor.settings, cpus, Of::bytes);
    };
    CHECK(bytes(stream(), 1)->worst == 10e9);
    CHECK(bytes(stream(), 1)->median == 15e9);
    CHECK(bytes(stream(), 1)->best == 20e9);
    CHECK(bytes(stream(), 2)->worst == 18e9);
    CHECK(bytes(update(), 1)->worst == 20e9);
    CHECK(bytes(configured("memory.stream", {{"rate", "1GiB/s"}, {"duty", "30%"}}), 2)->worst == 18e9);
    CHECK(!bytes(update(), 2));
    CHECK(!bytes(configured("memory.stream", {{"bytes", "64MiB"}}), 1));
    CHECK(!bytes(spin(), 1));
}

TEST_CASE("a stressor measured again takes its own place and no other")
{
    const Scratch scratch;
    const auto file = scratch / "limits.json";
    noisegen::add_limits(file, {entry(stream(), 1, 10e9), entry(spin(), 1, 900.0)});
    noisegen::add_limits(file, {entry(stream(), 1, 11e9), entry(stream(), 2, 20e9)});
    const noisegen::NodeLimits limits = noisegen::read_limits(file);
    REQUIRE(limits.entries.size() == 3);
    CHECK(noisegen::find(limits, "memory.stream", stream().settings, 1, Of::bytes)->worst == 11e9);
    CHECK(noisegen::find(limits, "cpu.spin", spin().settings, 1, Of::operations)->worst == 900.0);
    CHECK(noisegen::read_limits(scratch / "none.json").entries.empty());
}

TEST_CASE("two that add at once lose nothing")
{
    const Scratch scratch;
    const auto file = scratch / "limits.json";
    const auto add = [&file](const Configured& stressor) {
        for (std::size_t cpus = 1; cpus <= 20; ++cpus) noisegen::add_limits(file, {entry(stressor, cpus, 1e9)});
    };
    std::thread first{add, stream()};
    std::thread second{add, update()};
    first.join();
    second.join();
    CHECK(noisegen::read_limits(file).entries.size() == 40);
}

TEST_CASE("a percentage is that of the worst round")
{
    noisegen::NodeLimits limits{.file = "limits.json", .entries = {entry(stream(), 2, 10e9), entry(spin(), 1, 900.0)}};
    const base::Rate bytes = noisegen::resolve(limits, stream(), {60.0}, {0, 1});
    CHECK(bytes.of == Of::bytes);
    CHECK(bytes.per_second == doctest::Approx(6e9));
    const base::Rate operations = noisegen::resolve(limits, spin(), {5.0}, {3});
    CHECK(operations.of == Of::operations);
    CHECK(operations.per_second == doctest::Approx(45.0));
}

TEST_CASE("a percentage of something unknown is refused with the command that finds it")
{
    const noisegen::NodeLimits none{.file = "/some/limits.json"};
    CHECK(reported([&] {
              noisegen::resolve(none, update(), {60.0}, {2, 3});
          }) ==
          "memory.stream[rate=60%]: its limit on 2 CPUs is not known; measure it with: noisegen calibrate "
          "'memory.stream[shape=update]' --cpus 2-3 --limits '/some/limits.json'");
    const noisegen::NodeLimits starved{.file = "/some/limits.json", .entries = {entry(spin(), 1, 0.0)}};
    CHECK(reported([&] { noisegen::resolve(starved, spin(), {60.0}, {0}); }).find("limit is 0") != std::string::npos);
    const Scratch scratch;
    const testing::Environment cache{{{"XDG_CACHE_HOME", scratch.path().string()}}};
    const noisegen::NodeLimits here{.file = noisegen::default_limits_file()};
    CHECK(
        reported([&] { noisegen::resolve(here, spin(), {60.0}, {7}); }) ==
        "cpu.spin[rate=60%]: its limit on 1 CPU is not known; measure it with: noisegen calibrate 'cpu.spin' --cpus 7");
}

TEST_CASE("every percentage of a schedule becomes a rate")
{
    const Scratch scratch;
    const auto file = scratch / "limits.json";
    noisegen::add_limits(file, {entry(stream(), 2, 10e9)});
    noisegen::Schedule schedule =
        noisegen::parse_schedule("rotation(memory.stream[rate=25%|50%|1GB/s], placebo; slot=1s)");
    noisegen::resolve_rates(schedule, {{0, 1}, {0}}, file);
    REQUIRE(schedule.levels.size() == 4);
    CHECK(schedule.levels[0].intensity.rate->per_second == doctest::Approx(2.5e9));
    CHECK(schedule.levels[1].intensity.rate->per_second == doctest::Approx(5e9));
    CHECK(schedule.levels[2].intensity.rate->per_second == doctest::Approx(1e9));
    CHECK(!schedule.levels[3].intensity.rate);
    // Without a percentage the file is not read.
    noisegen::Schedule absolute = noisegen::parse_schedule("cpu.spin 1s");
    base::write_whole(file, "damaged");
    noisegen::resolve_rates(absolute, {{0}}, file);
    CHECK_THROWS_AS(noisegen::resolve_rates(schedule, {{0, 1}, {0}}, file), base::Error);
}

TEST_CASE("limits of another host or CPU model are refused")
{
    const Scratch scratch;
    const auto file = scratch / "limits.json";
    noisegen::add_limits(file, {entry(spin(), 1, 900.0)});
    const auto sound = nlohmann::ordered_json::parse(base::read_whole(file));
    for (const auto& [member, words] :
         {std::pair{"host", "are of host elsewhere"}, std::pair{"cpu_model", "are of a elsewhere"}}) {
        auto other = sound;
        other[member] = "elsewhere";
        base::write_whole(file, other.dump());
        const std::string text = reported([&] { noisegen::read_limits(file); });
        CHECK(text.find(words) != std::string::npos);
        CHECK(text.find('\n') == std::string::npos);
        CHECK(reported([&] { noisegen::add_limits(file, {}); }) == text);
    }
}

TEST_CASE("a damaged file is one clear line and never a number")
{
    const Scratch scratch;
    const auto file = scratch / "limits.json";
    noisegen::add_limits(file, {entry(spin(), 1, 900.0)});
    const std::string sound = base::read_whole(file);
    const auto with = [&sound](const std::string& old, const std::string& other) {
        std::string text = sound;
        REQUIRE(text.find(old) != std::string::npos);
        return text.replace(text.find(old), old.size(), other);
    };
    const std::vector<std::string> damaged{"",
                                           "{}",
                                           "[]",
                                           "null",
                                           "\xff\xfe",
                                           std::string(100'000, '['),
                                           sound.substr(0, sound.size() / 2),
                                           with("\"format\": 1", "\"format\": 99"),
                                           with("\"worst\": 900.0", "\"worst\": -1"),
                                           with("\"worst\": 900.0", "\"worst\": 1e9"),
                                           with("\"worst\": 900.0", "\"worst\": 1e999"),
                                           with("\"worst\": 900.0", "\"worst\": \"900\""),
                                           with("\"cpus\": 1", "\"cpus\": -1"),
                                           with("\"cpus\": 1", "\"cpus\": 1.5"),
                                           with("\"rounds\": 9", "\"rounds\": 0"),
                                           with("\"stressor\": \"cpu.spin\"", "\"stressor\": 7"),
                                           with("\"options\": {", "\"options\": null, \"others\": {"),
                                           with("\"options\": {", "\"options\": {\"bytes\": 1,")};
    for (const std::string& text : damaged) {
        CAPTURE(text.substr(0, 200));
        base::write_whole(file, text);
        std::string words = "nothing";
        try {
            noisegen::read_limits(file);
        } catch (const base::Error& error) {
            words = error.what();
        }
        CHECK(words.find("damaged") != std::string::npos);
        CHECK(words.find(file.string()) != std::string::npos);
        CHECK(words.find('\n') == std::string::npos);
    }
}

TEST_CASE("what is no file is refused and not waited for")
{
    const Scratch scratch;
    std::filesystem::create_directory(scratch / "folder");
    REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
    for (const char* name : {"folder", "pipe"})
        CHECK_THROWS_WITH_AS(noisegen::read_limits(scratch / name), doctest::Contains("not a file"), base::Error);
    std::ofstream{scratch / "file"} << "";
    CHECK_THROWS_WITH_AS(noisegen::add_limits(scratch / "file/limits.json", {}), doctest::Contains("cannot create"),
                         base::Error);
    CHECK_THROWS_WITH_AS(noisegen::add_limits("/proc/limits.json", {}),
                         doctest::Contains("give another place with --limits FILE or XDG_CACHE_HOME=DIR"), base::Error);
}

TEST_CASE("limits lie in the user's cache, by host")
{
    const std::string name = "limits-" + base::host_name() + ".json";
    {
        const testing::Environment both{{{"HOME", "/home/someone"}, {"XDG_CACHE_HOME", "/elsewhere"}}};
        CHECK(noisegen::default_limits_file() == "/elsewhere/crosstalk/" + name);
    }
    const testing::Environment relative{{{"HOME", "/home/someone"}, {"XDG_CACHE_HOME", "not/absolute"}}};
    CHECK(noisegen::default_limits_file() == "/home/someone/.cache/crosstalk/" + name);
}

TEST_CASE("a stressor is reported with the options that differ from its card")
{
    CHECK(noisegen::stressor_text("memory.stream", stream().settings.all()) == "memory.stream");
    CHECK(noisegen::stressor_text("memory.stream", update().settings.all()) == "memory.stream[shape=update]");
    CHECK(noisegen::stressor_text("of.old", {{"a", "b"}}) == "of.old");
}
