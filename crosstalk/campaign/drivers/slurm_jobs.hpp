// SPDX-License-Identifier: Apache-2.0
// Drives a campaign through jobs of Slurm.
#pragma once

#include "crosstalk/campaign/directory.hpp"
#include "crosstalk/campaign/drivers/driver.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace crosstalk {

// The name of all jobs of a campaign: its directory's, and a number that belongs to the path.
std::string job_name(const CampaignDirectory& campaign);

// The lines "#SBATCH .." of a site's file as words: --account=x, --partition=y.
std::vector<std::string> site_words(const std::filesystem::path& file);

struct SlurmOptions {
    DriverOptions driver;
    int jobs = 4;                // blocks in the queue at a time
    std::filesystem::path site;  // lines for sbatch, and for the job's shell; empty: none
};

// Submits a job for each block that is left and not in the queue, as an array, and waits for them. Returns and throws
// as drive() does; Unavailable without Slurm.
int drive_by_jobs(const CampaignDirectory& campaign, const SlurmOptions& options);

}  // namespace crosstalk
