// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/gpu/analysis/gpu_steps.hpp"

#include "base/contract/phases.hpp"
#include "trace-tools/gpu/analysis/device_steps.hpp"
#include "trace-tools/otf2/mpi_calls.hpp"
#include "trace-tools/otf2/ranks.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace gpu {

namespace {

enum class HostRegion : std::uint8_t { none, input, exchange, delay };

HostRegion host_region(const otf2::Region& region)
{
    const base::PhaseCard* const phase = base::find_phase(region.name);
    if (phase != nullptr && phase->part == base::PhasePart::input) return HostRegion::input;
    if ((phase != nullptr && phase->part == base::PhasePart::exchange) || otf2::is_mpi_call(region))
        return HostRegion::exchange;
    return phase != nullptr && phase->phase == base::TrainingPhase::control_delay ? HostRegion::delay
                                                                                  : HostRegion::none;
}

// A process that uses GPUs.
struct Host {
    base::LongColumn<Window> windows;
    HostSpans spans;
    std::uint32_t steps_on = otf2::nowhere;  // the location that records its steps
    std::vector<std::size_t> devices;        // indices into Engine::devices
    std::int64_t rank = -1;
};

struct Open {
    std::uint32_t region = 0;
    StreamWork work = StreamWork::none;
    HostRegion state = HostRegion::none;
    bool synchronises = false;
    Launches<Launch>::Pointer launch{};
};

}  // namespace

struct GpuSteps::Engine {
    Engine(const otf2::Archive& of, const Accelerators& with, std::vector<otf2::StepsOfRank> steps, Sink to)
        : archive{of},
          accelerators{with},
          sink{std::move(to)},
          launches{of, with},
          hosts(of.processes.size()),
          open(of.locations.size()),
          copies(of.locations.size())
    {
        for (const otf2::Region& region : archive.regions) states.push_back(host_region(region));
        const std::vector<std::int64_t> ranks = otf2::ranks_of_locations(archive);
        for (std::uint32_t i = 0; i < archive.locations.size(); ++i) {
            const std::uint32_t process = archive.locations[i].process;
            if (process == otf2::nowhere || accelerators.is_stream(i)) continue;
            if (hosts[process].steps_on == otf2::nowhere) hosts[process].steps_on = i;
            if (hosts[process].rank < 0) hosts[process].rank = ranks[i] < 0 ? process : ranks[i];
        }
        for (const otf2::StepsOfRank& rank : steps) {
            const std::uint32_t process = archive.locations[rank.location].process;
            if (process == otf2::nowhere) continue;
            Host& host = hosts[process];
            host.steps_on = rank.location;
            host.rank = rank.rank;
            for (const otf2::Step step : rank.steps) host.windows.push_back({step.number, step.begin_ns, step.end_ns});
        }
        has_steps = !steps.empty();
        for (std::uint32_t i = 0; i < accelerators.devices.size(); ++i) {
            const std::uint32_t user = accelerators.devices[i].user;
            device_at.push_back(nullptr);
            if (user >= hosts.size()) continue;
            const GpuStep blank{.rank = hosts[user].rank, .step = -1, .device = i};
            hosts[user].devices.push_back(devices.size());
            device_at.back() = &devices.emplace_back(blank, hosts[user].windows, hosts[user].spans, sink);
        }
    }

    const otf2::Archive& archive;
    const Accelerators& accelerators;
    Sink sink;
    Launches<Launch> launches;
    std::vector<Host> hosts;         // by process
    std::vector<HostRegion> states;  // by region
    std::deque<DeviceSteps> devices;
    std::vector<DeviceSteps*> device_at;  // by Accelerators::devices; null: used by no process
    std::vector<std::vector<Open>> open;  // by location
    std::vector<std::size_t> copies;      // by location: open transfers
    bool has_steps = false;
    std::int64_t last_ns = INT64_MIN;

    // In an archive without steps, the whole run from the first event on is one step.
    void see(const otf2::At& at)
    {
        if (last_ns == INT64_MIN && !has_steps)
            for (Host& host : hosts) host.windows.push_back({-1, at.time_ns, INT64_MAX});
        last_ns = at.time_ns;
    }

    DeviceSteps* device_of(std::uint32_t stream) const { return device_at[accelerators.device_of[stream]]; }
    Host* host_of(std::uint32_t location)
    {
        const std::uint32_t user = accelerators.user_of[location];
        return user < hosts.size() && !hosts[user].devices.empty() ? &hosts[user] : nullptr;
    }

