// SPDX-License-Identifier: Apache-2.0
// Where a rank runs: its share of the CPUs, for every thread of it, those included that libraries start before main().
#pragma once

#include "base/cli/options.hpp"
#include "base/system/cpus.hpp"

#include <optional>
#include <string>

namespace ddl {

struct PlacementPlan {
    int threads = 1;  // of each rank's computing
    std::optional<base::CpuSet> cpus;
    std::optional<base::CpuSet> transport_cpus;  // none: as the other threads
};

class PlacementOptions {
 public:
    // Adds them; both must outlive it.
    PlacementOptions(base::Options& options, PlacementPlan& plan);

    // Completes the plan once the options were parsed. Throws UsageError.
    void read() const;

 private:
    PlacementPlan& plan_;
    std::string cpus_;
    std::string transport_cpus_;
};

// Binds this process to its share of the CPUs and limits the threads of OpenMP and OpenBLAS. Their libraries start
// threads before main() and read the environment only then, so the program executes itself once more and returns from
// here the second time only. No list of CPUs: the binding stays as it was. Throws UsageError for CPUs that this process
// may not use, and for such transport CPUs, which it only looks at.
void place(const PlacementPlan& plan, char** argv);

}  // namespace ddl
