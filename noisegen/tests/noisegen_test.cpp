// SPDX-License-Identifier: Apache-2.0
// The real program: its records, its ends, its error messages.
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/system/cpus.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/stressors/network/mpi_exchange.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace fs = std::filesystem;
using namespace testing;

namespace {

const std::set<std::string> only_with_mpi{"network.alltoall", "network.allreduce", "network.incast"};

struct Refusal {
    std::vector<std::string> words;
    std::string reported;
};

}  // namespace

TEST_CASE("list and help and dry run need nothing but words")
{
    const Outcome list = run_noisegen({"--list"});
    CHECK(list.status == 0);
    for (const std::string& name : noisegen::stressors().names())
        CHECK(list.out.find("  " + name) != std::string::npos);
    CHECK(run_noisegen({"--help"}).out.find("rotation(A, B, placebo; slot=1s)") != std::string::npos);
    const std::vector<std::string> words{
        "--schedule", "rotation(memory.stream,placebo)", "--duration", "20s", "--seed", "9", "--dry-run"};
    const Outcome first = run_noisegen(words);
    CHECK(first.status == 0);
    CHECK(std::count(first.out.begin(), first.out.end(), '\n') == 21);
    CHECK(first.out == run_noisegen(words).out);
}

TEST_CASE("each stressor on the registry runs and is on record")
{
    const Scratch scratch;
    fs::create_directory(scratch / "io");
    std::string schedule;
    std::size_t slots = 0;
    for (const std::string& name : noisegen::stressors().names()) {
        if (only_with_mpi.contains(name) && !noisegen::mpi_available()) continue;
        if (name.starts_with("gpu.")) continue;  // gpu_stressors_test.cpp
        if (name.starts_with("job.") && name != "job.run")
            continue;  // job_cores_test, background_work_test: need a job
        std::string options;
        const std::string there = "directory=" + (scratch / "io").string();
        if (name.starts_with("memory.") || name == "capacity.hog") options = "[bytes=2MiB]";
        if (name == "io.write" || name == "io.read") options = "[size=1MiB,block=64KiB," + there + "]";
        if (name == "io.random") options = "[size=1MiB,depth=4," + there + "]";
        if (name == "io.fsync") options = "[dirty=64KiB," + there + "]";
        if (name == "io.checkpoint") options = "[size=1MiB,block=64KiB,every=20ms," + there + "]";
        if (name == "io.smallfiles") options = "[files=20,size=4KiB," + there + "]";
        if (name.starts_with("metadata.")) options = "[files=20," + there + "]";
        if (name == "network.allreduce") options = "[bytes=1MiB,bucket=64KiB]";
        if (name == "job.run") options = "[file=/bin/true]";
        schedule += name + options + " 150ms; ";
        ++slots;
    }
    const Outcome outcome = testing::run({"env", without_leak_check, program, "--schedule", schedule, "--cpus", cpu(),
                                          "--duration", std::to_string(150 * slots) + "ms", "--out", scratch / "run"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const base::CsvTable csv{part(scratch) / "noise.csv"};
    CHECK(csv.columns() == std::vector<std::string>{"slot", "block", "position", "factor", "stressor", "level", "cpu",
                                                    "host", "begin_ns", "end_ns", "requested", "bytes", "operations",
                                                    "requested_duty", "duty", "waited_ns", "reached", "role"});
    REQUIRE(csv.rows() == slots);
    for (std::size_t row = 0; row < csv.rows(); ++row) {
        const std::string& stressor = csv.text(row, "stressor");
        CAPTURE(stressor);
        CHECK(csv.get<std::int64_t>(row, "slot") == static_cast<std::int64_t>(row));
        CHECK(csv.text(row, "cpu") == cpu());
        CHECK(csv.text(row, "host") == base::host_name());
        CHECK(csv.get<std::int64_t>(row, "end_ns") > csv.get<std::int64_t>(row, "begin_ns"));
        const auto& card = noisegen::stressors().find(stressor);
        CHECK((csv.get<std::int64_t>(row, "bytes") > 0) == card.counts_bytes);
        CHECK((csv.get<std::int64_t>(row, "operations") > 0) == card.counts_operations);
    }
    CHECK(leaves_nothing(scratch / "io"));
    const auto json = record(part(scratch));
    CHECK(json.at("exit").at("reason") == "duration");
    CHECK(json.at("design") == "sequence");
    CHECK(json.at("cpus") == cpu());
    CHECK(json.at("factor_levels").size() == slots - 1);
}

TEST_CASE("the length of slots is on record wherever they have one")
{
    const auto slot_in = [](const std::string& schedule) {
        const Scratch scratch;
        const Outcome outcome = run_noisegen(
            {"--schedule", schedule, "--cpus", cpu(), "--duration", "450ms", "--share", "--out", scratch / "run"});
        CHECK_MESSAGE(outcome.status == 0, outcome.err);
        const auto json = record(part(scratch));
        const auto plan = base::read_json(scratch / "run/noise/plan.json");
        CHECK(json.value("slot_ns", std::int64_t{0}) == plan.at("slot_ns").get<std::int64_t>());
        return plan.at("slot_ns").get<std::int64_t>();
    };
    CHECK(slot_in("rotation(cpu.spin; slot=50ms)") == 50'000'000);
    CHECK(slot_in("random(cpu.spin=50%, quiet=50%; slot=75ms)") == 75'000'000);
    CHECK(slot_in("cpu.spin 100ms; quiet 50ms") == 0);  // slots of two lengths
}

TEST_CASE("the record of a level has what it did and for how long it was assigned")
{
    const Scratch scratch;
    const Outcome outcome = run_noisegen({"--schedule", "memory.stream[bytes=1MiB] 200ms; quiet 100ms", "--cpus", cpu(),
                                          "--duration", "600ms", "--share", "--out", scratch / "run"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    const auto level = record(part(scratch)).at("factor_levels").at(0);
    CHECK(level.at("assigned_s").get<double>() == doctest::Approx(0.4));  // two slots of the table
    CHECK(level.at("on_s").get<double>() <= 0.45);
    const base::CsvTable rows{part(scratch) / "noise.csv"};
    std::int64_t bytes = 0;
    std::int64_t operations = 0;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        bytes += rows.get<std::int64_t>(row, "bytes");
        operations += rows.get<std::int64_t>(row, "operations");
    }
    CHECK(level.at("bytes").get<std::int64_t>() == bytes);
    CHECK(level.at("operations").get<std::int64_t>() == operations);
    CHECK(bytes > 0);
}

TEST_CASE("--out - is the table on stdout alone")
{
    const Scratch scratch;
    const Outcome outcome = testing::run({"env", "-C", scratch.path(), without_leak_check, program, "--schedule",
                                          "cpu.spin 100ms", "--cpus", cpu(), "--duration", "100ms", "--out", "-"});
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.out.find("cpu.spin") != std::string::npos);
    CHECK(fs::is_empty(scratch.path()));
}

TEST_CASE("the archive covers the schedule and otf2-print reads it")
{
    const Scratch scratch;
    const Outcome outcome = run_noisegen({"--schedule", "rotation(cpu.spin,placebo;slot=100ms)", "--cpus", cpu(),
                                          "--duration", "1500ms", "--out", scratch / "run"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    if (testing::run({"sh", "-c", "command -v otf2-print"}).status != 0) {
        testing::skip("otf2-print (package otf2-tools) is not installed");
        return;
    }
    const std::string archive = part(scratch) / "trace/traces.otf2";
    const Outcome events = testing::run({"otf2-print", archive});
    CHECK(events.status == 0);
    CHECK(events.err == "");
    const auto count = [&events](const std::string& line) {
        std::size_t found = 0;
        for (std::size_t at = events.out.find(line); at != std::string::npos; at = events.out.find(line, at + 1))
            ++found;
        return found;
    };
    CHECK(count("\nENTER ") == 30);
    CHECK(count("\nLEAVE ") == 30);
    // At least one for each slot of cpu.spin; five values in each.
    CHECK(count("\nMETRIC ") >= 3);
    CHECK(count(" 5 Values: ") == count("\nMETRIC "));
    const Outcome definitions = testing::run({"otf2-print", "-G", archive});
    for (const std::string word : {"\"schedule\"", "crosstalk::clock_identity", "\"achieved bytes\""})
        CHECK(definitions.out.find(word) != std::string::npos);
    CHECK(definitions.out.find("\"cpu " + cpu() + "\"") != std::string::npos);
}

TEST_CASE("a run of nothing but quiet is a run")
{
    const Scratch scratch;
    const Outcome outcome =
        run_noisegen({"--schedule", "quiet 50ms", "--cpus", cpu(), "--duration", "100ms", "--out", scratch / "run"});
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(fs::exists(part(scratch) / "trace/traces.otf2"));
}

TEST_CASE("a rate out of reach is reported and returned as a promise not kept")
{
    const Scratch scratch;
    const Outcome outcome = run_noisegen({"--schedule", "memory.stream[bytes=2MiB,rate=900TiB/s] 500ms", "--cpus",
                                          cpu(), "--duration", "1500ms", "--out", scratch / "run"});
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("does not reach its rate") != std::string::npos);
    CHECK(outcome.err.find("rate not reached: memory.stream") != std::string::npos);
    CHECK(record(part(scratch)).at("factor_levels").at(0).at("rate_reached") == false);
    CHECK(record(part(scratch)).at("exit").at("code") == 3);
}

TEST_CASE("in a factorial each CPU runs its own stressor")
{
    const auto cores = base::physical_cores(base::allowed_cpus());
    if (cores.size() < 2) {
        testing::skip("a factorial of two needs two cores");
        return;
    }
    const int spins = *cores[0].cpus.begin();
    const int streams = *cores[1].cpus.begin();
    const std::string two = std::to_string(spins) + "," + std::to_string(streams);
    const Scratch scratch;
    const Outcome outcome = run_noisegen({"--schedule", "factorial(cpu.spin," + tiny_memory + ";slot=100ms)", "--cpus",
                                          two, "--duration", "400ms", "--out", scratch / "run"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const base::CsvTable csv{part(scratch) / "noise.csv"};
    REQUIRE(csv.rows() == 8);
    std::set<std::pair<int, std::string>> pairs;
    for (std::size_t row = 0; row < csv.rows(); ++row) pairs.emplace(csv.get<int>(row, "cpu"), csv.text(row, "factor"));
    CHECK(pairs == std::set<std::pair<int, std::string>>{
                       {spins, "cpu.spin"}, {spins, "quiet"}, {streams, "memory.stream"}, {streams, "quiet"}});
}

TEST_CASE("bad input is refused with one line and nothing is left behind")
{
    const Scratch scratch;
    const std::string out = scratch / "run";
    const std::string one = cpu();
    const std::vector<Refusal> refusals{
        {{"--schedule", "memory.strem 1s", "--cpus", one, "--out", out}, "did you mean memory.stream?"},
        {{"--schedule", "memory.stream 1s quiet", "--cpus", one, "--out", out}, "noisegen: "},
        {{"--schedule", "memory.stream 0s", "--cpus", one, "--out", out}, "zero length"},
        {{"--schedule", "rotation(placebo;slot=2000000h)", "--cpus", one, "--out", out}, "longer than a year"},
        {{"--schedule", "rotation(cpu.spin", "--cpus", one, "--out", out}, "is a ) missing"},
        {{"--schedule", "C1S1", "--cpus", "60000", "--out", out}, "CPU 60000 does not exist"},
        {{"--schedule", "C1S1", "--cpus", "x", "--out", out}, "list of CPUs"},
        {{"--schedule", "C1S1", "--cpus", one, "--avoid", one + "-" + one, "--out", out}, "to be avoided"},
        {{"--schedule", "C1S1", "--cpus", one, "--avoid", one, "--out", out}, "to be avoided"},
        {{"--schedule", "control.delay 1s; quiet 1s", "--cpus", one}, "--out or --control"},
        {{"--cpus", one, "--out", out}, "needs a schedule, such as: noisegen memory.stream 5s"},
        {{"--schedule", "C1S1", "quiet", "1s", "--cpus", one}, "two schedules: 'C1S1' and 'quiet 1s'"},
        {{"memory.strem", "1s", "--cpus", one}, "did you mean memory.stream?"},
        {{"calibrte", "--cpus", one}, "no command 'calibrte'; did you mean calibrate?"},
        {{"--schedule", "C1S1", "--cpus", one, "--out", out, "--duration", "0s"}, "--duration"},
        {{"--schedule", "C1S1", "--cpus", one, "--out", out, "--duration", "5"}, "unit of time"},
        {{"--schedule", "C1S1", "--cpus", one, "--out", out, "--sed", "5"}, "did you mean --seed?"},
        {{"--schedule", "factorial(cpu.spin,memory.stream)", "--cpus", one, "--out", out}, "use rotation(...)"},
        {{"--schedule", "memory.stream[bytes=900TiB] 1s", "--cpus", one, "--out", out}, "--max-memory"},
        {{"--schedule", "io.write[size=900TiB] 1s", "--cpus", one, "--out", out}, "--max-disk"},
        {{"--schedule", "io.write[directory=/nowhere/at/all] 1s", "--cpus", one, "--out", out}, "no directory"},
    };
    for (const Refusal& refusal : refusals) {
        CAPTURE(refusal.words);
        const Outcome outcome = run_noisegen(refusal.words);
        INFO(outcome.err);
        CHECK(outcome.status == 2);
        CHECK(outcome.out == "");
        CHECK(outcome.err.starts_with("noisegen: "));
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
        CHECK(outcome.err.find(refusal.reported) != std::string::npos);
        CHECK(!fs::exists(out));
    }
}

TEST_CASE("a stressor and a length are enough, and leave nothing but a table")
{
    const Scratch scratch;
    const Outcome outcome = testing::run({"sh", "-c",
                                          "cd '" + scratch.path().string() + "' && TMPDIR=. " +
                                              CROSSTALK_BIN "/noisegen " + tiny_memory + " 200ms && ls -A | wc -l"});
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.out.starts_with("memory.stream: 1 slot, "));
    CHECK(outcome.out.ends_with("\n0\n"));
    CHECK(outcome.err.find("no busy process is known: noise on CPUs ") != std::string::npos);
}

TEST_CASE("a run too short for two blocks says so")
{
    const Scratch scratch;
    const Outcome outcome = run_noisegen({"--schedule", "rotation(placebo;slot=200ms)", "--cpus", cpu(), "--duration",
                                          "600ms", "--out", scratch / "run"});
    CHECK(outcome.status == 0);
    CHECK(outcome.err.find("needs two blocks at least") != std::string::npos);
}

TEST_CASE("beside a training a schedule of which no report could be made is refused")
{
    const Scratch scratch;
    fs::create_directories(scratch / "run/train");
    const auto beside = [&](const std::string& schedule) {
        return run_noisegen({"--schedule", schedule, "--cpus", cpu(), "--duration", "600ms", "--out", scratch / "run"});
    };
    const Outcome ramp = beside("ramp(memory.stream[bytes=2MiB]; rate=0..1GiB/s; steps=4; hold=100ms)");
    CHECK(ramp.status == 2);
    CHECK(ramp.err.find("--duration 800ms") != std::string::npos);
    CHECK(beside("cpu.spin 100ms; placebo 100ms").err.find("never quiet") != std::string::npos);
    CHECK(!fs::exists(scratch / "run/noise/plan.json"));
    CHECK(run_noisegen({"--schedule", "M2S2", "--duration", "3s", "--designed", "--dry-run"}).status == 2);

    const Outcome twice = beside("placebo 100ms; quiet 100ms");
    CHECK(twice.status == 0);
    CHECK(twice.err.find("there is no control in the schedule") != std::string::npos);
    fs::remove_all(scratch / "run/noise");
    const Outcome constant = beside("placebo 1s");
    CHECK(constant.status == 0);
    CHECK(constant.err.find("for interference compare") != std::string::npos);
}

TEST_CASE("an earlier record is never overwritten")
{
    const Scratch scratch;
    const std::vector<std::string> words{"--schedule", "cpu.spin 50ms", "--cpus", cpu(),
                                         "--duration", "100ms",         "--out",  scratch / "run"};
    REQUIRE(run_noisegen(words).status == 0);
    const std::string before = base::read_whole(part(scratch) / "noise.csv");
    const Outcome again = run_noisegen(words);
    CHECK(again.status == 2);
    CHECK(again.err.find("is already there") != std::string::npos);
    CHECK(base::read_whole(part(scratch) / "noise.csv") == before);
}

TEST_CASE("a run that failed before noise began can be given again")
{
    const Scratch scratch;
    const std::vector<std::string> words{"--schedule", "network.exchange[hosts=no-such-host.invalid] 100ms",
                                         "--cpus",     cpu(),
                                         "--duration", "100ms",
                                         "--out",      scratch / "run"};
    for (int time = 0; time < 2; ++time) {
        const Outcome outcome = run_noisegen(words);
        CHECK(outcome.status != 0);
        CHECK(outcome.err.find("cannot find host no-such-host.invalid") != std::string::npos);
        CHECK(!fs::exists(part(scratch)));
    }
}
