#include "analysis/estimate/comparison.hpp"

#include "base/error.hpp"

#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace analysis {

namespace {

constexpr Eigen::Index most_exact = 20;  // values a side

std::vector<std::int64_t> common_numbers(const std::vector<RunSteps>& quiet, const std::vector<RunSteps>& noisy,
                                         std::int64_t warm_up)
{
    std::vector<std::int64_t> numbers = quiet.front().numbers;
    for (const std::vector<RunSteps>* set : {&quiet, &noisy}) {
        for (const RunSteps& run : *set) {
            std::vector<std::int64_t> both;
            std::set_intersection(numbers.begin(), numbers.end(), run.numbers.begin(), run.numbers.end(),
                                  std::back_inserter(both));
            numbers = std::move(both);
        }
    }
    std::erase_if(numbers, [&](std::int64_t number) { return number < warm_up; });
    return numbers;
}

// One column of a run at the given steps; zero where the run has no such phase.
Eigen::VectorXd column(const RunSteps& run, const std::string& name, const std::vector<std::int64_t>& numbers)
{
    Eigen::VectorXd values = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(numbers.size()));
    const auto found = std::find(run.names.begin(), run.names.end(), name);
    if (found == run.names.end()) return values;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto row = std::lower_bound(run.numbers.begin(), run.numbers.end(), numbers[i]) - run.numbers.begin();
        values[static_cast<Eigen::Index>(i)] = run.ms(row, found - run.names.begin());
    }
    return values;
}

Eigen::VectorXd run_means(const std::vector<RunSteps>& runs, const std::string& name,
                          const std::vector<std::int64_t>& numbers)
{
    Eigen::VectorXd means(static_cast<Eigen::Index>(runs.size()));
    for (std::size_t r = 0; r < runs.size(); ++r)
        means[static_cast<Eigen::Index>(r)] = column(runs[r], name, numbers).mean();
    return means;
}

// Of all runs, in order of first appearance: a phase that only some runs have is no time in the others.
std::vector<std::string> all_phases(const std::vector<RunSteps>& quiet, const std::vector<RunSteps>& noisy)
{
    std::vector<std::string> names;
    for (const std::vector<RunSteps>* set : {&quiet, &noisy})
        for (const RunSteps& run : *set)
            for (const std::string& name : run.names)
                if (name != "step" && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    return names;
}

std::vector<double> step_means(const std::vector<RunSteps>& runs, const std::vector<std::int64_t>& numbers)
{
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(numbers.size()));
    for (const RunSteps& run : runs) sum += column(run, "step", numbers);
    sum /= static_cast<double>(runs.size());
    return {sum.begin(), sum.end()};
}

PhaseComparison compare_step(const Eigen::VectorXd& quiet, const Eigen::VectorXd& noisy, double confidence)
{
    const Mean difference = welch(quiet.array().log(), noisy.array().log());
    const auto as_percent = [](double log_ratio) { return 100.0 * std::expm1(log_ratio); };
    const Interval logs = difference.interval(confidence);
    return {"step",
            quiet.mean(),
            noisy.mean(),
            as_percent(difference.value),
            {as_percent(logs.low), as_percent(logs.high)},
            difference.p_value(),
            1.0,
            mann_whitney_p(quiet, noisy)};
}

PhaseComparison compare_phase(const std::string& phase, const Eigen::VectorXd& quiet, const Eigen::VectorXd& noisy,
                              double quiet_step_ms, double confidence)
{
    const double scale = 100.0 / quiet_step_ms;
    const Mean difference = welch(quiet * scale, noisy * scale);
    return {phase,
            quiet.mean(),
            noisy.mean(),
            difference.value,
            difference.interval(confidence),
            difference.p_value(),
            1.0,
            mann_whitney_p(quiet, noisy)};
}

}  // namespace

Mean welch(const Eigen::VectorXd& from, const Eigen::VectorXd& to)
{
    const Mean a = mean_of(from);
    const Mean b = mean_of(to);
    const double variance_a = a.standard_error * a.standard_error;
    const double variance_b = b.standard_error * b.standard_error;
    const double variance = variance_a + variance_b;
    const double degrees =
        variance == 0.0
            ? a.degrees_of_freedom + b.degrees_of_freedom
            : variance * variance /
                  (variance_a * variance_a / a.degrees_of_freedom + variance_b * variance_b / b.degrees_of_freedom);
    return {b.value - a.value, std::sqrt(variance), degrees};
}

