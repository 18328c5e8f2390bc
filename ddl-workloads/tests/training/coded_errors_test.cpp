// SPDX-License-Identifier: Apache-2.0
// Coded trainings with soft errors: what the training finds, repairs and records.
#include "base/contract/code_tables.hpp"
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/coded_runs.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>

using testing::operator+;
using testing::Words;

#ifdef CROSSTALK_DDL_TORCH

namespace {

const Words mlp_with_errors{"--model", "mlp[hidden=20]", "--data", "digits",  "--batch",
                            "8",       "--lr",           "0.01",   "--trace", "off"};

testing::TrainRun coded_run(const testing::Scratch& scratch, int ranks, const std::string& strategy, const Words& more)
{
    testing::TrainRun run =
        testing::train(ranks, scratch / "run", mlp_with_errors + Words{"--strategy", strategy} + more);
    if (run.status != 0) MESSAGE(run.err);
    return run;
}

std::map<std::string, int> outcomes(const testing::Scratch& scratch)
{
    const base::CsvTable table{scratch / "run/train/errors.csv"};
    std::map<std::string, int> count;
    for (std::size_t row = 0; row < table.rows(); ++row) ++count[table.text(row, "outcome")];
    return count;
}

}  // namespace

TEST_CASE("errors in blocks of weights are corrected, and the training reaches the loss of one process")
{
    const testing::Scratch scratch;
    const testing::TrainRun run =
        coded_run(scratch, 8, "coded[grid=2x1,parity=2x2]", {"--steps", "100", "--soft-errors", "rate=0.001"});
    REQUIRE(run.status == 0);
    const testing::TrainRun one = testing::train_alone(scratch / "one", mlp_with_errors + Words{"--steps", "100"});
    CHECK(run.result["loss"].get<double>() == doctest::Approx(one.result["loss"].get<double>()).epsilon(1e-4));
    std::map<std::string, int> count = outcomes(scratch);
    CHECK(count["regenerated"] > 0);
    CHECK(count["false_alarm"] == 0);
    CHECK(run.result["code"]["regenerated_blocks"] >= count["regenerated"]);

    const base::CsvTable products{scratch / "run/train/products.csv"};
    CHECK(products.rows() >= 100 * 5);  // a step has three products forward and two backward
    CHECK(products.columns() == base::names_of(base::code::product_columns()));
    for (std::size_t row = 0; row < products.rows(); ++row)
        CHECK(products.get<std::int64_t>(row, "end_ns") - products.get<std::int64_t>(row, "begin_ns") ==
              products.get<std::int64_t>(row, "product_ns") + products.get<std::int64_t>(row, "wait_ns") +
                  products.get<std::int64_t>(row, "decode_ns"));
}

TEST_CASE("errors that two copies can only detect roll the training back")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = coded_run(scratch, 2, "coded[code=replication,grid=1x1]",
                                            {"--steps", "30", "--soft-errors", "rate=0.002,sites=forward+backward"});
    REQUIRE(run.status == 0);
    const testing::TrainRun one = testing::train_alone(scratch / "one", mlp_with_errors + Words{"--steps", "30"});
    CHECK(run.result["loss"].get<double>() == doctest::Approx(one.result["loss"].get<double>()).epsilon(1e-4));
    CHECK(run.result["code"]["rollbacks"] > 0);
    CHECK(outcomes(scratch).at("rolled_back") > 0);
}

TEST_CASE("a step that is rolled back ten times ends the training with exit code 3")
{
    const testing::Scratch scratch;
    const testing::TrainRun run =
        coded_run(scratch, 2, "coded[code=replication,grid=1x1]", {"--steps", "5", "--soft-errors", "rate=1"});
    CHECK(run.status == 3);
    CHECK(run.result["code"]["rollbacks"] == 10);
    CHECK(run.err.find("step 0 was rolled back 10 times") != std::string::npos);
}

