// The noise beside a job: a noisegen, or a launcher of several.
#pragma once

#include "base/programs/child.hpp"
#include "base/system/cpus.hpp"
#include "jobscripts/run/request/request.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace crosstalk {

class NoiseProcess {
 public:
    // The request must outlive it.
    explicit NoiseProcess(const Request& request) : request_{request} {}

    void start(const std::vector<std::string>& words, const base::CpuSet& cpus);
    bool runs();

    // SIGTERM lets it finish its trace. Throws Ended if it failed. The code of a launcher counts only if the noise
    // ended by itself: one that was stopped has another.
    void end(bool ended_by_itself);

    std::filesystem::path log() const;

 private:
    const Request& request_;
    std::unique_ptr<base::Child> process_;
    int code_ = 0;
};

}  // namespace crosstalk
