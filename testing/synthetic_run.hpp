// SPDX-License-Identifier: Apache-2.0
// A run directory with known effects: writes the archives that a training and its noise would have written.
#pragma once

#include "base/contract/roles.hpp"
#include "base/contract/trace_names.hpp"
#include "base/random.hpp"
#include "base/system/clock.hpp"
#include "base/words.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace analysis::testing {

struct SyntheticNoise {
    std::string label;
    std::string stressor;
    std::string phase;     // phase that it slows: load, backward, transfer; empty: none
    double percent = 0.0;  // slowdown in percent of the quiet step
    int rank = -1;         // the rank that it slows; -1: all
    std::string level{};
    base::Role role = base::Role::treatment;
};

struct SyntheticRun {
    std::vector<SyntheticNoise> noise{
        {"mem", "memory.stream", "backward", 10.0, -1},
        {"placebo", "placebo", "", 0.0, -1, "", base::Role::placebo},
        {"control.delay", "control.delay", "control_delay", 5.0, -1, "", base::Role::delay},
        {"control.sham", "control.sham", "", 0.0, -1, "", base::Role::sham}};
    int ranks = 2;
    double step_ms = 20.0;
    double deviation = 0.01;
    double slot_s = 0.2;
    double run_s = 12.0;
    double noise_from_s = 0.5;  // start of the slot table
    double noise_until_s = 1e9;
    std::size_t missed_slots = 0;  // initial slots in which the noise had not started yet
    bool connected = true;         // the training executes the control delay and its sham
    double settle_percent = 4.0;   // cost of the control's barriers in percent of the quiet step
    // Share of each slot in which the noise really runs; above 1 it continues into the next slot.
    double achieved = 1.0;
    std::string noise_clock{};  // clock identity of the noise's host; empty: the training's
    std::string design = "rotation";
    std::string interaction_phase{};  // phase that is slowed further while several noises are on
    double interaction_percent = 0.0;
    std::uint64_t seed = 1;
    bool mpi = false;  // the exchange is an MPI_Allreduce
    // Each rank has a GPU. Of each step, a kernel runs in the last 0.7 quiet steps before the rank's gradients are
    // ready; the time before is the host's. `absorbed` is the share of the control delay that queued GPU work hides.
    bool gpu = false;
    std::uint64_t gpu_dropped = 0;  // dropped GPU activities, as stated in the archive
    double absorbed = 0.0;
};

namespace detail {

constexpr std::int64_t start_ns = 1'000'000'000'000;

struct PlannedSlot {
    int block = 0;
    int number = 0;
    std::vector<int> on;  // indices into SyntheticRun::noise; none: quiet
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
};

inline bool is_control(const SyntheticNoise& noise)
{
    return noise.role != base::Role::treatment;
}

// Treatments of one block, in fixed order: each noise alone (rotation) or all combinations (factorial), each control
// alone, and quiet slots.
inline std::vector<std::vector<int>> block_of(const SyntheticRun& run)
{
    const int count = static_cast<int>(run.noise.size());
    std::vector<std::vector<int>> slots;
    if (run.design != "factorial") {
        slots.resize(static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count)))));
        for (int n = 0; n < count; ++n) slots.push_back({n});
        return slots;
    }
    slots.push_back({});
    for (int n = 0; n < count; ++n) {
        if (is_control(run.noise[static_cast<std::size_t>(n)])) continue;
        for (std::size_t without = slots.size(); without > 0; --without) {
            slots.push_back(slots[without - 1]);
            slots.back().push_back(n);
        }
    }
    for (int n = 0; n < count; ++n)
        if (is_control(run.noise[static_cast<std::size_t>(n)])) slots.push_back({n});
    return slots;
}

inline std::vector<PlannedSlot> plan(const SyntheticRun& run)
{
    base::Random random{run.seed};
    const auto slot_ns = static_cast<std::int64_t>(run.slot_s * 1e9);
    const std::int64_t begin_ns = start_ns + static_cast<std::int64_t>(run.noise_from_s * 1e9);
    const auto end_ns = start_ns + static_cast<std::int64_t>(std::min(run.noise_until_s, run.run_s + 1.0) * 1e9);
    std::vector<PlannedSlot> slots;
    std::int64_t time = begin_ns;
    for (int block = 0; time < end_ns; ++block) {
        std::vector<std::vector<int>> order = block_of(run);
        if (run.design != "sequence") base::shuffle(random, std::span{order});
        for (int c = 0; c < static_cast<int>(order.size()) && time < end_ns; ++c, time += slot_ns)
            slots.push_back({block, c, order[static_cast<std::size_t>(c)], time, std::min(end_ns, time + slot_ns)});
    }
    return slots;
}

