#include "analysis/input/run_steps.hpp"

#include "analysis/input/training.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"

#include <algorithm>

namespace analysis {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t steps_of_identity = 10;

}  // namespace

fs::path steps_file(const fs::path& run)
{
    if (!fs::exists(run)) base::fail("there is no ", run.string());
    if (!fs::is_directory(run)) return run;
    const fs::path train = base::part::train;
    for (const fs::path& file : {train / base::file::anchor_in_part, fs::path{base::file::anchor_in_part},
                                 fs::path{base::file::anchor}, train / base::file::steps, fs::path{base::file::steps}})
        if (fs::exists(run / file)) return run / file;
    base::fail(run.string(), " holds neither train/trace/traces.otf2 nor train/steps.csv: no run of a training");
}

RunSteps read_run_steps(const fs::path& path)
{
    const Training training = read_training(steps_file(path));
    RunSteps run;
    run.name = path.string();
    run.names = {"step"};
    run.names.insert(run.names.end(), training.steps.phases.begin(), training.steps.phases.end());
    run.numbers = training.steps.numbers;
    run.ms = job_measures(training.steps);
    const auto lowest = std::min_element(training.steps.ranks.begin(), training.steps.ranks.end(),
                                         [](const RankSteps& a, const RankSteps& b) { return a.rank < b.rank; });
    for (std::size_t i = 0; i < std::min(run.numbers.size(), steps_of_identity); ++i)
        run.identity.insert(run.identity.end(), {lowest->begin_ns[i], lowest->end_ns[i]});
    return run;
}

bool same_run(const RunSteps& a, const RunSteps& b)
{
    const std::size_t both = std::min(a.identity.size(), b.identity.size());
    return std::equal(a.identity.begin(), a.identity.begin() + static_cast<std::ptrdiff_t>(both), b.identity.begin());
}

}  // namespace analysis
