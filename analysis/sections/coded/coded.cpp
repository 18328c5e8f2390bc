// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/coded/coded.hpp"

#include "analysis/input/step_work/numbered_rows.hpp"
#include "analysis/sections/noise_table.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <algorithm>
#include <utility>

namespace analysis {

namespace {

// Measures of a step. Those of a product are means over the products of the step.
enum Measure : Eigen::Index {
    step_time,
    multiplying_of_product,
    wait_of_product,
    decoding_of_product,
    wait_of_step,
    decoding_of_step,
    saved_of_step,
    late_of_step,
    measure_count
};

constexpr std::size_t not_used = SIZE_MAX;

// [step]: the treatment under which most of it lies.
base::LongColumn<std::size_t> treatments_of_steps(const Report& report)
{
    base::LongColumn<std::size_t> all;
    for (std::size_t i = 0; i < report.run.steps.numbers.size(); ++i) all.push_back(not_used);
    for (std::size_t t = 0; t < report.run.plan.treatments.size(); ++t)
        for (const std::size_t step : steps_under(report, t)) all[step] = t;
    return all;
}

// Adds up the products of each step, and counts them by treatment.
LongTable sums_by_step(Report& report, const std::filesystem::path& file,
                       const base::LongColumn<std::size_t>& treatment_of, std::vector<ProductsUnder>& counts)
{
    const base::LongColumn<std::int64_t>& numbers = report.run.steps.numbers;
    const auto steps = static_cast<Eigen::Index>(numbers.size());
    LongTable sums;
    sums.resize(steps, measure_count - 1);
    base::LongColumn<double> products;
    products.resize(numbers.size());
    PlaceOfStep place_of{numbers};
    otf2::now_reading(file);
    const bool whole = base::read_rows(file, [&](const base::CsvRow& row) {
        otf2::getting_on();
        const std::size_t place = place_of(row.get<std::int64_t>("step"));
        if (place == numbers.size()) return;
        const auto sum = [&](Measure measure) -> double& {
            return sums(static_cast<Eigen::Index>(place), measure - 1);
        };
        const auto number = [&](const char* column) { return static_cast<double>(row.get<std::int64_t>(column)); };
        sum(multiplying_of_product) += number("product_ns") / 1e6;
        sum(wait_of_step) += number("wait_ns") / 1e6;
        sum(decoding_of_step) += number("decode_ns") / 1e6;
        sum(saved_of_step) += number("saved_ns") / 1e6;
        sum(late_of_step) += number("late");
        products[place] += 1.0;
        if (treatment_of[place] == not_used) return;
        ProductsUnder& under = counts[treatment_of[place]];
        ++under.products;
        ++under.last[static_cast<int>(row.get<std::int64_t>("last_rank"))];
    });
    for (Eigen::Index i = 0; i < steps; ++i) {
        const double count = std::as_const(products)[static_cast<std::size_t>(i)];
        if (count == 0.0 && treatment_of[static_cast<std::size_t>(i)] != not_used)
            base::fail(file.filename().string(), " has no product of step ", numbers[static_cast<std::size_t>(i)]);
        if (count == 0.0) continue;
        sums(i, multiplying_of_product - 1) /= count;
        sums(i, wait_of_product - 1) = sums(i, wait_of_step - 1) / count;
        sums(i, decoding_of_product - 1) = sums(i, decoding_of_step - 1) / count;
    }
    if (!whole) report.notes.push_back(file.filename().string() + " is cut off: its last row is left out");
    return sums;
}

void count_errors(const Report& report, const std::vector<base::code::ErrorRow>& errors,
                  const base::LongColumn<std::size_t>& treatment_of, std::vector<ProductsUnder>& counts)
{
    PlaceOfStep place_of{report.run.steps.numbers};
    for (const base::code::ErrorRow& error : errors) {
        const std::size_t place = place_of(error.detected_step.value_or(-1));
        if (place < treatment_of.size() && treatment_of[place] != not_used) ++counts[treatment_of[place]].errors;
    }
}

}  // namespace

std::vector<ErrorsOf> errors_by_outcome(const std::vector<base::code::ErrorRow>& errors)
{
    std::map<std::pair<std::string, std::string>, ErrorsOf> found;
    for (const base::code::ErrorRow& error : errors) {
        ErrorsOf& all =
            found.try_emplace({error.site, error.outcome}, ErrorsOf{error.site, error.outcome}).first->second;
        ++all.errors;
        if (!error.injected_ns || !error.detected_ns || !error.detected_step) continue;
        all.steps.push_back(static_cast<double>(*error.detected_step - error.step));
        all.ms.push_back(static_cast<double>(*error.detected_ns - *error.injected_ns) / 1e6);
    }
    std::vector<ErrorsOf> all;
    for (auto& [key, errors_of] : found) all.push_back(std::move(errors_of));
    return all;
}

std::vector<ProductsUnder> products_by_noise(Report& report, const std::filesystem::path& file,
                                             const std::vector<base::code::ErrorRow>& errors)
{
    const base::LongColumn<std::size_t> treatment_of = treatments_of_steps(report);
    std::vector<ProductsUnder> all(report.run.plan.treatments.size());
    const LongTable sums = sums_by_step(report, file, treatment_of, all);
    count_errors(report, errors, treatment_of, all);

    const std::vector<std::string> names(measure_count);  // of no use here
    const Series series =
        job_series(report.run, report.analysis, with_columns(measures_of(report.run.steps).only(1), sums), names);
    const StepsOf steps = steps_of(report.run, report.analysis);
    const Fit means = fit(series, steps);
    const auto only = [&](std::size_t treatment) {
        return Eigen::VectorXd{Eigen::VectorXd::Unit(means.treatments(), static_cast<Eigen::Index>(treatment))};
    };
    for (std::size_t t = 0; t < all.size(); ++t) {
        ProductsUnder& under = all[t];
        const Combination weights = combination(means, only(t), steps.lasting);
        const auto mean = [&](Eigen::Index measure) { return estimate(means, weights, measure, true).value; };
        under.treatment = t;
        under.steps = steps_under(report, t).size();
        under.product_ms = mean(multiplying_of_product);
        under.wait_ms = mean(wait_of_product);
        under.decode_ms = mean(decoding_of_product);
        under.wait_percent = 100.0 * mean(wait_of_step) / mean(step_time);
        under.decode_percent = 100.0 * mean(decoding_of_step) / mean(step_time);
        under.late = mean(late_of_step);
        under.saved_ms = mean(saved_of_step);
        if (t == 0) continue;
        const Combination against_quiet = combination(means, only(t) - only(0), steps.lasting);
        Mean percent = percent_of_quiet(means, against_quiet, wait_of_product, true);
        percent.looks = report.rules.looks;
        const double ms = estimate(means, against_quiet.only(only(0)), step_time, true).value / 100.0;
        const Interval interval = percent.interval(report.verdict.confidence);
        under.more_wait_ms = ms * percent.value;
        under.more = Interval{ms * interval.low, ms * interval.high};
    }
    return all;
}

}  // namespace analysis
