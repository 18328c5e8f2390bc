// SPDX-License-Identifier: Apache-2.0
// synthetic-run DIR: a run directory as a training of two ranks and a noise process beside it leave one, with known
// effects. What the attacks damage.
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/synthetic_run.hpp"

#include <nlohmann/json.hpp>

int main(int argc, char** argv)
try {
    if (argc != 2) base::fail_usage("expects DIR, which must not exist");
    const std::filesystem::path run = argv[1];
    if (std::filesystem::exists(run)) base::fail_usage(run.string(), " is already there");
    analysis::testing::write_run(run, {.run_s = 8.0});
    const std::string record = base::run_record("synthetic-run").dump(2) + "\n";
    base::write_whole(run / "train/run.json", record);
    base::write_whole(run / "noise/here.0/noise.json", record);
} catch (...) {
    return base::report_failure("synthetic-run");
}
