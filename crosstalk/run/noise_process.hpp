// SPDX-License-Identifier: Apache-2.0
// The noise of a run: one noisegen, or a launcher that starts several.
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
    // Request and launcher must outlive this object.
    NoiseProcess(const Request& request, const Launcher& launcher) : request_{request}, launcher_{launcher} {}

    void start(const std::vector<std::string>& words, const base::CpuSet& cpus);
    bool runs();

    // Ends the noise by SIGTERM, so that it can finish its trace. Throws Ended if it failed. A launcher's exit code
    // only counts if the noise ended without being asked, since a stopped launcher returns another code.
    void end(bool ended_by_itself);

    std::filesystem::path log() const;

 private:
    const Request& request_;
    const Launcher& launcher_;
    std::unique_ptr<base::Child> process_;
    int code_ = 0;
};

}  // namespace crosstalk
