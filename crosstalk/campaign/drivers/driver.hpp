// SPDX-License-Identifier: Apache-2.0
// Makes the runs of a campaign one after the other, and repeats those that do not count.
#pragma once

#include "crosstalk/campaign/directory.hpp"
#include "crosstalk/launchers/launcher.hpp"

#include <optional>

namespace crosstalk {

struct DriverOptions {
    int retries = 2;            // repetitions of a run that does not count
    std::optional<int> block;   // if set, only this block
    std::string job = "local";  // name in status files: "local" or the number of the Slurm job
};

// Returns exit_fine if all runs count, exit_promise_not_kept if some do not count or are left to do. Throws Error for a
// full disk, UsageError if another process runs the campaign, Interrupted.
int drive(const CampaignDirectory& campaign, const Launcher& launcher, const DriverOptions& options);

// Prints "30 of 30 runs count", or the runs that do not count with their reasons.
int print_outcome(const CampaignDirectory& campaign, const DriverOptions& options);

}  // namespace crosstalk
