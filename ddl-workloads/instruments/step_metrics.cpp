// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/instruments/step_metrics.hpp"

#include "base/system/clock.hpp"

namespace ddl {

bool StepMetrics::due() const
{
    return file_.due(base::now_ns());
}

void StepMetrics::write(const SoFar& so_far)
{
    const auto family = [this](const char* name, const char* unit, const char* help, double value) {
        return base::MetricFamily{
            .name = name, .unit = unit, .help = help, .counter = false, .values = {{{{"model", model_}}, value}}};
    };
    std::vector<base::MetricFamily> families{
        family("crosstalk_training_running", "", "1 while it trains, 0 after it.", so_far.running ? 1.0 : 0.0),
        family("crosstalk_training_steps", "", "Steps done.", static_cast<double>(so_far.steps)),
        family("crosstalk_training_time_seconds", "seconds", "Time in all steps done.",
               static_cast<double>(so_far.ns) / 1e9)};
    families[1].counter = true;
    families[2].counter = true;
    if (so_far.steps > last_.steps)
        families.push_back(
            family("crosstalk_training_step_seconds", "seconds", "Mean time of the latest steps.",
                   static_cast<double>(so_far.ns - last_.ns) / 1e9 / static_cast<double>(so_far.steps - last_.steps)));
    if (so_far.loss)
        families.push_back(family("crosstalk_training_loss", "", "Loss of rank 0's last batch.", *so_far.loss));
    file_.write(families, base::now_ns());
    last_ = so_far;
}

}  // namespace ddl
