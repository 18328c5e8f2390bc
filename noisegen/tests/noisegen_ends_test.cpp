// SPDX-License-Identifier: Apache-2.0
// The end of noisegen: by signals, or because its parent, its output's reader or a peer ends.
#include "base/csv.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/stressors/network/mpi_exchange.hpp"
#include "noisegen/stressors/network/sockets.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <optional>

namespace fs = std::filesystem;
using namespace testing;

namespace {

// Ranks that share CPUs must yield.
const std::vector<std::string> on_two_ranks{"env",   without_leak_check,    "mpirun",    "-n",
                                            "2",     "--oversubscribe",     "--bind-to", "none",
                                            "--mca", "mpi_yield_when_idle", "1"};

}  // namespace

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
    // The shell waits for noisegen and is killed, so noisegen loses its parent.
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
        const noisegen::Socket free = noisegen::listen_on(0, noisegen::loopback_address);
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
    noisegen::Socket listener = noisegen::listen_on(0, noisegen::any_address);
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
