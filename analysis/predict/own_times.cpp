// SPDX-License-Identifier: Apache-2.0
#include "analysis/predict/own_times.hpp"

#include "base/contract/phases.hpp"
#include "base/contract/roles.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <map>

namespace analysis {

namespace {

constexpr std::size_t least_steps_of_treatment = 100;
constexpr Eigen::Index blocks_without_noise = 20;

// Own work of every step, steps x ranks. Empty if the training does not record how long ranks waited.
Eigen::MatrixXd own_by_buckets(const Training& training)
{
    Eigen::MatrixXd own(training.extra_ms.rows(), static_cast<Eigen::Index>(training.steps.ranks.size()));
    for (std::size_t r = 0; r < training.steps.ranks.size(); ++r) {
        const std::string name = base::join("ready rank ", training.steps.ranks[r].rank);
        const auto found = std::find(training.extra_names.begin(), training.extra_names.end(), name);
        if (found == training.extra_names.end()) return {};
        const Eigen::Index column = found - training.extra_names.begin();
        for (Eigen::Index i = 0; i < own.rows(); ++i)
            own(i, static_cast<Eigen::Index>(r)) = training.extra_ms(i, column);
    }
    return own;
}

bool is_waiting(const std::string& phase)
{
    return phase == base::text(base::TrainingPhase::wait_exchange) || phase.starts_with("MPI_");
}

Eigen::MatrixXd own_without_waiting(const StepTable& steps)
{
    Eigen::MatrixXd own(static_cast<Eigen::Index>(steps.numbers.size()), static_cast<Eigen::Index>(steps.ranks.size()));
    const bool any = std::any_of(steps.phases.begin(), steps.phases.end(), is_waiting);
    if (!any && steps.ranks.size() > 1) return {};
    for (std::size_t r = 0; r < steps.ranks.size(); ++r) {
        const Measures measures = measures_of(steps.ranks[r]);
        std::vector<double> ms(static_cast<std::size_t>(measures.cols()));
        for (std::size_t i = 0; i < measures.steps(); ++i) {
            measures.fill(i, ms);
            double left = ms.front();
            for (std::size_t p = 0; p < steps.phases.size(); ++p)
                if (is_waiting(steps.phases[p])) left -= ms[p + 1];
            own(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(r)) = left;
        }
    }
    return own;
}

std::vector<std::size_t> nodes_of_ranks(const Training& training)
{
    std::map<std::string, std::size_t> numbers;
    std::vector<std::size_t> nodes;
    for (const std::string& host : training.host) nodes.push_back(numbers.emplace(host, numbers.size()).first->second);
    nodes.resize(training.steps.ranks.size());
    return nodes;
}

// The used steps of one treatment.
struct Picked {
    std::vector<Eigen::Index> steps;
    std::vector<double> weights;
    std::vector<int> blocks;
};

class Picker {
 public:
    Picker(const Eigen::MatrixXd& own, const Training& training)
        : own_{own}, rest_{-own.rowwise().maxCoeff()}, node_{nodes_of_ranks(training)}
    {
        const Measures job = measures_of(training.steps);
        for (Eigen::Index i = 0; i < rest_.size(); ++i) rest_[i] += job.first(static_cast<std::size_t>(i));
    }

    TreatedTimes pick(const std::string& treatment, const Picked& picked) const
    {
        const Eigen::Map<const Eigen::VectorXd> weights{picked.weights.data(),
                                                        static_cast<Eigen::Index>(picked.weights.size())};
        return {treatment, {own_(picked.steps, Eigen::all), rest_(picked.steps), weights, node_}, picked.blocks};
    }

