// SPDX-License-Identifier: Apache-2.0
// Commands of crosstalk beside run and doctor.
#pragma once

#include "base/cli/commands.hpp"
#include "crosstalk/run/request/request.hpp"

#include <string>

namespace crosstalk {

class TryCommand : public base::Command {
 public:
    TryCommand();
    int run() override;

 private:
    Request request_;
    std::string out_;
    std::string duration_ = "20s";
    std::string first_step_ = "10min";
    std::string job_cpus_;
    std::string noise_cpus_;
};

// crosstalk campaign plan, run, status, stop, collect.
base::Commands campaign_commands();

}  // namespace crosstalk
