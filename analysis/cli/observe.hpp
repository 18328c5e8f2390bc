// SPDX-License-Identifier: Apache-2.0
// The command `interference observe`: reports what noise without a design cost a training.
#pragma once

#include "analysis/cli/settings.hpp"
#include "base/cli/commands.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

class Observe : public base::Command {
 public:
    Observe();
    int run() override;

 private:
    Settings settings_;
    std::string train_;
    std::vector<std::string> noise_;
    std::string out_;
};

// Reports on a training (an archive or a table of steps) and the logs or archives of noise that ran with it. Returns
// the exit code: exit_promise_not_kept if there is nothing to compare.
int observed_report(const std::filesystem::path& train, const std::vector<std::filesystem::path>& noise,
                    const std::filesystem::path& out, const Settings& settings);

}  // namespace analysis
