// SPDX-License-Identifier: Apache-2.0
// The commands `interference metrics` and `interference explain`: print definitions from the cards of the metrics.
#pragma once

#include "base/cli/commands.hpp"

#include <string>

namespace analysis {

class ListMetrics : public base::Command {
 public:
    ListMetrics();
    int run() override;

 private:
    bool json_ = false;
};

class ExplainMetric : public base::Command {
 public:
    ExplainMetric();
    int run() override;

 private:
    std::string name_;
    bool json_ = false;
};

}  // namespace analysis
