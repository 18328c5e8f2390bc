// The real program: its records, its ends, its refusals.
#include "base/contract/control_file.hpp"
#include "base/csv.hpp"
#include "base/system/cpus.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/stressors/network/mpi_exchange.hpp"
#include "noisegen/stressors/network/sockets.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <set>

namespace {

namespace fs = std::filesystem;
using testing::Child;
using testing::eventually;
using testing::has_rows;
using testing::Outcome;
using testing::Scratch;
using namespace testing;

// All stressors that stress, small enough for any machine.
const std::string tiny_memory = "memory.stream[bytes=2MiB]";
const std::string tiny_io = "io.write[size=1MiB,block=64KiB]";

// No file in the directory; unnamed ones end with the process.
bool leaves_nothing(const fs::path& directory)
{
    return fs::is_empty(directory);
}

const std::set<std::string> only_with_mpi{"network.alltoall", "network.allreduce", "network.incast"};

// Ranks that share CPUs must yield.
const std::vector<std::string> on_two_ranks{"env",   without_leak_check,    "mpirun",    "-n",
                                            "2",     "--oversubscribe",     "--bind-to", "none",
                                            "--mca", "mpi_yield_when_idle", "1"};

bool mpi_can_run()
{
    const bool installed = testing::run({"sh", "-c", "command -v mpirun"}).status == 0;
    if (!installed || !noisegen::mpi_available()) testing::skip("no mpirun, or built without MPI");
    return installed && noisegen::mpi_available();
}

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
        std::string options;
        const std::string there = "directory=" + (scratch / "io").string();
        if (name.starts_with("memory.") || name == "capacity.hog") options = "[bytes=2MiB]";
        if (name == "io.write" || name == "io.read") options = "[size=1MiB,block=64KiB," + there + "]";
        if (name == "io.random") options = "[size=1MiB,depth=4," + there + "]";
        if (name == "io.checkpoint") options = "[size=1MiB,block=64KiB,every=20ms," + there + "]";
        if (name == "io.smallfiles") options = "[files=20,size=4KiB," + there + "]";
        if (name.starts_with("metadata.")) options = "[files=20," + there + "]";
        if (name == "network.allreduce") options = "[bytes=1MiB,bucket=64KiB]";
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
    // At least one for each slot on a CPU that stresses, five values each.
    CHECK(count("\nMETRIC ") >= 3 * 5);
    CHECK(count("\nMETRIC ") % 5 == 0);
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

TEST_CASE("SIGTERM ends it in good order")
{
    const Scratch scratch;
    fs::create_directory(scratch / "io");
    const std::string io = "io.write[size=1MiB,block=64KiB,directory=" + (scratch / "io").string() + "]";
    Child child{long_run(scratch, tiny_memory + " 50ms; " + io + " 50ms; quiet 10s")};
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 2); }));
    child.signal(SIGTERM);
    CHECK(child.wait() == 0);
    CHECK(leaves_nothing(scratch / "io"));
    CHECK(fs::exists(part(scratch) / "trace/traces.otf2"));
    CHECK(record(part(scratch)).at("exit").at("reason").get<std::string>().starts_with("signal"));
    const base::CsvTable csv{part(scratch) / "noise.csv"};
    REQUIRE(csv.rows() == 3);
    CHECK(csv.text(2, "factor") == "quiet");
    CHECK(csv.get<std::int64_t>(2, "end_ns") - csv.get<std::int64_t>(2, "begin_ns") < 10'000'000'000);
}

TEST_CASE("SIGINT and SIGHUP end it too")
{
    for (const int signal : {SIGINT, SIGHUP}) {
        const Scratch scratch;
        Child child{long_run(scratch, "cpu.spin 20ms")};
        REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 1); }));
        child.signal(signal);
        CHECK(child.wait() == 0);
        CHECK(fs::exists(part(scratch) / "trace/traces.otf2"));
    }
}