inline std::vector<const SyntheticNoise*> noise_at(const SyntheticRun& run, const std::vector<PlannedSlot>& slots,
                                                   std::int64_t time_ns)
{
    std::vector<const SyntheticNoise*> on;
    for (const PlannedSlot& slot : slots) {
        if (time_ns < slot.begin_ns || time_ns >= slot.end_ns) continue;
        for (const int n : slot.on) on.push_back(&run.noise[static_cast<std::size_t>(n)]);
    }
    return on;
}

// End of a phase that begins at `begin_ns`, takes `work_ns` on a quiet machine, and `slowdown` times as long under the
// noises that are on at that time.
template <class Slowdown>
std::int64_t end_of_work(const SyntheticRun& run, const std::vector<PlannedSlot>& slots, std::int64_t begin_ns,
                         std::int64_t work_ns, const Slowdown& slowdown)
{
    double time = static_cast<double>(begin_ns);
    double left = static_cast<double>(work_ns);
    std::int64_t border = begin_ns;
    for (const PlannedSlot& slot : slots) {
        if (slot.end_ns <= border) continue;
        for (const std::int64_t until : {slot.begin_ns, slot.end_ns}) {
            if (until <= border) continue;
            const double times = slowdown(noise_at(run, slots, border));
            if (time + left * times <= static_cast<double>(until)) return std::llround(time + left * times);
            left -= (static_cast<double>(until) - time) / times;
            time = static_cast<double>(until);
            border = until;
        }
    }
    return std::llround(time + left);
}

// A rank's GPU, with two streams; a thread launches the work.
class SyntheticGpu {
 public:
    explicit SyntheticGpu(otf2::Recorder& recorder) : recorder_{recorder} {}

    void launch(otf2::LocationRecorder& host, std::int64_t begin_ns, std::int64_t end_ns)
    {
        visit(host, "cudaLaunchKernel", otf2::RegionRole::wrapper, begin_ns, end_ns, ++launched_);
    }
    void compute(std::int64_t begin_ns, std::int64_t end_ns)
    {
        visit(computes_, "gemm", otf2::RegionRole::function, begin_ns, end_ns, launched_);
    }
    void exchange(std::int64_t begin_ns, std::int64_t end_ns)
    {
        visit(exchanges_, "ncclDevKernel_AllReduce", otf2::RegionRole::all_to_all, begin_ns, end_ns, launched_);
    }

 private:
    static otf2::Recorder::Placement on_device()
    {
        return {.kind = otf2::LocationKind::accelerator_stream, .accelerator = "CUDA device 0"};
    }
    void visit(otf2::LocationRecorder& at, const char* what, otf2::RegionRole role, std::int64_t begin_ns,
               std::int64_t end_ns, std::int64_t correlation)
    {
        const otf2::RegionRef region = recorder_.region(what, role, otf2::Paradigm::cuda);
        at.enter(region, begin_ns, {{recorder_.attribute("correlation", otf2::Type::int64), correlation}});
        at.leave(region, end_ns);
    }

    otf2::Recorder& recorder_;
    otf2::LocationRecorder& computes_ = recorder_.location("CUDA[0:7]", on_device());
    otf2::LocationRecorder& exchanges_ = recorder_.location("CUDA[0:9]", on_device());
    std::int64_t launched_ = 0;
};

}  // namespace detail

