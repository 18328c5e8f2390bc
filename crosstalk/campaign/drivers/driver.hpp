// SPDX-License-Identifier: Apache-2.0
// Makes the runs of a campaign one after the other, those that do not count again.
#pragma once

#include "crosstalk/campaign/directory.hpp"
#include "crosstalk/launchers/launcher.hpp"

#include <optional>

namespace crosstalk {

struct DriverOptions {
    int retries = 2;            // of a run that does not count
    std::optional<int> block;   // only this one
    std::string job = "local";  // of what the status files say; the number of a job of Slurm
};

// Returns exit_fine if all runs count, exit_promise_not_kept if some do not, or are left. Throws Error for a full disk,
// UsageError if somebody else runs the campaign, Interrupted.
int drive(const CampaignDirectory& campaign, const Launcher& launcher, const DriverOptions& options);

// Prints the outcome: "30 of 30 runs count", or the runs that do not, with their reasons.
int print_outcome(const CampaignDirectory& campaign, const DriverOptions& options);

}  // namespace crosstalk
