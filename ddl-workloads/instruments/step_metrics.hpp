// SPDX-License-Identifier: Apache-2.0
// Writes steps and their times as OpenMetrics, for monitoring a running training.
#pragma once

#include "base/openmetrics.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace ddl {

class StepMetrics {
 public:
    StepMetrics(const std::filesystem::path& file, std::string model) : file_{file}, model_{std::move(model)} {}

    bool due() const;

    // Totals since the training began. The file shows step times as means since the previous call.
    struct SoFar {
        std::int64_t steps = 0;
        std::int64_t ns = 0;
        std::optional<double> loss;
        bool running = true;
    };
    void write(const SoFar& so_far);

 private:
    base::OpenMetricsFile file_;
    std::string model_;
    SoFar last_;
};

}  // namespace ddl