TEST_CASE("a bit that flips in a block, or in what every rank computes, is found and repaired")
{
    const testing::Scratch scratch;
    const std::string strategy = "coded[grid=1x1,parity=2x2]";  // 5 ranks
    const Words twenty{"--steps", "20"};
    const testing::TrainRun sound =
        testing::train(5, scratch / "sound", mlp_with_errors + Words{"--strategy", strategy} + twenty);
    const auto altered = [&](const std::string& path) {
        std::filesystem::remove_all(scratch / "run");
        base::write_whole(scratch / "flip.json", R"({")" + path + R"(": [[[3], [1]]]})");
        return coded_run(scratch, 5, strategy, twenty + Words{"--alter", "2:7:" + (scratch / "flip.json").string()});
    };

    const testing::TrainRun block = altered("code/weight/layers.layer 1.0");
    REQUIRE(block.status == 0);
    CHECK(block.result["loss"].get<double>() == doctest::Approx(sound.result["loss"].get<double>()).epsilon(1e-4));
    const base::CsvTable errors{scratch / "run/train/errors.csv"};
    REQUIRE(errors.rows() == 1);
    CHECK(errors.text(0, "rank") == "2");
    CHECK(errors.text(0, "detected_step") == "7");
    CHECK(errors.text(0, "layer") == "layers.layer 1.0");
    CHECK(errors.text(0, "site") == "code");
    CHECK(errors.get<double>(0, "injected_ns") > 0);
    CHECK(errors.get<double>(0, "size") > 1e30);  // a bit of the exponent
    CHECK(errors.text(0, "outcome") == "regenerated");

    const testing::TrainRun bias = altered("model/layers.layer 1.0.bias");
    REQUIRE(bias.status == 0);
    CHECK(bias.result["checksum"] == sound.result["checksum"]);
    const base::CsvTable replicas{scratch / "run/train/errors.csv"};
    REQUIRE(replicas.rows() == 1);
    CHECK(replicas.text(0, "site") == "replica");
    CHECK(replicas.text(0, "layer") == "layers.layer 1.0.bias");
    CHECK(replicas.text(0, "outcome") == "outvoted");
}

TEST_CASE("an altered block or output that no symbols locate is rolled back and recorded once")
{
    const testing::Scratch scratch;
    // An altered output that ReLU makes 0 is found when the ranks compare, before the next step.
    const std::map<std::string, std::string> found{{"code/weight/layers.layer 1.0", "3"},
                                                   {"decoded/layers.layer 0.0", "4"}};
    for (const auto& [path, step] : found) {
        CAPTURE(path);
        std::filesystem::remove_all(scratch / "run");
        base::write_whole(scratch / "flip.json", R"({")" + path + R"(": [[[3], [1]]]})");
        const testing::TrainRun run = coded_run(scratch, 2, "coded[code=replication,grid=1x1]",
                                                {"--steps", "6", "--alter", "1:3:" + (scratch / "flip.json").string()});
        REQUIRE(run.status == 0);
        CHECK(run.result["code"]["rollbacks"] == 1);
        const base::CsvTable errors{scratch / "run/train/errors.csv"};
        REQUIRE(errors.rows() == 1);
        CHECK(errors.text(0, "step") == "3");
        CHECK(errors.text(0, "rank") == "1");
        CHECK(errors.text(0, "detected_step") == step);
        CHECK(errors.text(0, "outcome") == "rolled_back");
    }
}

TEST_CASE("an error that is in the state to which a training is rolled back was not rolled back")
{
    const testing::Scratch scratch;
    const auto flip = [&](const std::string& step, const std::string& bit) {
        const std::string record = scratch / ("flip" + bit + ".json");
        base::write_whole(record, R"({"code/weight/layers.layer 1.0": [[[3], [)" + bit + "]]]}");
        return Words{"--alter", "1:" + step + ":" + record};
    };
    const testing::TrainRun run =
        coded_run(scratch, 2, "coded[code=replication,grid=1x1]",
                  Words{"--steps", "10", "--checkpoint-every", "5", "--checkpoint-by", "sharded"} + flip("3", "29") +
                      flip("7", "1"));
    REQUIRE(run.status == 0);
    CHECK(run.result["code"]["rollbacks"] == 1);
    const base::CsvTable errors{scratch / "run/train/errors.csv"};
    REQUIRE(errors.rows() == 2);
    CHECK(errors.text(0, "step") == "7");
    CHECK(errors.text(0, "outcome") == "rolled_back");
    CHECK(errors.text(1, "step") == "3");
    CHECK(errors.text(1, "outcome") == "below_threshold");
}