    void begin_work(const otf2::At& at, StreamWork work, const Launch* launch)
    {
        DeviceSteps* const device = device_of(at.location);
        if (device == nullptr || work == StreamWork::none) return;
        device->begin(work, at.time_ns, launch);
        Host& host = *host_of(at.location);
        std::int64_t needed_ns = at.time_ns;
        for (const std::size_t i : host.devices) needed_ns = std::min(needed_ns, devices[i].needed_from_ns());
        host.spans.forget_until(needed_ns);
    }

    void end_work(const otf2::At& at, StreamWork work)
    {
        DeviceSteps* const device = device_of(at.location);
        if (device != nullptr && work != StreamWork::none) device->end(work, at.time_ns);
    }

    void delay(const Host& host, bool goes_on, std::int64_t now_ns)
    {
        for (const std::size_t i : host.devices) devices[i].delay(goes_on, now_ns);
    }

    void enter_host(const otf2::At& at, Open& visit, const otf2::EventAttributes& attributes)
    {
        Host* const host = host_of(at.location);
        if (host == nullptr) return;
        const Call call = accelerators.call_of[visit.region];
        if (call != Call::none) visit.launch = launches.begin_call(at, visit.region, attributes);
        visit.synchronises = call == Call::synchronise || call == Call::blocking_copy;
        if (visit.synchronises) host->spans.begin(HostState::synchronises, at.location, at.time_ns);
        if (at.location != host->steps_on) return;
        visit.state = states[visit.region];
        if (visit.state == HostRegion::input) host->spans.begin(HostState::input, at.location, at.time_ns);
        if (visit.state == HostRegion::exchange) host->spans.begin(HostState::exchange, at.location, at.time_ns);
        if (visit.state == HostRegion::delay) delay(*host, true, at.time_ns);
    }

    void leave_host(const otf2::At& at, const Open& visit)
    {
        Host* const host = host_of(at.location);
        if (host == nullptr) return;
        if (visit.launch) visit.launch->end_ns = at.time_ns;
        if (visit.synchronises) host->spans.end(HostState::synchronises, at.location, at.time_ns);
        if (visit.state == HostRegion::input) host->spans.end(HostState::input, at.location, at.time_ns);
        if (visit.state == HostRegion::exchange) host->spans.end(HostState::exchange, at.location, at.time_ns);
        if (visit.state == HostRegion::delay) delay(*host, false, at.time_ns);
    }
};

GpuSteps::GpuSteps(const otf2::Archive& archive, const Accelerators& accelerators, std::vector<otf2::StepsOfRank> steps,
                   Sink sink)
    : engine_{std::make_unique<Engine>(archive, accelerators, std::move(steps), std::move(sink))}
{
}

GpuSteps::~GpuSteps() = default;

void GpuSteps::enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes)
{
    Engine& engine = *engine_;
    engine.see(at);
    std::vector<Open>& open = engine.open[at.location];
    Open& visit = open.emplace_back(Open{.region = region});
    if (!engine.accelerators.is_stream(at.location)) return engine.enter_host(at, visit, attributes);
    visit.work = engine.accelerators.work_of[region];
    engine.begin_work(at, visit.work, engine.launches.of(at, visit.work, attributes).get());
}

void GpuSteps::leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&)
{
    Engine& engine = *engine_;
    engine.see(at);
    std::vector<Open>& open = engine.open[at.location];
    const auto same = [&](const Open& visit) { return visit.region == region; };
    if (std::ranges::none_of(open, same)) return;
    for (bool left = false; !left;) {  // regions never left end with the enclosing region
        const Open visit = std::move(open.back());
        open.pop_back();
        left = same(visit);
        if (engine.accelerators.is_stream(at.location))
            engine.end_work(at, visit.work);
        else
            engine.leave_host(at, visit);
    }
}

void GpuSteps::transfer_begin(const otf2::At& at)
{
    engine_->see(at);
    if (!engine_->accelerators.is_stream(at.location)) return;
    ++engine_->copies[at.location];
    engine_->begin_work(at, StreamWork::copy, nullptr);
}

void GpuSteps::transfer_end(const otf2::At& at)
{
    engine_->see(at);
    if (!engine_->accelerators.is_stream(at.location) || engine_->copies[at.location] == 0) return;
    --engine_->copies[at.location];
    engine_->end_work(at, StreamWork::copy);
}

void GpuSteps::other(const otf2::At& at)
{
    engine_->see(at);
}

std::uint64_t GpuSteps::early_kernels() const
{
    return engine_->launches.early();
}

void GpuSteps::finish()
{
    Engine& engine = *engine_;
    if (!engine.has_steps)
        for (Host& host : engine.hosts)
            if (!host.windows.empty()) host.windows[host.windows.size() - 1].end_ns = engine.last_ns;
    for (DeviceSteps& device : engine.devices) device.finish();
}

}  // namespace gpu
