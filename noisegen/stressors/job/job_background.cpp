// SPDX-License-Identifier: Apache-2.0
// Background work of the training itself as noise: a checkpoint, or another number of loader threads, in its slots.
#include "base/cli/option_checks.hpp"
#include "base/contract/background_work.hpp"
#include "base/error.hpp"
#include "noisegen/stressors/control/control_request.hpp"

namespace noisegen {

namespace {

base::ControlRequest checkpoint_request(const base::Settings& settings)
{
    const std::string& mode = settings.text("mode");
    if (mode == "sync") return base::ControlRequest::checkpoint;
    if (mode == "async") return base::ControlRequest::checkpoint_async;
    base::fail_usage("job.checkpoint[mode=", mode, "]: sync or async");
}

std::uint32_t loader_threads(const base::Settings& settings)
{
    const int workers = settings.get<int>("workers");
    base::check_within(0, base::most_threads, workers, "job.loaders[workers]");
    return static_cast<std::uint32_t>(workers);
}

}  // namespace

extern const StressorCard job_checkpoint{
    .name = base::job_checkpoint,
    .summary =
        "the training writes a checkpoint at the beginning of each slot (ddl-train, or a program that asks "
        "crosstalk_checkpoint_wanted()); an operation is a checkpoint",
    .options = {{"mode", "sync", "sync: training waits until it is written; async: only until it is copied"}},
    .cpus = StressorCard::Cpus::none,
    .needs = [](const base::Settings& settings) -> Needs {
        checkpoint_request(settings);
        return {};
    },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return asking_for(checkpoint_request(settings), place);
    },
};

extern const StressorCard job_loaders{
    .name = "job.loaders",
    .summary =
        "the training loads its samples with another number of threads (ddl-train); an operation is a slot in which it "
        "did",
    .options = {{"workers", "2", "loader threads per rank; 0: the training's own thread reads"}},
    .cpus = StressorCard::Cpus::none,
    .needs = [](const base::Settings& settings) -> Needs {
        loader_threads(settings);
        return {};
    },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return asking_for(base::ControlRequest::loaders, place, loader_threads(settings));
    },
};

}  // namespace noisegen