// Simulates ranks that wait for each other (load, forward, backward, exchange, update), and writes their archive.
// Deterministic for a given seed.
inline void write_training(const std::filesystem::path& folder, const SyntheticRun& run)
{
    const std::vector<detail::PlannedSlot> slots = detail::plan(run);
    synth::ThreadMeeting meeting{run.ranks};
    synth::on_each_rank(meeting, [&](int mine) {
        const auto clock = [] { return otf2::ClockOffset{.at_ns = base::now_ns()}; };
        otf2::Recorder recorder{folder, std::make_unique<synth::ThreadTeam>(mine, meeting, clock)};
        const auto attribute = [&](const char* name) { return recorder.attribute(name, otf2::Type::uint64); };
        const otf2::AttributeRef step_number = attribute("step");
        const otf2::AttributeRef bucket_number = attribute("bucket");
        const otf2::AttributeRef bytes = attribute("bytes");
        otf2::LocationRecorder& main = recorder.location("main");
        otf2::LocationRecorder& transport = recorder.location("transport");
        std::optional<detail::SyntheticGpu> gpu;
        if (run.gpu) gpu.emplace(recorder);
        if (run.gpu) recorder.process_property(base::property::gpu_dropped, std::to_string(run.gpu_dropped));
        if (run.gpu) recorder.process_property(base::property::gpu_activities, "100000");
        std::vector<int> all_ranks;
        for (int rank = 0; rank < run.ranks; ++rank) all_ranks.push_back(rank);
        otf2::CollectiveEnd allreduce;
        allreduce.operation = otf2::Operation::allreduce;
        if (run.mpi) {
            recorder.speaks_mpi(transport);
            allreduce.communicator = recorder.communicator(otf2::world_communicator, all_ranks);
        }
        base::Random random{run.seed + 17};  // the same on all ranks, so that each rank knows when the others are ready
        std::int64_t time = detail::start_ns;
        const std::int64_t end = detail::start_ns + static_cast<std::int64_t>(run.run_s * 1e9);
        for (std::uint64_t step = 0; time < end; ++step) {
            const auto phase = [&](const char* name, std::int64_t begin, std::int64_t until) {
                main.enter(recorder.region(name), begin);
                main.leave(recorder.region(name), until);
            };
            const auto ns = [&](double share) { return static_cast<std::int64_t>(share * run.step_ms * 1e6); };
            main.enter(recorder.region("step"), time, {{step_number, step}});
            using Noises = std::vector<const SyntheticNoise*>;
            const auto extra = [&](const Noises& all_on, const std::string& slowed, int rank) {
                double percent = all_on.size() > 1 && slowed == run.interaction_phase ? run.interaction_percent : 0.0;
                for (const SyntheticNoise* on : all_on)
                    if (on->phase == slowed && (on->rank < 0 || on->rank == rank)) percent += on->percent;
                return percent / 100.0;
            };
            // End of a phase that takes `share` of a mean quiet step. Only the part inside a noise's slot is slowed.
            const auto done = [&](const char* slowed, int rank, std::int64_t begin, double share, double jitter = 0.0) {
                return detail::end_of_work(run, slots, begin, ns(share + jitter),
                                           [&](const Noises& on) { return 1.0 + extra(on, slowed, rank) / share; });
            };
            const Noises all_on = detail::noise_at(run, slots, time);
            const bool settles = run.connected && std::ranges::any_of(all_on, [](const auto* on) {
                                     return base::acts_on_whole_steps(on->role);
                                 });
            const std::int64_t settled = settles ? ns(run.settle_percent / 100.0) : 0;
            const std::int64_t delay = run.connected ? settled + ns(extra(all_on, "control_delay", 0)) : 0;
            const auto hidden = static_cast<std::int64_t>(run.absorbed * static_cast<double>(delay - settled));
            if (gpu && hidden > 0) {
                gpu->launch(main, time, time);
                gpu->compute(time + settled, time + settled + hidden);
            }
            if (settles) phase("control_settle", time, time + (mine == 0 ? settled : delay));
            if (mine == 0 && delay > settled) phase("control_delay", time + settled, time + delay);
            std::vector<std::int64_t> loaded;
            std::vector<std::int64_t> ready;
            for (int rank = 0; rank < run.ranks; ++rank) {
                const double jitter = run.deviation * (2.0 * base::draw_unit(random) - 1.0) * std::sqrt(3.0);
                loaded.push_back(done("load", rank, time + delay - hidden, 0.05));
                ready.push_back(done("backward", rank, loaded.back(), 0.75, jitter));
            }
            const auto self = static_cast<std::size_t>(mine);
            const std::int64_t all_ready = *std::ranges::max_element(ready);
            const std::int64_t exchanged = done("transfer", mine, all_ready, 0.10);
            phase("load", time + delay, loaded[self]);
            if (gpu) {
                const std::int64_t begins = ready[self] - ns(0.7);
                gpu->launch(main, begins - 20'000, begins - 10'000);
                gpu->compute(begins, ready[self]);
                gpu->exchange(ready[self], exchanged);
            } else {
                phase("forward", loaded[self], loaded[self] + ns(0.25));
            }
            main.enter(recorder.region("backward"), gpu ? ready[self] : loaded[self] + ns(0.25));
            main.enter(recorder.region("bucket_ready"), ready[self], {{step_number, step}, {bucket_number, 0}});
            main.leave(recorder.region("bucket_ready"), ready[self]);
            main.leave(recorder.region("backward"), ready[self]);
            phase("wait_exchange", ready[self], exchanged);
            transport.enter(recorder.region("bucket_exchange"), ready[self],
                            {{step_number, step}, {bucket_number, 0}, {bytes, 1000}});
            if (run.mpi) {
                const otf2::RegionRef call =
                    recorder.region("MPI_Allreduce", otf2::RegionRole::all_to_all, otf2::Paradigm::mpi);
                transport.enter(call, ready[self]);
                transport.collective_begin(ready[self]);
                transport.collective_end(exchanged, allreduce);
                transport.leave(call, exchanged);
            }
            transport.leave(recorder.region("bucket_exchange"), exchanged);
            phase("update", exchanged, exchanged + ns(0.08));
            time = exchanged + ns(0.10);
            main.leave(recorder.region("step"), time);
        }
        recorder.finish();
    });
}

