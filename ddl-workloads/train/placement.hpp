// Where a rank runs: its share of the CPUs, for every thread of it, those included that libraries start before main().
#pragma once

#include "base/cpus.hpp"

#include <optional>

namespace ddl {

// Binds this process to its share of the CPUs and limits the threads of OpenMP and OpenBLAS. Their libraries start
// threads before main() and read the environment only then, so the program executes itself once more and returns from
// here the second time only. No list of CPUs: the binding stays as it was. Throws UsageError for CPUs that this process
// may not use, and for such transport CPUs, which it only looks at.
void place(const std::optional<base::CpuSet>& cpus, const std::optional<base::CpuSet>& transport_cpus, int threads,
           char** argv);

}  // namespace ddl
