// SPDX-License-Identifier: Apache-2.0
// Runs a campaign through Slurm jobs.
#pragma once

#include "crosstalk/campaign/directory.hpp"
#include "crosstalk/campaign/drivers/driver.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace crosstalk {

// Common name of all jobs of a campaign: the directory's name, and a number derived from its path.
std::string job_name(const CampaignDirectory& campaign);

// Options in the "#SBATCH .." lines of a site's file: --account=x, --partition=y.
std::vector<std::string> site_words(const std::filesystem::path& file);

struct SlurmOptions {
    DriverOptions driver;
    int jobs = 4;                // maximum number of blocks in the queue
    std::filesystem::path site;  // file with lines for sbatch and for the job's shell; empty: none
};

// Submits a job array with one task for each block that has runs to do and is not in the queue, and waits. Returns and
// throws as drive() does; Unavailable without Slurm.
int drive_by_jobs(const CampaignDirectory& campaign, const SlurmOptions& options);

}  // namespace crosstalk
