// SPDX-License-Identifier: Apache-2.0
// Where a rank runs: binds all its threads to its share of the CPUs, including threads that libraries start before
// main().
#pragma once

#include "base/cli/options.hpp"
#include "base/system/cpus.hpp"

#include <optional>
#include <string>

namespace ddl {

struct PlacementPlan {
    int threads = 1;  // compute threads per rank
    std::optional<base::CpuSet> cpus;
    std::optional<base::CpuSet> transport_cpus;  // none: the CPUs of the other threads
};

// Adds the options; options.check() completes the plan. Throws UsageError.
void add_placement_options(base::Options& options, PlacementPlan& plan);

// Binds this process to its share of the CPUs and limits the threads of OpenMP and OpenBLAS. These libraries start
// threads before main() and read the environment only then, so the program executes itself once more, and this function
// returns only the second time. Without a list of CPUs the binding is unchanged. Throws UsageError for CPUs that this
// process may not use. The transport CPUs are checked here but bound elsewhere.
void place(const PlacementPlan& plan, char** argv);

}  // namespace ddl
