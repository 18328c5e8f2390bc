// SPDX-License-Identifier: Apache-2.0
// Training over Gloo, with the real program.
#include "base/files.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"
#include "testing/train_traces.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/profile/profile.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

using testing::Words;

namespace {

#ifdef CROSSTALK_HAS_GLOO
constexpr bool built_with_gloo = true;
#else
constexpr bool built_with_gloo = false;
#endif

const Words emulated{
    "--model", "emulated[compute=1ms,gradients=8kB,buckets=3]", "--data", "synthetic[samples=400]", "--steps", "12"};

testing::TrainRun trained(int ranks, const std::filesystem::path& out, Words options, const Words& more)
{
    options.insert(options.end(), more.begin(), more.end());
    testing::TrainRun run = testing::trained(ranks, out, options);
    CHECK(run.result["ranks_agree"] == true);
    return run;
}

testing::Outcome alone(const std::filesystem::path& out, const Words& more)
{
    Words words{"env",       "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", CROSSTALK_BIN "/ddl-train", "--out",
                out.string()};
    words.insert(words.end(), emulated.begin(), emulated.end());
    words.insert(words.end(), more.begin(), more.end());
    return testing::run(words);
}

}  // namespace

TEST_CASE("over gloo a training ends with the bits that it ends with over MPI")
{
    if (!built_with_gloo) return testing::skip("built without Gloo");
    const testing::Scratch scratch;
    const auto over_mpi = trained(2, scratch / "mpi", emulated, {"--trace", "off"});
    // The gradients of the emulated model are small whole numbers, so half precision is exact.
    for (const std::string strategy : {"ddp[hook=fp16]", "cycle", "zero1"}) {
        const auto over_gloo =
            trained(2, scratch / strategy, emulated, {"--transport", "gloo", "--strategy", strategy, "--trace", "off"});
        CHECK(over_gloo.result["checksum"] == over_mpi.result["checksum"]);
    }
    trained(3, scratch / "three", emulated, {"--transport", "gloo", "--trace", "off"});
}

TEST_CASE("the trace of a training over gloo is sound and its record says what carried it")
{
    if (!built_with_gloo) return testing::skip("built without Gloo");
    const testing::Scratch scratch;
    trained(2, scratch / "run", emulated, {"--transport", "gloo[timeout=1min]"});
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    otf2::Profile profile{reader.archive()};
    reader.read_by_location(profile);
    profile.finish();
    CHECK(reader.problems().empty());
    CHECK(profile.problems().empty());
    std::uint64_t exchanges = 0;
    for (std::size_t i = 0; i < reader.archive().regions.size(); ++i)
        if (reader.archive().regions[i].name == "bucket_exchange") exchanges = profile.regions()[i].visits;
    CHECK(exchanges == 2 * 12 * 3);

    const auto record = nlohmann::json::parse(base::read_whole(scratch / "run/train/run.json"));
    CHECK(record["transport"]["name"] == "gloo");
    CHECK(record["transport"]["timeout"] == "60s");
    CHECK(record["transport"]["device"].get<std::string>().find("127.0.0.1") != std::string::npos);
    CHECK(record["transport"]["progress"].get<std::string>().find("calls block") != std::string::npos);
    for (const auto& entry : std::filesystem::directory_iterator{scratch / "run"})
        CHECK_FALSE(entry.path().filename().string().starts_with("gloo"));  // the rendezvous directory is removed
}

#ifdef CROSSTALK_DDL_TORCH
TEST_CASE("over gloo a divided model exchanges the same bits all to all")
{
    if (!built_with_gloo) return testing::skip("built without Gloo");
    const testing::Scratch scratch;
    const Words options{"--model", "dlrm[embedding=4,bottom=8,top=8]",
                        "--data",  "clicks[samples=400,dense=4,categories=5,rows=50]",
                        "--steps", "10",
                        "--batch", "4",
                        "--trace", "off"};
    const auto over_mpi = trained(2, scratch / "mpi", options, {});
    const auto over_gloo = trained(2, scratch / "gloo", options, {"--transport", "gloo"});
    CHECK(over_gloo.result["checksum"] == over_mpi.result["checksum"]);
}
#endif

namespace {

// Runs two ranks, numbered as by torchrun, from a shell script: `train RANK OPTION...` starts one of them; the value of
// `$launcher` is put before the program.
testing::Outcome by_script(const std::filesystem::path& out, const std::string& script)
{
    const std::string begin = R"sh(
        export WORLD_SIZE=2 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
        train() {
            export RANK=$1 LOCAL_RANK=$1
            shift
            exec $launcher "$program" --model 'emulated[compute=1ms,gradients=8kB]' \
                --data 'synthetic[samples=400]' --out "$out" "$@"
        }
    )sh";
    return testing::run(
        {"env", "program=" CROSSTALK_BIN "/ddl-train", "out=" + out.string(), "sh", "-c", begin + script});
}

}  // namespace

