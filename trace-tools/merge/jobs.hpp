// SPDX-License-Identifier: Apache-2.0
// Makes an archive of the jobs in a table, such as the trials of a sweep, so that they can be merged with a training.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace merge {

// Reads trial, state, begin_ns, end_ns, host and cpus of a table such as sweep.csv, on this machine's clock, and writes
// an archive into the directory, which must not exist: a location for each set of CPUs, a region for each job. Returns
// notes on jobs that were left out: those of other hosts, and those without an end. Throws Error if no job is left.
std::vector<std::string> write_job_archive(const std::filesystem::path& table, const std::filesystem::path& directory);

}  // namespace merge
