// SPDX-License-Identifier: Apache-2.0
// Detects processes that moved to a noise CPU, or to its core, after the start.
#pragma once

#include "noisegen/execution/plan.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <set>

namespace noisegen {

class OverlapWatch {
 public:
    // The plan must outlive it.
    explicit OverlapWatch(const Plan& plan);

    // Checks every five seconds, and reports each process once on stderr.
    void look();

    // Members of each entry: at_ns, pid, name, cpus.
    const nlohmann::ordered_json& found() const { return found_; }

 private:
    bool report(const AvoidedProcess& process, const base::CpuSet& cpus, const char* called);

    const Plan& plan_;
    base::CpuSet siblings_;
    std::int64_t next_ns_;
    std::set<pid_t> reported_;
    nlohmann::ordered_json found_ = nlohmann::ordered_json::array();
};

}  // namespace noisegen