 private:
    const Eigen::MatrixXd& own_;
    Eigen::VectorXd rest_;
    std::vector<std::size_t> node_;
};

// Length of the slot together with adjacent slots of the same treatment.
std::int64_t stretch_ns(const std::vector<Slot>& slots, const Experiment& plan, std::size_t slot)
{
    std::size_t first = slot;
    std::size_t last = slot;
    while (first > 0 && plan.treatment_of[first - 1] == plan.treatment_of[slot]) --first;
    while (last + 1 < slots.size() && plan.treatment_of[last + 1] == plan.treatment_of[slot]) ++last;
    return slots[last].end_ns - slots[first].begin_ns;
}

// Weight of a step. A step lies wholly in a span of one treatment with probability 1 - its length / the span's, so long
// steps are missing; those that do lie in it have more weight.
double weight_of(std::int64_t step_ns, std::int64_t stretch)
{
    constexpr double most = 10.0;
    const double chance = 1.0 - static_cast<double>(step_ns) / static_cast<double>(stretch);
    return 1.0 / std::max(1.0 / most, chance);
}

void keep(MeasuredTimes& measured, TreatedTimes times)
{
    if (times.block.size() >= least_steps_of_treatment) {
        measured.treatments.push_back(std::move(times));
        return;
    }
    const std::string why = base::join("only ", times.block.size(), " steps lie completely under ", times.treatment,
                                       ", fewer than the required ", least_steps_of_treatment);
    if (measured.treatments.empty()) base::fail(why, "; make a longer run");
    measured.notes.push_back(base::join("no row for ", times.treatment, ": ", why));
}

std::vector<TreatedTimes> under_noise(const Picker& picker, const DesignedRun& run, const ExposureRules& rules)
{
    const Exposures exposures = expose(run.steps, run.slots, run.plan, rules);
    std::vector<TreatedTimes> all;
    for (std::size_t t = 0; t < run.plan.treatments.size(); ++t) {
        const std::vector<Assigned>& on = run.plan.treatments[t].on;
        if (on.size() > 1 || (on.size() == 1 && on.front().role != base::Role::treatment)) continue;
        Picked picked;
        for (std::size_t i = 0; i < exposures.job.size(); ++i) {
            if (exposures.left_out[i] != LeftOut::no || !wholly_under(exposures.job[i], run.plan, t)) continue;
            const RankSteps& rank = run.steps.ranks.front();
            picked.steps.push_back(static_cast<Eigen::Index>(i));
            picked.weights.push_back(weight_of(rank.end_ns[i] - rank.begin_ns[i],
                                               stretch_ns(run.slots.front(), run.plan, exposures.job[i].front().slot)));
            picked.blocks.push_back(exposures.block[i]);
        }
        all.push_back(picker.pick(run.plan.treatments[t].name(), picked));
    }
    return all;
}

TreatedTimes without_noise(const Picker& picker, const StepTable& table, const ExposureRules& rules)
{
    Picked picked;
    const auto steps = static_cast<Eigen::Index>(table.numbers.size());
    for (Eigen::Index i = std::max<Eigen::Index>(rules.warm_up_steps, 0); i < steps; ++i) picked.steps.push_back(i);
    const auto count = static_cast<Eigen::Index>(picked.steps.size());
    picked.weights.assign(picked.steps.size(), 1.0);
    for (Eigen::Index i = 0; i < count; ++i)
        picked.blocks.push_back(static_cast<int>(i * blocks_without_noise / count));
    return picker.pick("quiet", picked);
}

}  // namespace

MeasuredTimes own_times(const Training& training, const std::optional<Joined>& joined, const ExposureRules& rules)
{
    Eigen::MatrixXd own = own_by_buckets(training);
    MeasuredTimes measured;
    if (own.size() == 0) {
        own = own_without_waiting(training.steps);
        if (own.size() == 0)
            base::fail(training.file.string(),
                       " has neither buckets nor a waiting phase, so a rank's own work is unknown");
        measured.notes.push_back("own work is the step without its waiting: no buckets were recorded");
    }
    const Picker picker{own, training};
    const std::vector<std::size_t> nodes = nodes_of_ranks(training);
    measured.ranks = static_cast<int>(nodes.size());
    measured.nodes = static_cast<int>(*std::max_element(nodes.begin(), nodes.end())) + 1;
    for (const std::size_t node : nodes)
        measured.ranks_per_node =
            std::max(measured.ranks_per_node, static_cast<int>(std::count(nodes.begin(), nodes.end(), node)));
    if (!joined) {
        keep(measured, without_noise(picker, training.steps, rules));
        return measured;
    }
    if (joined->run.steps.ranks.size() != training.steps.ranks.size())
        base::fail("noise was not on the node of every rank: ", joined->promises_broken.front());
    for (TreatedTimes& times : under_noise(picker, joined->run, rules)) keep(measured, std::move(times));
    return measured;
}

}  // namespace analysis
