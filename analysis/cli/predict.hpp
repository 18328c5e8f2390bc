// SPDX-License-Identifier: Apache-2.0
// The command `interference predict`: predicts what was not measured from runs that were.
#pragma once

#include "analysis/cli/settings.hpp"
#include "base/cli/commands.hpp"

#include <string>

namespace analysis {

class Predict : public base::Command {
 public:
    Predict();
    int run() override;

 private:
    int neighbour() const;
    int ranks() const;

    Settings settings_;
    std::string directory_;
    std::string neighbour_;
    std::string ranks_;
    int ranks_per_node_ = 0;
    std::string out_;
    std::string page_;
};

}  // namespace analysis
