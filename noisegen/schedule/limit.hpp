// SPDX-License-Identifier: Apache-2.0
// A limit in the operating system under which noise runs, as an operator could set it for a neighbour job.
#pragma once

#include "base/system/cpus.hpp"
#include "base/units.hpp"

#include <optional>
#include <string>

namespace noisegen {

struct ResourceLimit {
    enum class Kind {
        io_max,            // rate of reads and of writes on each disk
        cpu_weight,        // share of CPUs on which others run; 100 by default
        cpu_max,           // percent of one CPU
        cpu_idle,          // only CPU time that nothing else uses
        cpuset,            // CPUs
        memory_bandwidth,  // percent of the memory bandwidth (resctrl)
    };
    Kind kind = Kind::io_max;
    base::Rate rate{};    // value of io_max
    double number = 0.0;  // value of cpu_weight, cpu_max, memory_bandwidth
    base::CpuSet cpus{};  // value of cpuset
    std::string text;     // "io.max:50MiB/s"

    bool operator==(const ResourceLimit& other) const { return text == other.text; }
};

// Parses "none", "io.max:50MiB/s", "cpu.weight:1", "cpu.max:50%", "cpu.idle:1", "cpuset:2-3" or "resctrl:10%"; several
// ranges of CPUs are joined by +. `of` names the option in errors. Throws UsageError.
std::optional<ResourceLimit> parse_limit(const std::string& of, const std::string& text);

}  // namespace noisegen
