// SPDX-License-Identifier: Apache-2.0
// The command `interference outcomes`: reports the outcomes of soft-error trials.
#pragma once

#include "base/cli/commands.hpp"

#include <string>
#include <vector>

namespace analysis {

class Outcomes : public base::Command {
 public:
    Outcomes();
    int run() override;

 private:
    std::vector<std::string> directories_;
    std::vector<std::string> bands_;
    std::string out_;
    std::string interval_ = "wilson";
    std::string fit_;
    std::string run_hours_ = "24";
};

}  // namespace analysis