double mann_whitney_p(const Eigen::VectorXd& a, const Eigen::VectorXd& b)
{
    double u = 0.0;
    bool ties = false;
    for (const double x : a)
        for (const double y : b) {
            u += x < y ? 1.0 : x == y ? 0.5 : 0.0;
            ties = ties || x == y;
        }
    const double pairs = static_cast<double>(a.size()) * static_cast<double>(b.size());
    const double extreme = std::max(u, pairs - u);
    if (ties || a.size() > most_exact || b.size() > most_exact) {
        const double deviation = std::sqrt(pairs * static_cast<double>(a.size() + b.size() + 1) / 12.0);
        const double z = std::max(0.0, extreme - pairs / 2.0 - 0.5) / deviation;
        return std::min(1.0, 2.0 * boost::math::cdf(boost::math::complement(boost::math::normal{}, z)));
    }
    // count[i][j][k]: orders of i values of a and j of b in which k pairs have a before b. The last of all is one of a,
    // which adds no pair, or one of b, which comes after all i of a.
    const auto n = static_cast<std::size_t>(a.size());
    const auto size = static_cast<std::size_t>(pairs) + 1;
    std::vector<std::vector<std::vector<double>>> count(
        n + 1,
        std::vector<std::vector<double>>(static_cast<std::size_t>(b.size()) + 1, std::vector<double>(size, 0.0)));
    for (std::size_t i = 0; i <= n; ++i)
        for (std::size_t j = 0; j <= static_cast<std::size_t>(b.size()); ++j) {
            if (i == 0 || j == 0) {
                count[i][j][0] = 1.0;
                continue;
            }
            for (std::size_t k = 0; k < size; ++k)
                count[i][j][k] = count[i - 1][j][k] + (k >= i ? count[i][j - 1][k - i] : 0.0);
        }
    const std::vector<double>& orders = count[n][static_cast<std::size_t>(b.size())];
    double all = 0.0;
    double tail = 0.0;
    for (std::size_t k = 0; k < size; ++k) {
        all += orders[k];
        if (static_cast<double>(k) >= extreme) tail += orders[k];
    }
    return std::min(1.0, 2.0 * tail / all);
}

Comparison compare(const std::vector<RunSteps>& quiet, const std::vector<RunSteps>& noisy, std::int64_t warm_up_steps,
                   double confidence)
{
    if (quiet.size() < 2 || noisy.size() < 2)
        base::fail_usage("compare needs at least two runs on each side, because the run is the unit (given: ",
                         quiet.size(), " quiet, ", noisy.size(), " noisy)");
    Comparison comparison;
    comparison.confidence = confidence;
    comparison.numbers = common_numbers(quiet, noisy, warm_up_steps);
    if (comparison.numbers.empty()) base::fail("the runs have no step in common after the first ", warm_up_steps);
    const Eigen::VectorXd quiet_steps = run_means(quiet, "step", comparison.numbers);
    const Eigen::VectorXd noisy_steps = run_means(noisy, "step", comparison.numbers);
    comparison.quiet_means_ms = {quiet_steps.begin(), quiet_steps.end()};
    comparison.noisy_means_ms = {noisy_steps.begin(), noisy_steps.end()};
    comparison.quiet_by_step_ms = step_means(quiet, comparison.numbers);
    comparison.noisy_by_step_ms = step_means(noisy, comparison.numbers);

    comparison.phases.push_back(compare_step(quiet_steps, noisy_steps, confidence));
    for (const std::string& phase : all_phases(quiet, noisy))
        comparison.phases.push_back(compare_phase(phase, run_means(quiet, phase, comparison.numbers),
                                                  run_means(noisy, phase, comparison.numbers), quiet_steps.mean(),
                                                  confidence));
    std::vector<double> p;
    for (const PhaseComparison& phase : comparison.phases) p.push_back(phase.p_welch);
    p = holm(p);
    for (std::size_t i = 0; i < p.size(); ++i) comparison.phases[i].p_holm = p[i];

    const Mean one = mean_of(quiet_steps.array().log());
    const double deviation = one.standard_error * std::sqrt(static_cast<double>(quiet.size()));
    const double error =
        deviation * std::sqrt(1.0 / static_cast<double>(quiet.size()) + 1.0 / static_cast<double>(noisy.size()));
    comparison.floor_percent = 100.0 * std::expm1(t_quantile(confidence, one.degrees_of_freedom) * error);
    return comparison;
}

}  // namespace analysis
