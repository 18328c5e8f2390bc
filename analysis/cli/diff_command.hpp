// SPDX-License-Identifier: Apache-2.0
// The command `interference diff`: compares two reports of one design, such as before and after a change.
#pragma once

#include "base/cli/commands.hpp"

#include <string>
#include <vector>

namespace analysis {

class DiffCommand : public base::Command {
 public:
    DiffCommand();
    int run() override;

 private:
    std::vector<std::string> sides_;
    std::string out_;
    std::string format_ = "text";
    std::string fail_on_;
};

}  // namespace analysis
