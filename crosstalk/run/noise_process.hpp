// SPDX-License-Identifier: Apache-2.0
// The noise beside a job: a noisegen, or a launcher of several.
#pragma once

#include "crosstalk/launchers/launcher.hpp"
#include "crosstalk/run/request/request.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace crosstalk {

class NoiseProcess {
 public:
    // Both must outlive it.
    NoiseProcess(const Request& request, const Launcher& launcher) : request_{request}, launcher_{launcher} {}

    void start(const std::vector<std::string>& words, const base::CpuSet& cpus);
    bool runs();

    // SIGTERM lets it finish its trace. Throws Ended if it failed. The code of a launcher counts only if the noise
    // ended without being asked: one that was stopped has another.
    void end(bool ended_by_itself);

    std::filesystem::path log() const;

 private:
    const Request& request_;
    const Launcher& launcher_;
    std::unique_ptr<base::Child> process_;
    int code_ = 0;
};

}  // namespace crosstalk
