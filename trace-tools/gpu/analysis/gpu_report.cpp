// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/gpu/analysis/gpu_report.hpp"

#include "base/error.hpp"
#include "base/words.hpp"
#include "trace-tools/gpu/analysis/missing_activities.hpp"
#include "trace-tools/gpu/analysis/windows.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace gpu {

namespace {

double percent(std::int64_t part, std::int64_t whole)
{
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

template <class... Values>
std::string formatted(const char* format, Values... values)
{
    char line[200];
    std::snprintf(line, sizeof line, format, values...);
    return line;
}

void keep(std::vector<otf2::StepsOfRank>& ranks, const otf2::Part& part)
{
    for (otf2::StepsOfRank& rank : ranks)
        otf2::keep_steps(rank, [&](const otf2::Step& step) {
            return part.within(rank.location, step.begin_ns, step.end_ns) >= step.end_ns - step.begin_ns;
        });
}

}  // namespace

Report::Report(otf2::Reader& reader, const otf2::StepChoice& choice, const otf2::Part& part,
               const std::filesystem::path& out)
    : accelerators_{reader.archive()}
{
    const otf2::Archive& archive = reader.archive();
    if (!accelerators_.any()) return;
    if (const std::string missing = missing_activities(archive); !missing.empty()) {
        base::warn("GPUs are left out: ", missing);
        return;
    }
    for (const Device& device : accelerators_.devices)
        if (device.user == otf2::nowhere) base::warn(device.name, " is left out: no process is known to use it");
    std::vector<otf2::StepsOfRank> ranks = steps_on_common_clock(reader, choice);
    whole_run_ = ranks.empty();
    keep(ranks, part);
    if (!out.empty()) table_.emplace(out / steps_file);
    steps_.emplace(archive, accelerators_, std::move(ranks), [this](const GpuStep& step) { add(step); });
}

void Report::add(const GpuStep& step)
{
    if (table_) table_->row(step, accelerators_.devices[step.device]);
    ++count_;
    for (auto member :
         {&GpuStep::wall, &GpuStep::busy, &GpuStep::exchange, &GpuStep::copy, &GpuStep::exchange_overlapped,
          &GpuStep::copy_overlapped, &GpuStep::kernels, &GpuStep::launched, &GpuStep::launch_delay_p50,
          &GpuStep::launch_delay_p95, &GpuStep::host_delay, &GpuStep::host_delay_covered})
        sums_.*member += step.*member;
    for (std::size_t cause = 0; cause < step.idle.size(); ++cause) sums_.idle[cause] += step.idle[cause];
}

void Report::finish()
{
    if (steps_) steps_->finish();
    if (table_) table_->finish();
}

void Report::print(std::ostream& out) const
{
    if (count_ == 0) return;
    const std::size_t devices = accelerators_.devices.size();
    const GpuStep& all = sums_;
    out << devices << (devices == 1 ? " GPU" : " GPUs") << " in "
        << (whole_run_ ? std::string{"the whole run (no steps)"}
                       : base::join(count_, count_ == 1 ? " step" : " steps", devices == 1 ? "" : " of them together"))
        << formatted(", %.6f s in all: computing %.2f %%, idle %.2f %%\n", static_cast<double>(all.wall) / 1e9,
                     percent(all.busy, all.wall), percent(all.wall - all.busy, all.wall));
    out << formatted("exchange kernels %.2f %%, of that %.2f %% during computing; copies %.2f %%, of that %.2f %%\n",
                     percent(all.exchange, all.wall), percent(all.exchange_overlapped, all.exchange),
                     percent(all.copy, all.wall), percent(all.copy_overlapped, all.copy));
    out << formatted("%-24s %14s %7s\n", "GPU idle, cause", "seconds", "%");
    for (std::size_t cause = 0; cause < all.idle.size(); ++cause)
        if (all.idle[cause] > 0)
            out << formatted("%-24s %14.9f %7.2f\n", idle_causes[cause], static_cast<double>(all.idle[cause]) / 1e9,
                             percent(all.idle[cause], all.wall));
    if (all.launched > 0)
        out << formatted(
            "launch delay, mean over steps: median %.3f us, 95th percentile %.3f us; %.0f of %.0f kernels\n",
            static_cast<double>(all.launch_delay_p50) / 1e3 / static_cast<double>(count_),
            static_cast<double>(all.launch_delay_p95) / 1e3 / static_cast<double>(count_),
            static_cast<double>(all.launched), static_cast<double>(all.kernels));
    if (const std::uint64_t early = steps_->early_kernels(); early > 0)
        out << base::join(early, early == 1 ? " kernel begins before its launch" : " kernels begin before their launch",
                          ": the GPU's clock is wrong\n");
    if (all.host_delay > 0)
        out << formatted("host delay %.6f s, %.1f %% of it while the GPU computed: the most that can be absorbed\n",
                         static_cast<double>(all.host_delay) / 1e9, percent(all.host_delay_covered, all.host_delay));
}

}  // namespace gpu
