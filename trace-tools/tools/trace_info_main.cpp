// SPDX-License-Identifier: Apache-2.0
// trace-info: shows what an OTF2 archive contains and checks whether it is sound.
#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "base/system/cpus.hpp"
#include "trace-tools/gpu/analysis/gpu_steps.hpp"
#include "trace-tools/gpu/analysis/missing_activities.hpp"
#include "trace-tools/otf2/read/confined.hpp"
#include "trace-tools/profile/summary.hpp"

#include <algorithm>
#include <deque>
#include <iostream>

namespace {

otf2::Profile profile(otf2::Reader& reader, int threads)
{
    const std::size_t readers =
        std::clamp<std::size_t>(reader.archive().locations.size(), 1, static_cast<std::size_t>(threads));
    std::deque<otf2::Profile> parts;
    std::vector<otf2::Visitor*> visitors;
    for (std::size_t i = 0; i < readers; ++i) visitors.push_back(&parts.emplace_back(reader.archive()));
    reader.read_by_location(visitors);
    for (otf2::Profile& part : parts) part.finish();
    for (; parts.size() > 1; parts.pop_back()) parts.front().add(parts.back());
    return std::move(parts.front());
}

// GPU times need all events in time order, so the archive is read again.
std::vector<otf2::DeviceProfile> devices(otf2::Reader& reader)
{
    const gpu::Accelerators accelerators{reader.archive()};
    std::vector<otf2::DeviceProfile> found;
    if (!accelerators.any()) return found;
    gpu::GpuSteps run{reader.archive(), accelerators, {}, [&](const gpu::GpuStep& all) {
                          const gpu::Device& device = accelerators.devices[all.device];
                          found.push_back({.name = device.name,
                                           .user = device.user,
                                           .streams = device.streams,
                                           .kernels = all.kernels,
                                           .launched = all.launched,
                                           .wall_ns = all.wall,
                                           .busy_ns = all.busy,
                                           .exchange_ns = all.exchange,
                                           .copy_ns = all.copy});
                      }};
    reader.read(run);
    run.finish();
    return found;
}

}  // namespace

int main(int argc, char** argv)
try {
    constexpr int most_threads = 64;
    std::string anchor;
    bool check = false;
    bool json = false;
    int threads = std::min<int>(static_cast<int>(base::allowed_cpus().size()), 8);
    base::Options options{"trace-info", "shows what an OTF2 archive contains and checks that it is sound"};
    options.add_positional("X.otf2", anchor, "the archive's anchor file, such as traces.otf2");
    options.add_switch("check", check, "print only problems and oddities; exit code 1 if the archive is not sound");
    options.add_switch("json", json, "print everything as JSON");
    options.add("threads", threads, "threads that read events", "N");
    options.section(
        {.title = "What is reported",
         .text =
             "For each region: inclusive and exclusive time (without nested regions). For each metric: minimum, mean "
             "and maximum, or for one that accumulates, such as bytes read so far, its growth (last - first value, "
             "summed over locations) and growth per second. Problems make an archive unsound (events that are missing, "
             "in wrong order, outside of the clock properties, or refer to nothing); other programs refuse it. "
             "Oddities are harmless."});
    options.example("trace-info train/trace/traces.otf2");
    options.example("trace-info --check --json X.otf2 | jq .problems");
    if (!options.parse(argc, argv)) return base::exit_fine;
    if (threads < 1 || threads > most_threads)
        base::fail_usage("--threads must be 1 to ", most_threads, ", not ", threads);

    return otf2::confined("trace-info", otf2::limits_for(anchor), [&] {
        otf2::Reader reader{anchor};
        const otf2::Profile found = profile(reader, threads);
        otf2::Summary summary = otf2::summary(reader, found);
        if (summary.sound()) summary.devices = devices(reader);
        if (const std::string missing = gpu::missing_activities(reader.archive()); !missing.empty())
            summary.oddities.push_back(missing);
        otf2::getting_on();
        if (json)
            otf2::write_json(std::cout, summary);
        else if (check)
            otf2::write_check(std::cout, summary);
        else
            otf2::write_text(std::cout, summary);
        base::flush_stdout();
        return check && !summary.sound() ? base::exit_failed : base::exit_fine;
    });
} catch (...) {
    return base::report_failure("trace-info");
}
