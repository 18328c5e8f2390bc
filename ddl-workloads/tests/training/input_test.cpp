// SPDX-License-Identifier: Apache-2.0
// Training with every kind of input, using the real program.
#include "base/files.hpp"
#include "ddl-workloads/data/conversion.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace {

testing::Words fed_with(const std::string& data, const testing::Words& more = {})
{
    testing::Words words{"--model", "emulated[compute=1ms,gradients=1KiB]", "--data", data, "--trace", "off"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

nlohmann::json record_of(const std::filesystem::path& out)
{
    return nlohmann::json::parse(base::read_whole(out / "train/run.json"));
}

}  // namespace

TEST_CASE("a training reads data sets where they lie, past the page cache or not")
{
    const testing::Scratch scratch;
    ddl::convert("synthetic[samples=100]", "mnist", scratch / "mnist");
    const std::string mnist = "mnist[path=" + (scratch / "mnist").string() + "]";
    for (const char* access : {"", "--direct", "--drop-page-cache"}) {
        INFO(access);
        const auto out = scratch / (std::string{"run"} + access);
        testing::Words options{"--steps", "12", "--transforms", "2", "--augment", "flip+crop"};
        if (*access != '\0') options.push_back(access);
        const testing::TrainRun run = testing::train_alone(out, fed_with(mnist, options));
        CHECK(run.status == 0);
        CHECK(run.result["skipped_records"] == 0);
        CHECK(run.result["bytes_read"] >= 12 * 8 * 3073);
        CHECK_FALSE(std::filesystem::exists(out / "train/data"));
        CHECK(record_of(out)["training"]["shape"]["height"] == 32);
    }
}

TEST_CASE("text and clicks feed a training on two ranks")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "a.txt", std::string(20'000, 'a'));
    const std::string text = "text[path=" + (scratch / "a.txt").string() + ",length=32]";
    const testing::TrainRun read = testing::train(2, scratch / "text", fed_with(text, {"--steps", "5"}));
    CHECK(read.status == 0);
    CHECK(read.result["bytes_read"] >= 5 * 8 * 33);
    CHECK(testing::train(2, scratch / "clicks", fed_with("clicks[samples=1000]", {"--steps", "5"})).status == 0);
}

TEST_CASE("corrupt records end a training or are skipped and counted by all ranks")
{
    const testing::Scratch scratch;
    ddl::convert("synthetic[samples=100]", "shards", scratch / "set");
    {
        std::fstream file{scratch / "set/train-00000.bin", std::ios::in | std::ios::out | std::ios::binary};
        file.seekp(3077 * 5 + 100);
        file << "damage";
    }
    const std::string set = "shards[path=" + (scratch / "set").string() + "]";
    const testing::TrainRun stopped = testing::train_alone(scratch / "stop", fed_with(set, {"--epochs", "1"}));
    CHECK(stopped.status == 1);
    CHECK(stopped.err.find("train-00000.bin, byte 15385: record 5 does not match its checksum") != std::string::npos);

    const testing::Words skip{"--steps", "30", "--corrupt", "skip"};  // 80 records and 16 samples a step: 6 epochs
    const testing::TrainRun run = testing::train(2, scratch / "skip", fed_with(set, skip));
    CHECK(run.status == 0);
    CHECK(run.result["skipped_records"] == 6);
    CHECK(run.err.find("skipped: ") != std::string::npos);
    const nlohmann::json record = record_of(scratch / "skip");
    CHECK(record["result"]["skipped_records"] == 6);
    CHECK(record["training"]["corrupt"] == "skip");
    CHECK(record["result"]["each_rank"].size() == 2);
}

TEST_CASE("input that is not there or cannot be read so is refused with one line")
{
    const testing::Scratch scratch;
    const auto refused = [&](const std::string& data) {
        const testing::TrainRun run = testing::train_alone(scratch / "run", fed_with(data));
        CHECK(run.status == 1);
        CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
        CHECK_FALSE(std::filesystem::exists(scratch / "run/train"));
    };
    refused("mnist[path=" + scratch.path().string() + "]");
    refused("text[path=" + scratch.path().string() + "]");
}
