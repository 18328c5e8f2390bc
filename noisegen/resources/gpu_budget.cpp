// SPDX-License-Identifier: Apache-2.0
#include "noisegen/resources/gpu_budget.hpp"

#include "base/error.hpp"
#include "noisegen/stressors/gpu/gpu_options.hpp"
#include "noisegen/stressors/gpu/gpu_work.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace noisegen {

namespace {

// Memory taken of one GPU by all stressors together.
struct TakenOfGpu {
    std::string stressor;  // last stressor that takes memory
    double bytes = 0.0;
    base::Percent spare = {};  // share that must stay free
};

// The GPU's number; errors name the stressor.
int number_of(const Demand& demand, const std::filesystem::path& control_run)
try {
    return gpu_number(demand.needs.gpu->device, control_run);
} catch (const base::Unavailable& error) {
    base::unavailable(demand.stressor, ": ", error.what());
} catch (const base::UsageError& error) {
    base::fail_usage(demand.stressor, "[device]: ", error.what());
}

long long megabytes(double bytes)
{
    return std::llround(bytes * 1e-6);
}

void check_gpu(int number, const TakenOfGpu& taken)
{
    const GpuContext::Memory memory = GpuContext{number}.memory();
    const auto free = static_cast<double>(memory.free);
    const double must_stay = taken.spare.fraction() * static_cast<double>(memory.total);
    if (free - taken.bytes >= must_stay) return;
    base::fail_usage(taken.stressor, " needs ", megabytes(taken.bytes), " MB of GPU ", number, ", but ",
                     megabytes(free), " of its ", megabytes(static_cast<double>(memory.total)), " MB are free, and ",
                     megabytes(must_stay), " must stay free (spare=", base::format(taken.spare), ")");
}

}  // namespace

void check_gpus(const std::vector<Demand>& demands, const std::filesystem::path& control_run, int processes)
{
    std::map<int, TakenOfGpu> gpus;
    for (const Demand& demand : demands) {
        if (!demand.needs.gpu) continue;
        TakenOfGpu& taken = gpus[number_of(demand, control_run)];
        taken.stressor = demand.stressor;
        taken.bytes += static_cast<double>(demand.needs.gpu->memory.count) * static_cast<double>(demand.instances) *
                       static_cast<double>(processes);
        taken.spare = std::max(taken.spare, demand.needs.gpu->spare);
    }
    for (const auto& [number, taken] : gpus) check_gpu(number, taken);
}

}  // namespace noisegen
