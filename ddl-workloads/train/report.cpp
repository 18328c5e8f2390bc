// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/train/report.hpp"

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "base/system/launcher.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

namespace ddl {

namespace {

double per_step_ms(std::int64_t ns, std::int64_t steps)
{
    return steps == 0 ? 0.0 : static_cast<double>(ns) / 1e6 / static_cast<double>(steps);
}

std::string name_of_thread(pid_t thread)
{
    std::ifstream file{"/proc/self/task/" + std::to_string(thread) + "/comm"};
    std::string name;
    std::getline(file, name);
    return name;
}

// Peak resident memory (VmHWM).
std::int64_t peak_memory_bytes()
{
    struct rusage usage = {};
    base::check_errno(::getrusage(RUSAGE_SELF, &usage), "query the memory in use");
    return usage.ru_maxrss * 1024;
}

}  // namespace

std::optional<double> overlap_percent(const StepSums& sums, std::int64_t exchange_ns)
{
    if (exchange_ns <= 0) return std::nullopt;
    const auto waited = static_cast<double>(sums.of(Phase::wait_exchange));
    return 100.0 * std::max(0.0, 1.0 - waited / static_cast<double>(exchange_ns));
}

nlohmann::ordered_json to_json(const StepSums& sums, std::int64_t samples_per_step)
{
    nlohmann::ordered_json json;
    json["steps"] = sums.steps;
    json["mean_step_ms"] = per_step_ms(sums.ns, sums.steps);
    const double seconds = static_cast<double>(sums.ns) / 1e9;
    json["samples_per_s"] = seconds > 0.0 ? static_cast<double>(sums.steps * samples_per_step) / seconds : 0.0;
    std::int64_t computed_ns = 0;
    for (const Phase phase : phases)
        if (base::card_of(phase).part == base::PhasePart::compute) computed_ns += sums.of(phase);
    json["utilisation_percent"] =
        sums.ns > 0 ? 100.0 * static_cast<double>(computed_ns) / static_cast<double>(sums.ns) : 0.0;
    for (std::size_t i = 0; i < phases.size(); ++i)
        json["phases_ms"][text(phases[i])] = per_step_ms(sums.phase_ns[i], sums.steps);
    return json;
}

nlohmann::ordered_json to_json(const TrainingPlan& plan)
{
    nlohmann::ordered_json json;
    json["model"] = plan.model;
    json["data"] = plan.data;
    json["strategy"] = plan.strategy;
    json["optimizer"] = {{"name", plan.optimizer.name},
                         {"learning_rate", plan.optimizer.learning_rate},
                         {"momentum", plan.optimizer.momentum},
                         {"weight_decay", plan.optimizer.weight_decay}};
    json["batch"] = plan.batch;
    json["accumulate"] = plan.accumulate;
    json["seed"] = plan.seed;
    json["soft_errors"] = plan.soft_errors;
    json["device"] = text(plan.device);
    json["precision"] = text(plan.device.compute);
    json["deterministic"] = plan.device.deterministic;
    json["sync_phases"] = plan.device.sync_phases;
    json["cuda_graphs"] = plan.device.graphs;
    json["threads"] = plan.placement.threads;
    json["cpus"] = plan.placement.cpus ? base::format_cpus(*plan.placement.cpus) : "";
    json["transport_cpus"] = plan.placement.transport_cpus ? base::format_cpus(*plan.placement.transport_cpus) : "";
    json["readers"] = plan.input.readers;
    json["queue"] = plan.input.queue;
    json["transforms"] = plan.input.transformers;
    json["augment"] = {{"flip", plan.input.augmentation.flip}, {"crop", plan.input.augmentation.crop}};
    json["corrupt"] = plan.input.skip_corrupt ? "skip" : "stop";
    json["drop_page_cache"] = plan.input.access == Access::uncached;
    json["direct"] = plan.input.access == Access::direct;
    json["data_directory"] = plan.input.data_directory.string();
    json["control_delay_ns"] = plan.delays.control.count();
    json["stall_after_ns"] = plan.ends.stall_after.count();
    json["until_loss"] = plan.ends.until_loss ? nlohmann::ordered_json(*plan.ends.until_loss) : nullptr;
    json["until_accuracy"] = plan.ends.until_accuracy ? nlohmann::ordered_json(*plan.ends.until_accuracy) : nullptr;
    json["delays"] = nlohmann::ordered_json::array();
    for (const InjectedDelay& delay : plan.delays.injected)
        json["delays"].push_back({{"rank", delay.rank},
                                  {"phase", text(delay.phase)},
                                  {"ns", delay.time.count()},
                                  {"every", delay.every},
                                  {"for", delay.length},
                                  {"busy", delay.busy}});
    json["checkpoint"] = {{"format", plan.checkpoint.format},
                          {"content", plan.checkpoint.content},
                          {"gzip", plan.checkpoint.gzip},
                          {"every_steps", plan.checkpoint.every_steps},
                          {"every_ns", plan.checkpoint.every_time.count()},
                          {"share_percent", 100.0 * plan.checkpoint.share},
                          {"mode", plan.checkpoint.beside ? "async" : "sync"},
                          {"by", text(plan.checkpoint.by)},
                          {"fsync", plan.checkpoint.durable},
                          {"keep", plan.checkpoint.keep}};
    json["resume"] = plan.resume;
    json["store"] = {{"code", plan.store.code}, {"detect", plan.store.detection}, {"bit_error_rate", plan.store.rate}};
    json["guards"] = {{"guard", plan.guards.text},
                      {"on_guard", text(plan.guards.reaction)},
                      {"copy_every", plan.guards.copy_every},
                      {"replicas_every", plan.guards.replicas_every},
                      {"golden", plan.guards.golden}};
    for (const auto& [name, value] : plan.hook_options) json["hooks"][name] = value;
    json["trace"] = plan.recording.trace;
    json["trace_gpu"] = plan.recording.gpu;
    json["instrument"] = text(plan.recording.level);
    json["trace_steps"] = {{"first", plan.recording.steps.first},
                           {"end", plan.recording.steps.end},
                           {"every", plan.recording.steps.every}};
    return json;
}

std::string checksum(const std::vector<std::span<std::byte>>& memory)
{
    base::Fnv1a hash;
    for (const std::span<std::byte> bytes : memory) hash.add(bytes);
    return hash.text();
}

nlohmann::ordered_json process_record(int rank)
{
    nlohmann::ordered_json json;
    json["rank"] = rank;
    json["host"] = base::host_name();
    json["pid"] = ::getpid();
    json["clock_identity"] = base::clock_identity().text();
    json["peak_memory_bytes"] = peak_memory_bytes();
    json["cpus"] = base::format_cpus(base::allowed_cpus());
    for (const pid_t thread : base::threads_of_this_process())
        json["thread_cpus"].push_back({{"thread", thread},
                                       {"name", name_of_thread(thread)},
                                       {"cpus", base::format_cpus(base::affinity_of(thread))}});
    return json;
}

}  // namespace ddl
