// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/proof.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/trace_names.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t least_steps = 10;
constexpr double least_time_on = 0.95;  // share of the training on each CPU; noise rests between slots
constexpr double least_rate = 0.90;     // share of the requested rate

// A slot that is recorded as longer than this shows that the process was stopped, or got no CPU, within the slot.
constexpr std::int64_t longest_slot_ns = slot_of_steady_noise.count() * 6 / 5;

std::string in_seconds(std::int64_t ns)
{
    return base::fixed(static_cast<double>(ns) / 1e9, 1) + " s";
}

std::string in_percent(double share)
{
    return base::join(static_cast<int>(share * 100.0), " %");
}

base::CpuSet cpus_of_slots(const std::vector<NoiseSlot>& slots)
{
    base::CpuSet cpus;
    for (const NoiseSlot& slot : slots) cpus.insert(slot.cpu);
    return cpus;
}

// The time from the first to the last slot on this CPU must cover the steps that count; gaps between slots are not
// noise.
std::string why_not_long_enough(const TrainingOnNode& training, const std::vector<NoiseSlot>& slots, int cpu)
{
    constexpr const char* serial = " (Slurm steps without srun --overlap?)";
    std::int64_t begin_ns = INT64_MAX;
    std::int64_t end_ns = INT64_MIN;
    std::int64_t on_ns = 0;
    for (const NoiseSlot& slot : slots) {
        if (slot.cpu != cpu) continue;
        begin_ns = std::min(begin_ns, slot.begin_ns);
        end_ns = std::max(end_ns, slot.end_ns);
        const std::int64_t slot_end_ns = std::min(slot.end_ns, slot.begin_ns + longest_slot_ns);
        on_ns += std::max<std::int64_t>(
            0, std::min(slot_end_ns, training.end_ns) - std::max(slot.begin_ns, training.counted_ns));
    }
    if (begin_ns >= training.end_ns) return base::join("began after the training had ended", serial);
    if (end_ns <= training.begin_ns) return base::join("had ended before the training began", serial);
    if (begin_ns > training.counted_ns)
        return base::join("began late, ", in_seconds(begin_ns - training.counted_ns), " after the first counted step");
    if (end_ns < training.end_ns)
        return base::join("ended early, ", in_seconds(training.end_ns - end_ns), " before the training");
    const double share = static_cast<double>(on_ns) / static_cast<double>(training.end_ns - training.counted_ns);
    if (share < least_time_on) return base::join("was on for ", in_percent(share), " of the training only");
    return {};
}

std::string why_wrong_cpus(const TrainingOnNode& training, const base::CpuSet& used, const AskedNoise& asked)
{
    if (!asked.may_share && base::have_common(used, training.cpus))
        return base::join("ran on CPUs ", base::format_cpus(used), ", of which the training uses ",
                          base::format_cpus(training.cpus));
    if (!asked.cpus.empty() && used != asked.cpus)
        return base::join("ran on CPUs ", base::format_cpus(used), ", not on ", base::format_cpus(asked.cpus));
    if (asked.cpu_count != 0 && used.size() != asked.cpu_count)
        return base::join("ran on CPUs ", base::format_cpus(used), ", not on ", asked.cpu_count);
    return {};
}

// Checks the rate in slots during the steps that count.
std::string why_too_slow(const TrainingOnNode& training, const std::vector<NoiseSlot>& slots)
{
    double reached = 0.0;
    double time = 0.0;
    for (const NoiseSlot& slot : slots) {
        if (slot.end_ns <= training.counted_ns || slot.begin_ns >= training.end_ns) continue;
        const auto length = static_cast<double>(slot.end_ns - slot.begin_ns);
        reached += std::min(slot.reached, 1.0) * length;
        time += length;
    }
    if (time <= 0.0 || reached / time >= least_rate) return {};
    return base::join("reached ", in_percent(reached / time), " of the rate asked for");
}

std::string why_node_not_covered(const TrainingOnNode& training, const std::vector<NoiseSlot>& slots,
                                 const AskedNoise& asked)
{
    const base::CpuSet used = cpus_of_slots(slots);
    for (const int cpu : used)
        if (const std::string why = why_not_long_enough(training, slots, cpu); !why.empty()) return why;
    if (const std::string why = why_wrong_cpus(training, used, asked); !why.empty()) return why;
    return why_too_slow(training, slots);
}

// Host of each rank; a job that does not record hosts is on the host of its record.
std::map<int, std::string> hosts_of_ranks(const nlohmann::ordered_json& record)
{
    std::map<int, std::string> hosts;
    if (!record.contains("result")) return hosts;
    for (const auto& rank : record.at("result").value("each_rank", nlohmann::ordered_json::array()))
        hosts[rank.at("rank").get<int>()] = rank.at("host").get<std::string>();
    return hosts;
}