TEST_CASE("kill -9 leaves rows that can be read and no scratch file and no archive")
{
    const Scratch scratch;
    fs::create_directory(scratch / "io");
    Child child{long_run(scratch, "io.write[size=1MiB,block=64KiB,directory=" + (scratch / "io").string() + "] 50ms")};
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 3); }));
    child.signal(SIGKILL);
    CHECK(child.wait() == 128 + SIGKILL);
    CHECK(leaves_nothing(scratch / "io"));
    CHECK(base::CsvTable{part(scratch) / "noise.csv"}.rows() >= 3);
    CHECK(!fs::exists(part(scratch) / "trace/traces.otf2"));
    CHECK(record(part(scratch)).at("exit").at("reason") == "running, or killed");
}

TEST_CASE("it ends with its parent")
{
    const Scratch scratch;
    // The shell waits for noisegen, is killed, and so leaves it behind.
    std::string line;
    for (const std::string& word : long_run(scratch, "cpu.spin 20ms")) line += "'" + word + "' ";
    Child shell{{"sh", "-c", line + "; true"}};
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 1); }));
    shell.signal(SIGKILL);
    shell.wait();
    CHECK(eventually([&] { return fs::exists(part(scratch) / "trace/traces.otf2"); }));
    CHECK(eventually([&] { return record(part(scratch)).at("exit").at("reason") == "parent died"; }));
}

TEST_CASE("an output that is closed or full is reported, and no record is written to in its place")
{
    const Scratch scratch;
    const std::string list = "'" + program + "' --list";
    const std::string run =
        "'" + program + "' --schedule 'cpu.spin 50ms' --duration 50ms --cpus " + cpu() + " --json --out '";
    for (const std::string to : {">&-", ">/dev/full"}) {
        CHECK(testing::run({"sh", "-c", list + " " + to}).status == 1);
        const auto out = scratch / (to == ">&-" ? "closed" : "full");
        const Outcome outcome = testing::run({"sh", "-c", run + out.string() + "' " + to});
        CHECK(outcome.status == 1);
        CHECK(outcome.err.find("cannot write the results") != std::string::npos);
        const auto part = out / "noise" / (base::host_name() + ".0");
        CHECK(record(part).at("exit").at("code") == 0);
    }
    const Outcome silent = testing::run({"sh", "-c", run + (scratch / "silent").string() + "' 2>&-"});
    CHECK(silent.status == 0);
    CHECK(nlohmann::json::accept(silent.out));
}

TEST_CASE("two processes of a job change slots together")
{
    const Scratch scratch;
    const auto words = [&](int rank) {
        return std::vector<std::string>{"env",
                                        "OMPI_COMM_WORLD_RANK=" + std::to_string(rank),
                                        "OMPI_COMM_WORLD_SIZE=2",
                                        program,
                                        "--schedule",
                                        "rotation(cpu.spin,placebo;slot=200ms)",
                                        "--cpus",
                                        cpu(),
                                        "--duration",
                                        "2s",
                                        "--seed",
                                        "4",
                                        "--out",
                                        scratch / "run"};
    };
    Child first{words(0)};
    Child second{words(1)};
    CHECK(first.wait() == 0);
    CHECK(second.wait() == 0);
    const auto a = record(part(scratch, 0));
    const auto b = record(part(scratch, 1));
    // Both turned the same real time into their own reading of the same clock.
    const auto difference = a.at("begin_ns").get<std::int64_t>() - b.at("begin_ns").get<std::int64_t>();
    CHECK(std::abs(difference) < 10'000'000);
    const base::CsvTable csv_a{part(scratch, 0) / "noise.csv"};
    const base::CsvTable csv_b{part(scratch, 1) / "noise.csv"};
    REQUIRE(csv_a.rows() == 10);
    REQUIRE(csv_b.rows() == 10);
    for (std::size_t row = 0; row < 10; ++row) CHECK(csv_a.text(row, "factor") == csv_b.text(row, "factor"));
}