TEST_CASE("a training that fails at different steps, and never reaches its end, ends with exit code 3")
{
    const testing::Scratch scratch;
    const testing::TrainRun run =
        coded_run(scratch, 2, "coded[code=replication,grid=1x1]", {"--steps", "400", "--soft-errors", "rate=0.05"});
    CHECK(run.status == 3);
    CHECK(run.result["code"]["rollbacks"] > 10);
    CHECK(run.err.find(" was rolled back 10 times") != std::string::npos);
}

TEST_CASE("an altered product is corrected, an altered input or output of a layer is outvoted")
{
    const testing::Scratch scratch;
    const std::string strategy = "coded[grid=1x1,parity=2x2]";  // 5 ranks
    const Words ten{"--steps", "10"};
    const testing::TrainRun sound =
        testing::train(5, scratch / "sound", mlp_with_errors + Words{"--strategy", strategy} + ten);
    const auto outcome = [&](const std::string& site, const std::string& step, const std::string& bit) {
        CAPTURE(site);
        std::filesystem::remove_all(scratch / "run");
        base::write_whole(scratch / "flip.json", R"({")" + site + R"(/layers.layer 1.0": [[[3], [)" + bit + "]]]}");
        const testing::TrainRun run = coded_run(
            scratch, 5, strategy, ten + Words{"--alter", "2:" + step + ":" + (scratch / "flip.json").string()});
        REQUIRE(run.status == 0);
        CHECK(run.result["ranks_agree"] == true);
        CHECK(run.result["loss"].get<double>() == doctest::Approx(sound.result["loss"].get<double>()).epsilon(1e-4));
        const base::CsvTable errors{scratch / "run/train/errors.csv"};
        REQUIRE(errors.rows() == 1);
        CHECK(errors.text(0, "step") == step);
        CHECK(errors.text(0, "site") == site);
        CHECK(errors.text(0, "rank") == "2");
        CHECK(errors.text(0, "layer") == "layers.layer 1.0");
        return errors.text(0, "outcome") + " in step " + errors.text(0, "detected_step");
    };
    const std::string exponent = "1";
    CHECK(outcome("product", "4", exponent) == "corrected in step 4");
    CHECK(outcome("activation", "4", exponent) == "outvoted in step 5");
    if (!testing::at_night()) return;
    CHECK(outcome("decoded", "4", exponent) == "outvoted in step 5");
    CHECK(outcome("decoded", "9", exponent) == "outvoted in step 9");  // the last step
    CHECK(outcome("product", "4", "29") == "below_threshold in step ");
}

TEST_CASE("alterations of products that are not possible are refused in one line")
{
    const testing::Scratch scratch;
    const auto refusal = [&](const std::string& path, const std::string& strategy) {
        base::write_whole(scratch / "flip.json", R"({")" + path + R"(": [[[3], [1]]]})");
        const testing::TrainRun run = testing::train_alone(
            scratch / "run", mlp_with_errors + Words{"--strategy", strategy, "--steps", "2", "--alter",
                                                     "0:1:" + (scratch / "flip.json").string()});
        CHECK(run.status == 2);
        return run.err;
    };
    CHECK(refusal("product/layers.layer 1.0", "none").find("needs a strategy with coded blocks of weights") !=
          std::string::npos);
    CHECK(refusal("code/weight/layers.layer 9.0", "coded[code=uncoded,grid=1x1]")
              .find("the training has no code/weight/layers.layer 9.0; did you mean") != std::string::npos);
    CHECK(refusal("decoded/layers.layer 9.0", "coded[code=uncoded,grid=1x1]")
              .find("no fully connected layer layers.layer 9.0; did you mean") != std::string::npos);
}

TEST_CASE("blocks without redundancy keep their errors")
{
    const testing::Scratch scratch;
    const testing::TrainRun run =
        coded_run(scratch, 1, "coded[code=uncoded,grid=1x1]", {"--steps", "20", "--soft-errors", "rate=0.1"});
    REQUIRE(run.status == 0);
    std::map<std::string, int> count = outcomes(scratch);
    CHECK(count["missed"] > 0);
    CHECK(count["below_threshold"] + count["regenerated"] + count["rolled_back"] == 0);
}

#endif