inline void write_noise(const std::filesystem::path& folder, const SyntheticRun& run)
{
    otf2::Recorder recorder{folder};
    recorder.property("crosstalk::design", run.design);
    recorder.property("crosstalk::schedule", run.design + "(synthetic)");
    recorder.property("crosstalk::seed", std::to_string(run.seed));
    std::vector<std::string> factors;
    for (const SyntheticNoise& noise : run.noise)
        if (std::ranges::find(factors, noise.label) == factors.end()) factors.push_back(noise.label);
    recorder.property("crosstalk::factors", base::join_words(factors, ","));
    if (!run.noise_clock.empty()) recorder.process_property("crosstalk::clock_identity", run.noise_clock);
    const otf2::AttributeRef block = recorder.attribute("block", otf2::Type::uint64);
    const otf2::AttributeRef number = recorder.attribute("position", otf2::Type::uint64);
    const otf2::AttributeRef level = recorder.attribute("level", otf2::Type::text);
    const otf2::AttributeRef stressor = recorder.attribute("stressor", otf2::Type::text);
    const otf2::AttributeRef role = recorder.attribute("role", otf2::Type::text);
    otf2::LocationRecorder& schedule = recorder.location("schedule");
    // In a rotation all noises share one CPU; in a factorial each has its own.
    const bool own_cpus = run.design == "factorial" || run.achieved > 1.0;
    std::vector<otf2::LocationRecorder*> cpus;
    for (std::size_t n = 0; n < (own_cpus ? run.noise.size() : 1); ++n)
        cpus.push_back(&recorder.location("cpu " + std::to_string(3 + n)));
    const std::vector<detail::PlannedSlot> slots = detail::plan(run);
    for (std::size_t c = run.missed_slots; c < slots.size(); ++c) {
        const detail::PlannedSlot& slot = slots[c];
        std::vector<SyntheticNoise> on;
        for (const int n : slot.on) on.push_back(run.noise[static_cast<std::size_t>(n)]);
        if (on.empty()) on.push_back({"quiet", "quiet", "", 0.0, -1});
        for (const SyntheticNoise& noise : on)
            schedule.enter(recorder.region(noise.label), slot.begin_ns,
                           {{block, slot.block},
                            {number, slot.number},
                            {level, recorder.text(noise.level)},
                            {stressor, recorder.text(noise.stressor)},
                            {role, recorder.text(base::text(noise.role))}});
        for (auto noise = on.rbegin(); noise != on.rend(); ++noise)
            schedule.leave(recorder.region(noise->label), slot.end_ns);
        const auto ran_ns = static_cast<std::int64_t>(run.achieved * static_cast<double>(slot.end_ns - slot.begin_ns));
        for (const int n : slot.on) {
            const SyntheticNoise& noise = run.noise[static_cast<std::size_t>(n)];
            otf2::LocationRecorder& cpu = own_cpus ? *cpus[static_cast<std::size_t>(n)] : *cpus[0];
            const bool last =
                c + 1 == slots.size() || std::count(slots[c + 1].on.begin(), slots[c + 1].on.end(), n) > 0;
            const std::int64_t end_ns = slot.begin_ns + ran_ns;
            cpu.enter(recorder.region(noise.label), slot.begin_ns);
            cpu.leave(recorder.region(noise.label), last ? std::min(end_ns, slot.end_ns) : end_ns);
        }
    }
    recorder.finish();
}

// Writes the archives train/ and noise/ of a run directory.
inline void write_run(const std::filesystem::path& folder, const SyntheticRun& run)
{
    std::filesystem::create_directories(folder / "train");
    std::filesystem::create_directories(folder / "noise/here.0");
    write_training(folder / "train/trace", run);
    write_noise(folder / "noise/here.0/trace", run);
}

}  // namespace analysis::testing
