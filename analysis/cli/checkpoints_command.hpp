// SPDX-License-Identifier: Apache-2.0
// The command `interference checkpoints`: what checkpoints cost, and how often to write them.
#pragma once

#include "base/cli/commands.hpp"

#include <string>
#include <vector>

namespace analysis {

class CheckpointsCommand : public base::Command {
 public:
    CheckpointsCommand();
    int run() override;

 private:
    std::vector<std::string> directories_;
    std::string mtbf_;
    std::string restart_;
    std::string budget_;
    std::string clock_offset_;
    std::string out_;
    std::string format_ = "text";
};

}  // namespace analysis
