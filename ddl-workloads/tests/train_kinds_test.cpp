// Trainings on text and on clicks, by the real program.
#include "base/testing.hpp"
#include "ddl-workloads/tests/train_runs.hpp"
#include "trace-tools/otf2/reader.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <string>

using testing::Words;

#ifdef CROSSTALK_DDL_TORCH
namespace {

constexpr int steps = 20;

// Exchanges of a trace, by region, and the library's collectives by operation.
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

std::string a_text(const testing::Scratch& scratch)
{
    const std::string path = scratch / "text";
    std::ofstream file{path};
    for (int i = 0; i < 300; ++i) file << "In the beginning was the word. ";
    return path;
}

testing::TrainRun trained(const std::filesystem::path& out, const std::string& strategy, Words options)
{
    options.insert(options.end(), {"--strategy", strategy, "--steps", std::to_string(steps), "--batch", "4"});
    testing::TrainRun run = testing::train(2, out, options);
    INFO(run.err);
    REQUIRE(run.status == 0);
    CHECK(run.result["ranks_agree"] == true);
    return run;
}

}  // namespace

TEST_CASE("gpt trains on a file and ends the same with either strategy")
{
    const testing::Scratch scratch;
    const Words options{"--model", "gpt[layers=2,width=16,heads=2]",
                        "--data",  "text[path=" + a_text(scratch) + ",length=12]",
                        "--trace", "off"};
    const testing::TrainRun ddp = trained(scratch / "ddp", "ddp[first=1kB,cap=8kB]", options);
    CHECK(ddp.result["parameters"] == 256 * 16 + 12 * 16 + 2 * (12 * 16 * 16 + 13 * 16) + 2 * 16);
    CHECK(trained(scratch / "naive", "naive", options).result["checksum"] == ddp.result["checksum"]);
}

TEST_CASE("gpt learns a sentence")
{
    const testing::Scratch scratch;
    const testing::TrainRun run =
        testing::train_alone(scratch / "run", {"--model", "gpt[layers=1,width=32,heads=2]", "--data",
                                               "text[path=" + a_text(scratch) + ",length=16]", "--trace", "off",
                                               "--optimizer", "adamw", "--lr", "0.01", "--epochs", "2"});
    INFO(run.err);
    REQUIRE(run.status == 0);
    CHECK(run.result["accuracy"].get<double>() > 0.8);
    CHECK(run.result["accuracy"].get<double>() <= 1.0);
}

TEST_CASE("dlrm exchanges ids and rows and gradients all to all in every step")
{
    const testing::Scratch scratch;
    const Words options{"--model", "dlrm[embedding=4,bottom=8,top=8]", "--data",
                        "clicks[samples=400,dense=4,categories=5,rows=50]"};
    const testing::TrainRun ddp = trained(scratch / "ddp", "ddp[first=100B,cap=1kB]", options);
    CHECK(trained(scratch / "naive", "naive", options).result["checksum"] == ddp.result["checksum"]);

    otf2::Reader reader{scratch / "ddp/train/trace/traces.otf2"};
    Exchanges exchanges{reader.archive()};
    reader.read_by_location(exchanges);
    constexpr int expected = 2 * (3 * steps + 2);  // on two ranks; in the evaluation there are no gradients
    CHECK(exchanges.regions["all_to_all"] == expected);
    CHECK(exchanges.without_step == 0);
    CHECK(exchanges.collectives[otf2::Operation::alltoallv] == expected);
}

TEST_CASE("dlrm guesses together with ranks that have nothing to guess")
{
    const testing::Scratch scratch;
    const testing::TrainRun run =
        testing::train(2, scratch / "run",
                       {"--model", "dlrm[embedding=4,bottom=8,top=8]", "--data",
                        "clicks[samples=400,dense=4,categories=3,rows=20]", "--epochs", "1", "--trace", "off"});
    INFO(run.err);
    REQUIRE(run.status == 0);
    CHECK(run.result["accuracy"].get<double>() > 0.4);
}
#endif
