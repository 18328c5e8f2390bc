// SPDX-License-Identifier: Apache-2.0
// Single matrix products, whole and under codes.
#include "base/csv.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

using testing::operator+;
using testing::Words;

#ifdef CROSSTALK_DDL_TORCH

namespace {

const char* const small_product = "product[rows=33,inner=50,columns=21]";

testing::TrainRun product_under(const testing::Scratch& scratch, int ranks, const std::string& strategy,
                                const std::string& model = small_product, const Words& more = {"--steps", "3"})
{
    std::filesystem::remove_all(scratch / "run");
    return testing::train(ranks, scratch / "run",
                          Words{"--model", model, "--data", "digits", "--trace", "off", "--strategy", strategy} + more);
}

std::string refusal_of_product(const testing::Scratch& scratch, const Words& options)
{
    const testing::TrainRun run = testing::train_alone(scratch / "refused", Words{"--data", "digits"} + options);
    CHECK(run.status == 2);
    CHECK(!std::filesystem::exists(scratch / "refused/train"));
    return run.err;
}

}  // namespace

TEST_CASE("a product is that of LibTorch, alone and under every code of layers")
{
    const testing::Scratch scratch;
    struct Case {
        std::string strategy;
        int ranks;
    };
    std::vector<Case> cases{{"none", 1}, {"coded[grid=2x1,parity=1x1]", 5}};
    if (testing::at_night())
        cases.insert(cases.end(), {{"coded[code=uncoded,grid=2x2]", 4}, {"coded[code=replication,grid=1x2]", 4}});
    for (const auto& [strategy, ranks] : cases) {
        CAPTURE(strategy);
        const testing::TrainRun run = product_under(scratch, ranks, strategy);
        INFO(run.err);
        REQUIRE(run.status == 0);
        CHECK(run.result["loss"].get<double>() < 1e-5);
        CHECK(run.result["accuracy"].is_null());
        CHECK(run.result["ranks_agree"] == true);
        CHECK(run.result["parameters"] == 33 * 50 + 50 * 21);
    }
}

TEST_CASE("a product is that of LibTorch under MatDot, Polynomial and PolyDot codes")
{
    const testing::Scratch scratch;
    struct Case {
        std::string code;
        int ranks;
    };
    std::vector<Case> cases{{"t=1,s=2", 3}, {"t=2,s=1,points=roots", 4}};
    if (testing::at_night())
        cases.insert(cases.end(), {{"t=1,s=3,points=roots", 6},
                                   {"t=2,s=1", 5},
                                   {"t=2,s=1,columns=3", 6},
                                   {"t=2,s=2,columns=1", 5},
                                   {"t=2,s=2,columns=1,check=fp64", 6}});
    for (const auto& [code, ranks] : cases) {
        CAPTURE(code);
        const testing::TrainRun run = product_under(scratch, ranks, "coded[code=polydot," + code + "]");
        INFO(run.err);
        REQUIRE(run.status == 0);
        CHECK(run.result["loss"].get<double>() < 1e-4);
        CHECK(run.result["ranks_agree"] == true);
        const base::CsvTable products{scratch / "run/train/products.csv"};
        REQUIRE(products.rows() == 3);
        CHECK(products.text(0, "layer") == "product");
        CHECK(products.get<int>(0, "symbols") == ranks);
    }
}

TEST_CASE("a rank whose block of a product is wrong is left out, and encodes it anew")
{
    const testing::Scratch scratch;
    const Words errors{"--steps", "60", "--soft-errors", "rate=0.02,sites=forward"};
    const testing::TrainRun run = product_under(scratch, 6, "coded[code=polydot,t=1,s=2]", small_product, errors);
    INFO(run.err);
    REQUIRE(run.status == 0);
    CHECK(run.result["loss"].get<double>() < 1e-4);
    const base::CsvTable found{scratch / "run/train/errors.csv"};
    CHECK(found.rows() > 1);
    for (std::size_t row = 0; row < found.rows(); ++row) {
        CHECK(found.text(row, "outcome") == "regenerated");
        CHECK(found.text(row, "detected_step") == found.text(row, "step"));
    }
    CHECK(run.result["code"]["regenerated_blocks"] == found.rows());
}

TEST_CASE("wrong symbols that cannot be told apart roll a product back")
{
    const testing::Scratch scratch;
    const Words errors{"--steps", "60", "--soft-errors", "rate=0.01,sites=forward"};
    const testing::TrainRun run = product_under(scratch, 4, "coded[code=polydot,t=1,s=2]", small_product, errors);
    INFO(run.err);
    REQUIRE(run.status == 0);
    CHECK(run.result["loss"].get<double>() < 1e-4);
    CHECK(run.result["code"]["rollbacks"] > 0);
}

TEST_CASE("a product sleeps until its time has passed, under a code for the rank's share")
{
    const testing::Scratch scratch;
    const auto forward_ms = [&](int ranks, const std::string& strategy) {
        const testing::TrainRun run =
            product_under(scratch, ranks, strategy, "product[rows=4,inner=4,columns=4,compute=40ms]");
        INFO(run.err);
        REQUIRE(run.status == 0);
        return run.result["phases_ms"]["forward"].get<double>();
    };
    CHECK(forward_ms(1, "none") >= 40.0);
    CHECK(forward_ms(4, "coded[code=uncoded,grid=2x2]") >= 10.0);
}

TEST_CASE("a product that differs from LibTorch's ends with exit code 3")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = product_under(scratch, 2, "coded[code=uncoded,grid=2x1]", small_product,
                                                {"--steps", "3", "--soft-errors", "rate=1,sites=forward"});
    CHECK(run.status == 3);
    CHECK(run.err.find("rank 0: 3 of 3 products differ from LibTorch's by more than 0.001") != std::string::npos);
    CHECK(run.result["loss"].get<double>() > 1e-3);
}

TEST_CASE("a product that is not possible is refused in one line")
{
    const testing::Scratch scratch;
    const auto has = [](const std::string& text, const std::string& words) {
        INFO(text);
        CHECK(text.find(words) != std::string::npos);
    };
    const auto refused = [&](const std::string& model, const Words& more) {
        return refusal_of_product(scratch, Words{"--model", model} + more);
    };
    has(refused("product[rows=0]", {"--strategy", "none"}), "rows, inner and columns must be at least 1");
    has(refused("product[compute=-1ms]", {"--strategy", "none"}), "product[compute]: '-1ms' is not a number");
    has(refused("product[tolerance=0]", {"--strategy", "none"}), "product[tolerance] must be more than 0");
    const auto polydot = [](const std::string& options) {
        return Words{"--strategy", "coded[code=polydot," + options + "]"};
    };
    has(refused("product", polydot("t=2,s=2")), "takes 9 ranks or more, not 1");
    has(refused("product", polydot("t=1,s=12")), "has the condition number");
    if (!testing::at_night()) return;
    has(refused("product", polydot("grid=2x2")), "grid");
    has(refused("product", {"--strategy", "ddp"}), "needs a model with gradients that ranks exchange");
    has(refused("product", {"--strategy", "none", "--until-loss", "1"}), "--until-loss needs a model that learns");
}

#endif
