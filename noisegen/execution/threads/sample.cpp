// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/threads/sample.hpp"

namespace noisegen {

void add(Work& sum, const Work& work)
{
    sum.bytes += work.bytes;
    sum.operations += work.operations;
    sum.preparing_ns += work.preparing_ns;
}

void add(LevelTotal& total, const Sample& sample)
{
    const auto before = static_cast<double>(total.on_ns);
    total.on_ns += sample.end_ns - sample.begin_ns;
    if (total.on_ns > 0)
        total.requested_per_s = (total.requested_per_s * before +
                                 sample.requested_per_s * static_cast<double>(sample.end_ns - sample.begin_ns)) /
                                static_cast<double>(total.on_ns);
    add(total.work, sample.work);
    total.busy_ns += sample.busy_ns;
    total.waited_ns += sample.waited_ns;
    total.requested_duty = sample.requested_duty;
}

double reached(const Intensity& intensity, const LevelTotal& total)
{
    if (!intensity.asks() || total.cpus == 0) return 1.0;
    if (!intensity.rate) return total.requested_duty > 0.0 ? total.duty() / total.requested_duty : 1.0;
    if (total.requested_per_s == 0.0) return 1.0;
    const bool bytes = intensity.rate->of == base::Rate::Of::bytes;
    return (bytes ? total.bytes_per_s() : total.operations_per_s()) / total.requested_per_s;
}

double reached(const Intensity& intensity, const SlotDone& slot)
{
    LevelTotal total;
    total.cpus = 1;
    add(total, slot.sample);
    return reached(intensity, total);
}

}  // namespace noisegen
