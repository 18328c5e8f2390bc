// SPDX-License-Identifier: Apache-2.0
// Training on texts and on clicks, using the real program.
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"
#include "testing/train_traces.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

using testing::operator+;
using testing::Words;

#ifdef CROSSTALK_DDL_TORCH
namespace {

constexpr int steps = 20;

// Exchanges in a trace by region, and the library's collectives by operation.
class Exchanges : public otf2::Visitor {
 public:
    explicit Exchanges(const otf2::Archive& archive) : archive_{archive} {}
    std::map<std::string, int> regions;
    std::map<otf2::Operation, int> collectives;
    int without_step = 0;

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
    {
        const std::string& name = archive_.regions.at(region).name;
        if (archive_.locations.at(at.location).name != "transport") return;
        ++regions[name];
        if (name == "all_to_all" && !attributes.number(*archive_.find_attribute("step"))) ++without_step;
    }
    void collective_complete(const otf2::At&, const otf2::CollectiveRecord& record) override
    {
        ++collectives[record.operation];
    }

 private:
    const otf2::Archive& archive_;
};

}  // namespace

TEST_CASE("gpt learns a sentence")
{
    const testing::Scratch scratch;
    const testing::TrainRun run =
        testing::trained_alone(scratch / "run", testing::some_text(scratch / "text", 16) +
                                                    Words{"--model", "gpt[layers=1,width=32,heads=2]", "--trace", "off",
                                                          "--optimizer", "adamw", "--lr", "0.01", "--epochs", "2"});
    CHECK(run.result["accuracy"].get<double>() > 0.8);
    CHECK(run.result["accuracy"].get<double>() <= 1.0);
}

TEST_CASE("dlrm exchanges ids and rows and gradients all to all in every step")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::trained(
        2, scratch / "run",
        {"--model", "dlrm[embedding=4,bottom=8,top=8]", "--data", "clicks[samples=400,dense=4,categories=5,rows=50]",
         "--batch", "4", "--steps", std::to_string(steps)});

    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    Exchanges exchanges{reader.archive()};
    reader.read_by_location(exchanges);
    constexpr int expected = 2 * (3 * steps + 2);  // on two ranks; the evaluation exchanges no gradients
    CHECK(exchanges.regions["all_to_all"] == expected);
    CHECK(exchanges.without_step == 0);
    CHECK(exchanges.collectives[otf2::Operation::alltoallv] == expected);
}

TEST_CASE("dlrm guesses together with ranks that have nothing to guess")
{
    const testing::Scratch scratch;
    const testing::TrainRun run =
        testing::trained(2, scratch / "run",
                         {"--model", "dlrm[embedding=4,bottom=8,top=8]", "--data",
                          "clicks[samples=400,dense=4,categories=3,rows=20]", "--epochs", "1", "--trace", "off"});
    CHECK(run.result["accuracy"].get<double>() > 0.4);
}
#endif
