// SPDX-License-Identifier: Apache-2.0
// Coded training with a rank that is late in every other step, which the others wait for or not, in turns with the
// undelayed training; and CPU time of encoding, decoding and checks beside that of the products. On fewer cores than
// ranks the others compute while one sleeps, so late=wait costs less than on nodes of their own.
#include "base/cli/options.hpp"
#include "base/contract/code_tables.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "testing/bench_rows.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace {

using testing::operator+;
using testing::Words;

testing::BenchRows& rows()
{
    static testing::BenchRows all{"coded-bench"};
    return all;
}

constexpr double delay_ms = 20.0;
const Words delayed{"--delay", "3:forward:20ms:every=2"};
constexpr std::size_t warm_up = 30;  // steps; thresholds are calibrated in the first 20

// Time from enough symbols to the last one in the first product of each delayed step: median, as a share of the delay.
double saved_share(const std::filesystem::path& run)
{
    const base::CsvTable rows{run / "train" / base::code::products_table};
    const std::string first_layer = rows.text(0, "layer");
    std::vector<double> all;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        const auto step = rows.get<std::int64_t>(row, "step");
        if (std::cmp_less(step, warm_up) || step % 2 != 0) continue;
        if (rows.text(row, "pass") == "forward" && rows.text(row, "layer") == first_layer)
            all.push_back(rows.get<double>(row, "saved_ns") / 1e6 / delay_ms);
    }
    return testing::median(std::move(all)).value;
}

struct Job {
    std::string name;
    int ranks;
    Words work;
    std::string code;  // options of coded
    double at_most;    // of the undelayed time, if the others do not wait for the late rank
};

// A function that trains and returns the mean time of a step in ms; in `saved`, if given, saved_share().
auto training(const Job& job, const std::string& late, const Words& more, std::vector<double>* saved = nullptr)
{
    return [&job, options = job.work + Words{"--strategy", "coded[" + job.code + late + "]", "--trace", "off"} + more,
            saved] {
        const testing::Scratch scratch;
        const testing::TrainRun run = testing::train(job.ranks, scratch / "run", options);
        if (run.status != 0) base::fail("the training failed: ", run.err);
        if (saved != nullptr) saved->push_back(saved_share(scratch / "run"));
        const std::vector<testing::StepTime> steps = testing::steps_in(scratch / "run");
        const double ms = static_cast<double>(steps.back().end_ns - steps.at(warm_up).begin_ns) / 1e6;
        return ms / static_cast<double>(steps.size() - warm_up);
    };
}

void late_rank(const Job& job)
{
    constexpr std::size_t pairs = 15;
    const std::string skip = ",late=skip,spare=0";
    const auto row = [&](const std::string& name) {
        return testing::BenchRows::Case{
            .name = job.name + ", " + name, .beside = "undelayed, `late=wait`", .unit = "ms"};
    };
    const auto undelayed = training(job, "", {});
    std::vector<double> saved;
    rows().add(row("rank 3 late, `late=skip`"),
               testing::measure_in_pairs(pairs, training(job, skip, delayed, &saved), undelayed),
               testing::at_most(job.at_most));
    rows().add({.name = job.name + ", `saved_ns` of the delays"}, testing::median(saved));
    rows().add(row("rank 3 late, `late=wait`"),
               testing::measure_in_pairs(pairs, training(job, "", delayed), undelayed));
    rows().add(row("undelayed, `late=skip`"), testing::measure_in_pairs(pairs, training(job, skip, {}), undelayed));
}

void cost()
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train(
        11, scratch / "run",
        {"--model", "mlp[hidden=2048]", "--data", "digits", "--batch", "64", "--lr", "0.001", "--steps",
         std::to_string(testing::rounds(100)), "--trace", "off", "--strategy", "coded[grid=3x2,parity=1x1]"});
    if (run.status != 0) base::fail("the training failed: ", run.err);
    const auto& cpu = run.result.at("code").at("cpu_ms");
    const auto ms = [&](const char* region) { return cpu.at(region).get<double>(); };
    const double ratio = (ms("encode") + ms("decode") + ms("probe")) / ms("product");
    rows().add({.name = "CPU time of encoding, decoding and checks, `mlp[hidden=2048]`, batch 64",
                .beside = "that of products"},
               ratio, testing::at_most(0.10));
}

}  // namespace

int main(int argc, char** argv)
try {
    base::Options options{"coded-bench", "what late ranks and codes cost a coded training"};
    std::string only = "all";
    options.add_choice("only", only, {"all", "product", "mlp", "cost"}, "what to measure");
    if (!options.parse(argc, argv)) return 0;
    const auto wanted = [&](const char* part) { return only == "all" || only == part; };
    if (wanted("product"))  // each rank computes half of the product, in 20 ms
        late_rank({.name = "product by MatDot, 4 ranks",
                   .ranks = 4,
                   .work = {"--model", "product[rows=256,inner=256,columns=256,compute=40ms]", "--data", "digits",
                            "--steps", "130"},
                   .code = "code=polydot,t=1,s=2",
                   .at_most = 1.05});
    if (wanted("mlp"))
        late_rank({.name = "`mlp[hidden=1024]` by CodeNet, 11 ranks",
                   .ranks = 11,
                   .work = {"--model", "mlp[hidden=1024]", "--data", "digits", "--batch", "64", "--lr", "0.01",
                            "--steps", "130"},
                   .code = "grid=3x2,parity=1x1",
                   .at_most = 1.10});
    if (wanted("cost")) cost();
} catch (...) {
    return base::report_failure("coded-bench");
}
