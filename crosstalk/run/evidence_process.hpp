// SPDX-License-Identifier: Apache-2.0
// Runs trace-os on each node of a job, to record what the operating system does to the job's threads. The run continues
// if that is not possible.
#pragma once

#include "crosstalk/launchers/launcher.hpp"
#include "crosstalk/run/request/request.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace crosstalk {

class EvidenceProcess {
 public:
    // Both arguments must outlive this object.
    EvidenceProcess(const Request& request, const Launcher& launcher) : request_{request}, launcher_{launcher} {}

    // The command line of trace-os; empty with --evidence off. `pid`: process id of the job, or a placeholder to print.
    Words words(const Placement& placement, const std::string& pid) const;

    // Returns when all trace-os processes record, or when one has failed.
    void start(const Placement& placement, pid_t job);

    // Ends trace-os by SIGTERM, after which it completes its archive. Prints one line if the evidence is incomplete.
    void end();

 private:
    bool runs();
    bool is_recording() const;
    std::filesystem::path log() const;

    const Request& request_;
    const Launcher& launcher_;
    std::unique_ptr<base::Child> process_;
};

}  // namespace crosstalk
