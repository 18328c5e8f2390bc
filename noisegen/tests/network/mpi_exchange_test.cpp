// SPDX-License-Identifier: Apache-2.0
// Network noise between MPI ranks.
#include "noisegen/stressors/network/mpi_exchange.hpp"

#include "base/csv.hpp"
#include "base/system/clock.hpp"
#include "base/system/environment.hpp"
#include "base/system/launcher.hpp"
#include "testing/child.hpp"
#include "testing/made_stressor.hpp"
#include "testing/network_runs.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

namespace fs = std::filesystem;
using testing::Child;
using testing::eventually;
using testing::has_rows;
using testing::how;
using testing::Made;
using testing::noisegen_words;
using testing::Outcome;
using testing::part;
using testing::program;
using testing::record_of;
using testing::Scratch;
using testing::sum;

namespace {

// Ranks that share CPUs must yield. LeakSanitizer is off, since MPI unloads its plug-ins before the leak check.
std::vector<std::string> on_ranks(int ranks, const std::vector<std::string>& words,
                                  const std::vector<std::string>& mpi_options = {})
{
    std::vector<std::string> all{"env",
                                 "ASAN_OPTIONS=detect_leaks=0:detect_container_overflow=0",
                                 "mpirun",
                                 "-n",
                                 std::to_string(ranks),
                                 "--oversubscribe",
                                 "--bind-to",
                                 "none",
                                 "--mca",
                                 "mpi_yield_when_idle",
                                 "1"};
    all.insert(all.end(), mpi_options.begin(), mpi_options.end());
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

// The number before the word in a text such as "..., 512 rounds, through ...".
std::uint64_t number_before(const std::string& text, const std::string& word)
{
    const std::size_t end = text.find(" " + word);
    REQUIRE(end != std::string::npos);
    return std::stoull(text.substr(text.rfind(' ', end - 1) + 1));
}

noisegen::Work stress_for(noisegen::Stressor& stressor, std::int64_t ns)
{
    noisegen::Work all;
    for (const std::int64_t end = base::now_ns() + ns; base::now_ns() < end;) {
        const noisegen::Work work = stressor.step();
        all.bytes += work.bytes;
        all.operations += work.operations;
    }
    return all;
}

// Expected bytes and operations of a round on each of n ranks.
struct RoundPromise {
    std::string stressor;
    std::function<std::uint64_t(std::uint64_t)> bytes;
    std::uint64_t operations = 1;
};

const std::vector<RoundPromise> promises{
    {"network.alltoall[bytes=2KiB]", [](std::uint64_t n) { return 2048 * std::max<std::uint64_t>(n - 1, 1); }},
    {"network.allreduce[bytes=24KiB]", [](std::uint64_t n) { return n == 1 ? 24576 : 2 * (n - 1) * 24576 / n; }},
    {"network.incast[bytes=8KiB,window=3]", [](std::uint64_t) { return 3 * 8192; }, 3},
    {"network.incast[bytes=256KiB,window=2,root=0]", [](std::uint64_t) { return 2 * 262144; }, 2},
};

}  // namespace

TEST_CASE("each pattern runs with one and two and three ranks and counts what its formula says")
{
    if (!testing::mpi_can_run()) return;
    for (const int ranks : {1, 2, 3})
        for (const RoundPromise& promise : promises) {
            CAPTURE(promise.stressor);
            CAPTURE(ranks);
            const Scratch scratch;
            const fs::path run = scratch / "run";
            const Outcome outcome =
                testing::run(on_ranks(ranks, noisegen_words(promise.stressor + " 80ms; quiet 20ms", "300ms", run)));
            INFO(outcome.err);
            REQUIRE(outcome.status == 0);
            std::set<std::uint64_t> rounds;
            bool at_rest = true;
            const std::uint64_t bytes = promise.bytes(static_cast<std::uint64_t>(ranks));
            for (int rank = 0; rank < ranks; ++rank) {
                CAPTURE(rank);
                const std::uint64_t counted = sum(run, rank, "operations") / promise.operations;
                CHECK(counted > 0);
                CHECK(sum(run, rank, "bytes") == counted * bytes);
                // Rounds completed after the last turn are in no row.
                const std::uint64_t begun = number_before(how(run, rank), "rounds");
                CHECK(counted <= begun);
                CHECK(2 * counted >= begun);
                rounds.insert(begun);
                if (how(run, rank).find("turns ended during a round") != std::string::npos) at_rest = false;
                CHECK(number_before(how(run, rank), ranks == 1 ? "rank" : "ranks") ==
                      static_cast<std::uint64_t>(ranks));
                CHECK(how(run, rank).find("nothing leaves the node") != std::string::npos);
            }
            // On a busy machine a rank may be so late that the others stop waiting for it.
            CHECK(*rounds.rbegin() - *rounds.begin() <= (at_rest ? 0U : static_cast<unsigned>(ranks)));
        }
}

TEST_CASE("ranks with turns of different length and number come to rest in the same round")
{
    if (!base::environment("CROSSTALK_TEST_RANK_DIRECTORY")) {
        if (!testing::mpi_can_run()) return;
        const Scratch scratch;
        const Outcome outcome = testing::run(on_ranks(
            3, {"env", "CROSSTALK_TEST_RANK_DIRECTORY=" + scratch.path().string(), fs::read_symlink("/proc/self/exe"),
                "--test-case=ranks with turns of different length and number come to rest in the same round"}));
        INFO(outcome.out);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        std::set<std::string> rounds;
        for (const char* rank : {"0", "1", "2"}) rounds.insert(base::read_whole(scratch / rank));
        CHECK(rounds.size() == 1);
        CHECK(rounds.begin()->find(" rounds") != std::string::npos);
        return;
    }
    std::string all_rounds;
    std::vector<Made> all_made;
    const int rank = base::job_rank().rank;
    for (const std::string name : {"network.exchange", "network.alltoall", "network.allreduce", "network.incast"}) {
        CAPTURE(name);
        const Made& made = all_made.emplace_back(Made{name, {{"bytes", "32KiB"}}});
        noisegen::Work work;
        for (int turn = 0; turn < 4 - rank % 2; ++turn) {
            made.stressor->begin({});
            work.bytes += stress_for(*made.stressor, (5 + 10 * rank) * 1'000'000).bytes;
            made.stressor->end();
        }
        CHECK(work.bytes > 0);
        // Repeated so often that the slowest rank has joined.
        for (int again = 0; again < 20; ++again) made.stressor->end();
        all_rounds += name + " " + std::to_string(number_before(made.stressor->note(), "rounds")) + " rounds\n";
    }
    const fs::path directory = *base::environment("CROSSTALK_TEST_RANK_DIRECTORY");
    base::write_whole(directory / std::to_string(rank), all_rounds);
}

TEST_CASE("a rank that is killed takes the others with it")
{
    if (!testing::mpi_can_run()) return;
    const Scratch scratch;
    const fs::path run = scratch / "run";
    Child mpirun{on_ranks(3, noisegen_words("network.alltoall 50ms; network.incast 50ms", "10min", run))};
    for (const int rank : {0, 1, 2}) REQUIRE(eventually([&] { return has_rows(part(run, rank) / "noise.csv", 2); }));
    std::vector<int> pids;
    for (const int rank : {0, 1, 2}) pids.push_back(record_of(run, rank).at("pid").get<int>());
    ::kill(pids[1], SIGKILL);
    CHECK(mpirun.wait() != 0);
    for (const int pid : pids) CHECK(eventually([pid] { return ::kill(pid, 0) != 0; }));
    for (const int rank : {0, 1, 2}) CHECK(base::CsvTable{part(run, rank) / "noise.csv"}.rows() >= 2);
}

TEST_CASE("the record names the transport of MPI")
{
    if (!testing::mpi_can_run()) return;
    const std::map<std::string, std::vector<std::string>> transports{
        {"btl tcp; ", {"--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"}},
        {"btl vader (single copy none); ", {"--mca", "btl_vader_single_copy_mechanism", "none"}}};
    for (const auto& [name, options] : transports) {
        CAPTURE(name);
        const Scratch scratch;
        const Outcome outcome =
            testing::run(on_ranks(2, noisegen_words("network.exchange 100ms", "100ms", scratch / "run"), options));
        INFO(outcome.err);
        if (outcome.status != 0 || how(scratch / "run").find("ob1") == std::string::npos) {
            testing::skip("this MPI has no such transport");
            return;
        }
        CHECK(how(scratch / "run").find("through ob1, " + name) != std::string::npos);
    }
}

TEST_CASE("without MPI its patterns are refused and say what does without")
{
    if (noisegen::mpi_available()) {
        testing::skip("built with MPI");
        return;
    }
    for (const std::string name : {"network.alltoall", "network.allreduce", "network.incast"}) {
        const Scratch scratch;
        const Outcome outcome = testing::run(noisegen_words(name + " 100ms", "100ms", scratch / "run"));
        CHECK(outcome.status == 77);
        CHECK(outcome.err ==
              "noisegen: " + name + " needs MPI, and noisegen was built without it; network.stream does not\n");
        CHECK(!fs::exists(scratch / "run"));
    }
}

TEST_CASE("without MPI several ranks exchange messages with named hosts only")
{
    if (noisegen::mpi_available()) {
        testing::skip("built with MPI");
        return;
    }
    const Scratch scratch;
    const auto as_rank_of_two = [&](const std::string& options) {
        std::vector<std::string> words{"env", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2"};
        for (const std::string& word :
             noisegen_words("network.exchange" + options + " 100ms", "100ms", scratch / "run"))
            words.push_back(word);
        words.emplace_back("--dry-run");
        return testing::run(words);
    };
    const Outcome ring = as_rank_of_two("");
    CHECK(ring.status == 77);
    CHECK(ring.err.find("network.exchange needs MPI") != std::string::npos);
    CHECK(as_rank_of_two("[hosts=127.0.0.1]").status == 0);
}

TEST_CASE("the list says what was built without MPI")
{
    const std::string list = testing::run({program, "--list"}).out;
    CHECK((list.find("was built without MPI") != std::string::npos) == !noisegen::mpi_available());
}

TEST_CASE("a root that is no rank is refused")
{
    if (!testing::mpi_can_run()) return;
    const Scratch scratch;
    const Outcome outcome =
        testing::run(on_ranks(2, noisegen_words("network.incast[root=2] 100ms", "100ms", scratch / "run")));
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find("no rank 2 among 2 ranks; give 0 to 1, or rotate") != std::string::npos);
}
