// SPDX-License-Identifier: Apache-2.0
// The command `interference compare`: compares sets of quiet and noisy runs.
#pragma once

#include "analysis/cli/settings.hpp"
#include "base/cli/commands.hpp"

#include <string>
#include <vector>

namespace analysis {

class Compare : public base::Command {
 public:
    Compare();
    int run() override;

 private:
    int report() const;

    Settings settings_;
    std::vector<std::string> quiet_;
    std::vector<std::string> noisy_;
    std::string out_;
    bool unfinished_ = false;
};

}  // namespace analysis
