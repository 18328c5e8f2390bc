// SPDX-License-Identifier: Apache-2.0
// The command `interference summary`: shows reports of many runs side by side.
#pragma once

#include "base/cli/commands.hpp"

#include <string>
#include <vector>

namespace analysis {

class SummaryCommand : public base::Command {
 public:
    SummaryCommand();
    int run() override;

 private:
    std::vector<std::string> directories_;
    std::string out_;
    std::string format_ = "text";
    std::string openmetrics_;
    std::string fail_on_;
};

}  // namespace analysis