TEST_CASE("ranks that torchrun numbers meet without MPI, and the kill of one ends the other with one line")
{
    if (!built_with_gloo) return testing::skip("built without Gloo");
    const testing::Scratch scratch;
    const testing::Outcome outcome = by_script(scratch / "run", R"sh(
        export LOCAL_WORLD_SIZE=2
        train 1 --transport gloo --duration 60s --trace off & victim=$!
        train 0 --transport gloo --duration 60s --trace off & other=$!
        steps="$out/train/steps.csv"
        for _ in $(seq 600); do
            [ -e "$steps" ] && [ "$(wc -l <"$steps")" -gt 8 ] && break
            sleep 0.05
        done
        kill -9 $victim
        wait $other
    )sh");
    INFO(outcome.err);
    CHECK(outcome.status == 1);
    CHECK(outcome.err.starts_with("ddl-train: cannot "));
    CHECK(outcome.err.find(" over gloo: ") != std::string::npos);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
}

TEST_CASE("ranks over gloo meet though an earlier start was killed while it waited")
{
    if (!built_with_gloo) return testing::skip("built without Gloo");
    const testing::Scratch scratch;
    const testing::Outcome outcome = by_script(scratch / "run", R"sh(
        export LOCAL_WORLD_SIZE=2 MASTER_PORT=29500
        for killed in 0 1; do
            train $killed --transport gloo --steps 3 & victim=$!
            for _ in $(seq 600); do
                [ -n "$(find "$out" -name "number.$killed" 2>/dev/null)" ] && break
                sleep 0.05
            done
            kill -9 $victim
            wait $victim
        done 2>/dev/null
        train 1 --transport gloo --steps 3 & other=$!
        (train 0 --transport gloo --steps 3) && wait $other
    )sh");
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.out.find("3 steps on 2 ranks") != std::string::npos);
    CHECK(std::distance(std::filesystem::directory_iterator{scratch / "run"}, {}) == 2);  // entries train and control
}

TEST_CASE("ranks over gloo in different time namespaces get their clock offsets from ping-pongs")
{
    if (!built_with_gloo) return testing::skip("built without Gloo");
    if (testing::run({"unshare", "--time", "--monotonic", "1000", "true"}).status != 0)
        return testing::skip("no time namespaces for this user");
    const testing::Scratch scratch;
    // Rank 1's CLOCK_MONOTONIC is 1000 s ahead. Each rank believes that it is alone on its host.
    const testing::Outcome outcome = by_script(scratch / "run", R"sh(
        launcher='unshare --time --monotonic 1000' train 1 --transport gloo --steps 3 & other=$!
        (train 0 --transport gloo --steps 3) && wait $other
    )sh");
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    const otf2::Archive& archive = reader.archive();
    int of_rank_1 = 0;
    for (const otf2::Location& location : archive.locations) {
        const bool ahead = archive.processes.at(location.process).name == "Rank 1";
        for (const otf2::ClockOffset& offset : location.clock_offsets) {
            CHECK(std::abs(offset.offset_ns + (ahead ? 1'000'000'000'000 : 0)) < 10'000'000);
            of_rank_1 += ahead ? 1 : 0;
        }
    }
    CHECK(of_rank_1 > 0);
}

TEST_CASE("a rank over gloo that cannot reach others ends with one line and leaves nothing behind")
{
    if (!built_with_gloo) return testing::skip("built without Gloo");
    const testing::Scratch scratch;
    const auto fails = [&](const std::string& transport, const std::string& words) {
        const testing::Outcome outcome = by_script(scratch / "run", "train 0 --transport '" + transport + "'");
        INFO(outcome.err);
        CHECK(outcome.status == 1);
        CHECK(outcome.err.find(words) != std::string::npos);
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
        if (std::filesystem::exists(scratch / "run")) CHECK(std::filesystem::is_empty(scratch / "run"));
    };
    fails("gloo[timeout=100ms]", "cannot connect to the other ranks through ");
    fails("gloo[host=no.such.host.invalid]", "the host name no.such.host.invalid has no address");
    fails("gloo[interface=none0]", "Unable to find address for: none0");
}

TEST_CASE("what gloo cannot use is refused with one line")
{
    if (!built_with_gloo) return testing::skip("built without Gloo");
    const testing::Scratch scratch;
    const auto refused = [&](const Words& options, const std::string& words) {
        const testing::Outcome outcome = alone(scratch / "run", options);
        INFO(outcome.err);
        CHECK(outcome.status == 2);
        CHECK(outcome.err.find(words) != std::string::npos);
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    };
    refused({"--transport", "gloo[interface=eth0,host=here]"}, "give only one of");
    refused({"--transport", "gloo[timeout=0s]"}, "timeout");
}

TEST_CASE("a single rank over gloo needs no other to meet")
{
    if (!built_with_gloo) return testing::skip("built without Gloo");
    const testing::Scratch scratch;
    const testing::Outcome outcome = alone(scratch / "run", {"--transport", "gloo", "--strategy", "cycle"});
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.out.find("12 steps on 1 rank") != std::string::npos);
}
