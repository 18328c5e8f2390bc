// SPDX-License-Identifier: Apache-2.0
// The evidence beside a job: a trace-os on each node that records what the operating system does to the job's threads.
// A run without it continues.
#pragma once

#include "crosstalk/launchers/launcher.hpp"
#include "crosstalk/run/request/request.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace crosstalk {

class EvidenceProcess {
 public:
    // Both must outlive it.
    EvidenceProcess(const Request& request, const Launcher& launcher) : request_{request}, launcher_{launcher} {}

    // The command; empty where no evidence is wanted. pid: of the job, or text for people.
    Words words(const Placement& placement, const std::string& pid) const;

    // Returns once all of them record, or one has failed.
    void start(const Placement& placement, pid_t job);

    // SIGTERM lets it finish its archive. Says in one line what the evidence lacks.
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