TEST_CASE("the control delay asks the training and lets go at the end of each slot")
{
    const Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    Child child{long_run(scratch, "control.delay 300ms; quiet 300ms")};
    CHECK(eventually([&] { return control.page().on_until_ns.load() > 0; }));
    CHECK(eventually([&] { return control.page().on_until_ns.load() == 0; }));
    ++control.page().acknowledged;
    CHECK(eventually([&] { return control.page().on_until_ns.load() > 0; }));
    ++control.page().acknowledged;
    child.signal(SIGTERM);
    CHECK(child.wait() == 0);
    CHECK(control.page().on_until_ns.load() == 0);
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

TEST_CASE("network noise runs between MPI ranks and all of them end well")
{
    if (!mpi_can_run()) return;
    const Scratch scratch;
    std::vector<std::string> words = on_two_ranks;
    const std::vector<std::string> more{
        program,        "--schedule", "network.exchange[bytes=64KiB] 200ms; quiet 100ms",
        "--cpus",       cpu(),        "--share",
        "--duration",   "1s",         "--out",
        scratch / "run"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = testing::run(words);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    for (const int rank : {0, 1}) {
        const auto json = record(part(scratch, rank));
        CHECK(json.at("stressors").at(0).at("how").get<std::string>().starts_with("MPI, ring of 2 ranks"));
        CHECK(json.at("factor_levels").at(0).at("bytes_per_s").get<double>() > 0.0);
        CHECK(fs::exists(part(scratch, rank) / "trace/traces.otf2"));
    }
}

TEST_CASE("noise ends when mpirun is killed")
{
    if (!mpi_can_run()) return;
    const Scratch scratch;
    std::vector<std::string> words = on_two_ranks;
    for (const std::string& word : long_run(scratch, "network.exchange[bytes=64KiB] 50ms; quiet 50ms"))
        words.push_back(word);
    words.emplace_back("--share");
    Child mpirun{words};
    REQUIRE(eventually([&] { return has_rows(part(scratch, 0) / "noise.csv", 2); }));
    REQUIRE(eventually([&] { return has_rows(part(scratch, 1) / "noise.csv", 2); }));
    const auto pids = {record(part(scratch, 0)).at("pid").get<int>(), record(part(scratch, 1)).at("pid").get<int>()};
    mpirun.signal(SIGKILL);
    mpirun.wait();
    for (const int pid : pids) CHECK(eventually([pid] { return ::kill(pid, 0) != 0; }));
}

TEST_CASE("network noise reaches a named host")
{
    int port = 0;
    {
        const noisegen::Socket free = noisegen::listen_on(0, true);
        port = noisegen::port_of(free);
    }
    const Scratch scratch;
    const Outcome outcome =
        run_noisegen({"--schedule", "network.exchange[hosts=localhost,port=" + std::to_string(port) + "] 300ms",
                      "--cpus", cpu(), "--duration", "300ms", "--out", scratch / "run"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(record(part(scratch)).at("factor_levels").at(0).at("bytes_per_s").get<double>() > 0.0);
    CHECK(record(part(scratch)).at("stressors").at(0).at("how").get<std::string>().starts_with("TCP to localhost"));
}

TEST_CASE("a connection that is lost for good is a failure and what was recorded until then is kept")
{
    noisegen::Socket listener = noisegen::listen_on(0, false);
    const std::string port = std::to_string(noisegen::port_of(listener));
    const Scratch scratch;
    Child child{long_run(scratch, "network.exchange[hosts=localhost,port=" + port + "] 50ms")};
    std::optional<noisegen::Accepted> connection;
    REQUIRE(eventually([&] { return (connection = noisegen::accept_from(listener)).has_value(); }));
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 2); }));
    connection.reset();
    listener = {};
    CHECK(child.wait() == 1);
    CHECK(child.output().find("cannot connect to localhost") != std::string::npos);
    CHECK(record(part(scratch)).at("exit").at("reason") == "failure");
    CHECK(fs::exists(part(scratch) / "trace/traces.otf2"));
}