void add_recorded_cpus(TrainingByNode& nodes, const nlohmann::ordered_json& record)
{
    if (!record.contains("result")) return;
    for (const auto& rank : record.at("result").value("each_rank", nlohmann::ordered_json::array())) {
        base::CpuSet& cpus = nodes[rank.at("host").get<std::string>()].cpus;
        for (const auto& thread : rank.value("thread_cpus", nlohmann::ordered_json::array()))
            cpus.merge(base::parse_cpus(thread.at("cpus").get<std::string>()));
    }
}

}  // namespace

std::string why_not_covered(const TrainingByNode& training, const NoiseByNode& noise, const AskedNoise& asked)
{
    for (const auto& [node, part] : training)
        if (part.steps < least_steps)
            return base::join("only ", part.steps, " steps after the warm-up on ", node, ": increase its duration");
    if (asked.none)
        return noise.empty() ? "" : base::join("noise ran on ", noise.begin()->first, " during a quiet run");
    for (const auto& [node, part] : training) {
        const auto beside = noise.find(node);
        if (beside == noise.end() || beside->second.empty()) return base::join("no noise ran on ", node);
        const std::string why = why_node_not_covered(part, beside->second, asked);
        if (!why.empty()) return base::join("noise on ", node, " ", why);
    }
    return {};
}

nlohmann::ordered_json proof_by_node(const TrainingByNode& training, const NoiseByNode& noise)
{
    nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
    for (const auto& [node, part] : training) {
        nlohmann::ordered_json one{{"node", node},
                                   {"training_cpus", base::format_cpus(part.cpus)},
                                   {"training_counted_ns", part.counted_ns},
                                   {"training_end_ns", part.end_ns}};
        const auto beside = noise.find(node);
        if (beside != noise.end() && !beside->second.empty()) {
            const auto earlier = [](const NoiseSlot& a, const NoiseSlot& b) { return a.begin_ns < b.begin_ns; };
            const auto ended = [](const NoiseSlot& a, const NoiseSlot& b) { return a.end_ns < b.end_ns; };
            one["noise_cpus"] = base::format_cpus(cpus_of_slots(beside->second));
            one["noise_begin_ns"] = std::min_element(beside->second.begin(), beside->second.end(), earlier)->begin_ns;
            one["noise_end_ns"] = std::max_element(beside->second.begin(), beside->second.end(), ended)->end_ns;
        }
        nodes.push_back(one);
    }
    return nodes;
}

TrainingByNode training_by_node(const fs::path& run, int warmup, const base::CpuSet& known_cpus)
{
    const nlohmann::ordered_json record = base::read_json(run / base::part::train / base::file::run_record);
    const std::map<int, std::string> hosts = hosts_of_ranks(record);
    const base::CsvTable steps{run / base::part::train / base::file::steps};
    TrainingByNode nodes;
    std::map<int, std::size_t> counted;
    for (std::size_t row = 0; row < steps.rows(); ++row) {
        const int rank = steps.get<int>(row, "rank");
        const auto host = hosts.find(rank);
        TrainingOnNode& node = nodes[host == hosts.end() ? record.at("host").get<std::string>() : host->second];
        const auto begin_ns = steps.get<std::int64_t>(row, "begin_ns");
        const auto end_ns = steps.get<std::int64_t>(row, "end_ns");
        const bool first = node.end_ns == 0;
        node.begin_ns = first ? begin_ns : std::min(node.begin_ns, begin_ns);
        node.end_ns = std::max(node.end_ns, end_ns);
        if (steps.get<std::int64_t>(row, "step") < warmup) continue;
        node.counted_ns = node.counted_ns == 0 ? begin_ns : std::min(node.counted_ns, begin_ns);
        node.steps = std::max(node.steps, ++counted[rank]);
    }
    if (nodes.empty()) base::fail("the training took no steps");
    for (auto& [host, node] : nodes) node.cpus = known_cpus;
    add_recorded_cpus(nodes, record);
    return nodes;
}

NoiseByNode noise_by_node(const fs::path& run)
{
    NoiseByNode nodes;
    if (!fs::exists(run / base::part::noise)) return nodes;
    for (const auto& part : fs::directory_iterator{run / base::part::noise}) {
        const fs::path file = part.path() / base::file::noise_rows;
        if (!fs::exists(file)) continue;
        const base::CsvTable rows{file};
        for (std::size_t row = 0; row < rows.rows(); ++row) {
            if (rows.text(row, "stressor") == base::region::quiet) continue;
            nodes[rows.text(row, "host")].push_back({.cpu = rows.get<int>(row, "cpu"),
                                                     .begin_ns = rows.get<std::int64_t>(row, "begin_ns"),
                                                     .end_ns = rows.get<std::int64_t>(row, "end_ns"),
                                                     .reached = rows.get<double>(row, "reached")});
        }
    }
    return nodes;
}

}  // namespace crosstalk
