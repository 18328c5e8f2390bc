// SPDX-License-Identifier: Apache-2.0
// synthetic-run DIR [EXAMPLE [NUMBER]]: writes a run directory as a training and a noise process would, with
// known effects. Without EXAMPLE it is a small run of two ranks, which the attacks in fuzz/attacks damage. The examples
// are the runs in the pictures of the tutorial. NUMBER, at most 28, is the seed and the day of November on which the
// run began.
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/synthetic_run.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

using analysis::testing::SyntheticNoise;
using analysis::testing::SyntheticRun;

constexpr double gib_per_s = 1024.0 * 1024.0 * 1024.0;

// Four ranks, a step of 80 ms, three minutes: memory noise costs 4 %, disk noise nothing, network noise 0.9 %.
SyntheticRun three_noises()
{
    SyntheticRun run;
    run.ranks = 4;
    run.step_ms = 80.0;
    run.slot_s = 0.8;
    run.run_s = 180.0;
    run.deviation = 0.012;
    run.noise[0] = {"memory.stream", "memory.stream", "backward", 4.0, -1};
    const SyntheticNoise disk{"io.write", "io.write", "load", 0.1, -1};
    const SyntheticNoise network{"network.exchange", "network.exchange", "transfer", 0.9, -1};
    run.noise.insert(run.noise.begin() + 1, {disk, network});
    return run;
}

SyntheticRun example(const std::string& name)
{
    SyntheticRun run = three_noises();
    if (name == "three-noises") return run;
    if (name == "slow-rank") {  // memory noise reaches only the core of rank 2
        run.noise[0].percent = 6.0;
        run.noise[0].rank = 2;
        return run;
    }
    if (name == "faulty") {  // a fault that coincides with the placebo also slows the step
        for (SyntheticNoise& noise : run.noise)
            if (noise.role == base::Role::placebo) noise = {"placebo", "placebo", "backward", 2.5, -1, "", noise.role};
        return run;
    }
    if (name == "levels") {
        const std::vector<double> cost{0.0, 0.4, 1.8, 4.5, 9.0};
        run.noise.erase(run.noise.begin(), run.noise.begin() + 3);
        run.run_s = 240.0;
        for (std::size_t i = 0; i < cost.size(); ++i)
            run.noise.insert(run.noise.begin(), {"memory.stream", "memory.stream", "backward", cost[i], -1,
                                                 "rate=" + std::to_string(1 << i) + "GiB/s"});
        return run;
    }
    base::fail_usage("no example '", name, "': there are three-noises, slow-rank, faulty and levels");
}

// Writes the records of a node with 16 CPUs: a rank on each of the first four, noise on the last eight.
void write_records(const std::filesystem::path& folder, const SyntheticRun& run)
{
    const std::string day = std::to_string(run.seed);
    const std::string started = "2026-11-" + std::string(day.size() < 2 ? "0" : "") + day + "T05:44:58Z";
    nlohmann::ordered_json training{{"host", "node1"}, {"cpus_online", 16}, {"started", started}, {"ranks", run.ranks}};
    training["command_line"] = {"ddl-train", "--model", "resnet18"};
    training["training"] = {{"model", "resnet18"}, {"strategy", "ddp"}};
    for (int rank = 0; rank < run.ranks; ++rank)
        training["result"]["each_rank"].push_back({{"host", "node1"}, {"cpus", std::to_string(rank)}});
    nlohmann::ordered_json noise{{"host", "node1"}, {"cpus", "8-15"}, {"cpus_online", 16}, {"started", started}};
    noise["command_line"] = {"noisegen", "--schedule", "rotation(..)"};
    for (const SyntheticNoise& each : run.noise) {
        if (each.level.empty()) continue;
        const double rate = std::atof(each.level.substr(each.level.find('=') + 1).c_str()) * gib_per_s;
        noise["factor_levels"].push_back({{"factor", each.label}, {"level", each.level}, {"bytes_per_s", rate}});
    }
    base::write_whole(folder / "train/run.json", training.dump(2) + "\n");
    base::write_whole(folder / "noise/here.0/noise.json", noise.dump(2) + "\n");
}

}  // namespace

int main(int argc, char** argv)
try {
    if (argc < 2 || argc > 4 || argv[1][0] == '-')
        base::fail_usage("expects DIR [EXAMPLE [NUMBER]]; DIR must not exist");
    const std::filesystem::path folder = argv[1];
    if (std::filesystem::exists(folder)) base::fail_usage(folder.string(), " is already there");
    if (argc == 2) {
        analysis::testing::write_run(folder, {.run_s = 8.0});
        const std::string record = base::run_record("synthetic-run").dump(2) + "\n";
        base::write_whole(folder / "train/run.json", record);
        base::write_whole(folder / "noise/here.0/noise.json", record);
        return 0;
    }
    SyntheticRun run = example(argv[2]);
    if (argc == 4) run.seed = std::strtoull(argv[3], nullptr, 10);
    analysis::testing::write_run(folder, run);
    write_records(folder, run);
} catch (...) {
    return base::report_failure("synthetic-run");
}