TEST_CASE("bad input is refused with one line and nothing is left behind")
{
    const Scratch scratch;
    const std::string out = scratch / "run";
    const std::string one = cpu();
    const std::vector<Refusal> refusals{
        {{"--schedule", "memory.strem 1s", "--cpus", one, "--out", out}, "did you mean memory.stream?"},
        {{"--schedule", "memory.stream 1s quiet", "--cpus", one, "--out", out}, "noisegen: "},
        {{"--schedule", "memory.stream 0s", "--cpus", one, "--out", out}, "length zero"},
        {{"--schedule", "rotation(placebo;slot=2000000h)", "--cpus", one, "--out", out}, "longer than a year"},
        {{"--schedule", "rotation(cpu.spin", "--cpus", one, "--out", out}, "is a ) missing"},
        {{"--schedule", "C1S1", "--cpus", "60000", "--out", out}, "CPU 60000 does not exist"},
        {{"--schedule", "C1S1", "--cpus", "x", "--out", out}, "list of CPUs"},
        {{"--schedule", "C1S1", "--cpus", one, "--avoid", one + "-" + one, "--out", out}, "to be avoided"},
        {{"--schedule", "C1S1", "--cpus", one, "--avoid", one, "--out", out}, "to be avoided"},
        {{"--schedule", "control.delay 1s; quiet 1s", "--cpus", one}, "--out or --control"},
        {{"--cpus", one, "--out", out}, "lacks a schedule, such as: noisegen memory.stream 5s"},
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
    CHECK(outcome.err.find("nothing is known to be busy: noise on CPUs ") != std::string::npos);
}

TEST_CASE("a single stressor is over after its length and a repeated schedule after the duration")
{
    const auto seconds = [](const std::vector<std::string>& words) {
        std::vector<std::string> all{"--cpus", cpu(), "--json"};
        all.insert(all.end(), words.begin(), words.end());
        const Outcome outcome = run_noisegen(all);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        const auto record = nlohmann::json::parse(outcome.out);
        return (record.at("end_ns").get<double>() - record.at("begin_ns").get<double>()) / 1e9;
    };
    CHECK(seconds({"cpu.spin", "200ms"}) == doctest::Approx(0.2).epsilon(0.01));
    CHECK(seconds({"cpu.spin 100ms; quiet 100ms", "--duration", "400ms"}) == doctest::Approx(0.4).epsilon(0.01));
    CHECK(seconds({"cpu.spin", "100ms", "--duration", "300ms"}) == doctest::Approx(0.3).epsilon(0.01));
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
    const Outcome first = run_noisegen(words);
    CHECK(first.status != 0);
    CHECK(!fs::exists(part(scratch)));
    CHECK(run_noisegen(words).err == first.err);
}

TEST_CASE("idle CPUs are those that no avoided process is bound to")
{
    if (base::allowed_cpus().size() < 2) {
        testing::skip("needs a busy and an idle CPU");
        return;
    }
    const auto cores = base::physical_cores(base::allowed_cpus());
    if (cores.size() < 2) {
        testing::skip("needs two physical cores");
        return;
    }
    const Child busy{{"taskset", "-c", base::format_cpus(cores.front().cpus), "sleep", "60"}};
    REQUIRE(eventually([&] { return base::affinity_of(busy.pid()) == cores.front().cpus; }));
    const Scratch scratch;
    const Outcome outcome =
        run_noisegen({"--schedule", "cpu.spin 50ms", "--cpus", "idle", "--avoid", "pid:" + std::to_string(busy.pid()),
                      "--duration", "100ms", "--out", scratch / "run"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    base::CpuSet idle = base::allowed_cpus();
    for (const int used : cores.front().cpus) idle.erase(used);
    CHECK(base::parse_cpus(record(part(scratch)).at("cpus").get<std::string>()) == idle);
}

TEST_CASE("a process that comes to a noise CPU later is reported and on record")
{
    if (base::allowed_cpus().size() < 2) {
        testing::skip("needs a CPU to come from");
        return;
    }
    const std::string elsewhere = std::to_string(*base::allowed_cpus().begin());
    const Child busy{{"taskset", "-c", elsewhere, "sleep", "60"}};
    REQUIRE(eventually([&] { return base::affinity_of(busy.pid()).size() == 1; }));
    const Scratch scratch;
    std::vector<std::string> words = long_run(scratch, "quiet 100ms");
    words.insert(words.end(), {"--avoid", "pid:" + std::to_string(busy.pid())});
    Child child{words};
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 1); }));
    testing::run({"taskset", "-pc", cpu(), std::to_string(busy.pid())});
    CHECK(eventually([&] { return child.output().find("may now run on noise CPUs " + cpu()) != std::string::npos; }));
    child.signal(SIGTERM);
    CHECK(child.wait() == 0);
    CHECK(record(part(scratch)).at("overlaps").at(0).at("pid") == busy.pid());
}
