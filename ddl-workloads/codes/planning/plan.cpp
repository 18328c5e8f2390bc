// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/codes/planning/plan.hpp"

#include "base/statistics.hpp"
#include "ddl-workloads/codes/code.hpp"
#include "ddl-workloads/codes/planning/passes.hpp"
#include "ddl-workloads/codes/planning/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace ddl {

namespace {

constexpr int operations = 3;  // number per block and iteration: forward, backward, update
constexpr double word_bytes = 4.0;

LayerCode layer_code(const PlanRequest& request, const std::string& name,
                     const std::map<std::string, std::string>& options)
{
    const CodeCard& card = codes().find(name);
    return card.layer(codes().settings(card, options), request.seed);
}

double padded(int length, int parts)
{
    return std::ceil(static_cast<double>(length) / parts);
}

// Words for reducing the terms of each symbol, and for giving the symbols to all ranks.
double words_of(const Pass& pass, int ranks, const PlanRequest& request)
{
    const double segment = padded(request.width, pass.parts) * request.batch;
    return segment * pass.symbols() * ((pass.terms - 1) + (ranks - 1));
}

// The probability of an event, from the logarithm of the probability that it does not happen. Never -0.
double happens(double log_of_not)
{
    return 0.0 - std::expm1(log_of_not);
}

// The probability that some rank errs in an iteration.
double any_error(const PlanRequest& request, int ranks)
{
    return happens(static_cast<double>(ranks) * operations * request.layers * std::log1p(-request.error_rate));
}

// Upper bound of the probability that an iteration rolls back: the forward and the backward check each count all errors
// since their own previous check. None if errors go unnoticed.
std::optional<double> rollback_bound(const PlanRequest& request, const Pass& forward, const Pass& backward, int ranks)
{
    if (forward.spare() == 0 && backward.spare() == 0) return std::nullopt;
    if (forward.spare() <= 1 && backward.spare() <= 1) return any_error(request, ranks);  // nothing is corrected
    const double erred = happens(operations * std::log1p(-request.error_rate));
    double kept = 0.0;  // logarithm
    for (const Pass& pass : {forward, backward})
        if (pass.spare() > 0) kept += std::log1p(-uncorrectable(pass, erred));
    return happens(request.layers * kept);
}

// Time per kept iteration, if a checkpoint is written after every `kept` ones.
double time_of(double kept, double rollback, double iteration_s, const PlanRequest& request)
{
    const double executed = executed_iterations(rollback, kept);
    return (executed * (iteration_s + rollback * request.restart_s) + request.checkpoint_s) / kept;
}

void choose_interval(PlannedScheme& scheme, double iteration_s, const PlanRequest& request)
{
    const double rollback = scheme.rollback.value_or(0.0);
    if (rollback <= 0.0) {
        scheme.kept_iteration_ns = iteration_s * 1e9;
        return;
    }
    constexpr double most = 1e7;
    double interval = 1.0;
    double least = time_of(interval, rollback, iteration_s, request);
    while (interval < most) {
        const double next = time_of(interval + 1.0, rollback, iteration_s, request);
        if (!(next < least)) break;
        least = next;
        interval += 1.0;
    }
    scheme.interval = static_cast<std::int64_t>(interval);
    scheme.kept_iteration_ns = least * 1e9;
    scheme.executed_5 = executed_iterations(rollback, 5.0);
    scheme.executed_10 = executed_iterations(rollback, 10.0);
    scheme.executed_20 = executed_iterations(rollback, 20.0);
    scheme.executed_50 = executed_iterations(rollback, 50.0);
}

// Time of an iteration, including the expected waits. If errors may occur, a pass also waits for a spare symbol,
// provided that the code has one.
double with_waits(const PlannedScheme& scheme, const PlanRequest& request)
{
    const bool checks = request.error_rate > 0.0;
    const double forward = (checks ? scheme.wait_forward_spare : std::nullopt).value_or(*scheme.wait_forward);
    const double backward = (checks ? scheme.wait_backward_spare : std::nullopt).value_or(*scheme.wait_backward);
    return request.iteration_s + request.layers * (forward + backward) * request.late_s;
}

PlannedScheme planned(const PlanRequest& request, const std::string& text, const LayerCode& code)
{
    const Pass forward = forward_pass(code);
    const Pass backward = backward_pass(code);
    PlannedScheme scheme{.scheme = text, .ranks = code.ranks()};
    const double block = padded(request.width, code.grid.rows) * padded(request.width, code.grid.columns);
    scheme.memory_bytes = static_cast<std::int64_t>(request.layers * code.ranks() * block * word_bytes);
    scheme.words_sent = static_cast<std::int64_t>(
        request.layers * (words_of(forward, code.ranks(), request) + words_of(backward, code.ranks(), request)));
    scheme.rollback = rollback_bound(request, forward, backward, code.ranks());
    scheme.unnoticed = scheme.rollback ? 0.0 : any_error(request, code.ranks());
    if (scheme.rollback && request.simulate > 0) {
        const auto iterations = static_cast<double>(request.simulate);
        const auto rollbacks = static_cast<double>(
            simulated_rollbacks(code, request.layers, request.error_rate, request.simulate, request.seed));
        const base::Interval interval = base::wilson(rollbacks, iterations, 0.95);
        scheme.rollback_simulated = rollbacks / iterations;
        scheme.simulated_low = interval.low;
        scheme.simulated_high = interval.high;
    }
    scheme.wait_forward = waiting(forward, request.late, 0);
    scheme.wait_backward = waiting(backward, request.late, 0);
    scheme.wait_forward_spare = waiting(forward, request.late, 1);
    scheme.wait_backward_spare = waiting(backward, request.late, 1);
    choose_interval(scheme, with_waits(scheme, request), request);
    return scheme;
}

// The scheme without redundancy, if each error is detected by other means.
PlannedScheme checkpoint_restart(const PlanRequest& request, PlannedScheme uncoded)
{
    uncoded.scheme = "checkpoint-restart";
    uncoded.rollback = uncoded.unnoticed;
    uncoded.unnoticed = 0.0;
    choose_interval(uncoded, with_waits(uncoded, request), request);
    return uncoded;
}

PlannedScheme planned_spare(const PlanRequest& request)
{
    const int groups = request.grid.blocks();
    const double failures = any_error(request, groups);  // in an iteration
    const double parameters = static_cast<double>(request.layers) * request.width * request.width;
    PlannedScheme scheme{.ranks = groups,
                         .memory_bytes = static_cast<std::int64_t>(groups * parameters * word_bytes),
                         .words_sent = static_cast<std::int64_t>(2.0 * (groups - 1) * parameters)};
    const double every_s = failures > 0.0 ? request.iteration_s / failures : HUGE_VAL;
    const Spare closed = spare(groups, every_s, request.checkpoint_s, request.restart_s);
    scheme.scheme = base::join("spare[r=", closed.redundancy, "]");
    scheme.unnoticed = 0.0;
    const double iteration_s = request.iteration_s * closed.computation;
    scheme.kept_iteration_ns = iteration_s / closed.availability * 1e9;
    if (failures > 0.0) {
        scheme.rollback = failures / closed.endured;
        scheme.interval =
            std::max<std::int64_t>(1, std::llround((closed.interval_s - request.checkpoint_s) / iteration_s));
    }
    return scheme;
}

}  // namespace

double executed_iterations(double rollback, double kept)
{
    if (rollback <= 0.0) return kept;
    return std::expm1(-kept * std::log1p(-rollback)) / rollback;
}

Spare spare(int groups, double failure_every_s, double checkpoint_s, double restart_s)
{
    const double n = groups;
    Spare plan{.redundancy = std::max(1, static_cast<int>(std::floor(std::log2(n) + 0.833)))};
    if (std::isinf(failure_every_s)) return plan;
    const double inverse = 1.0 / plan.redundancy;
    plan.endured = std::tgamma(inverse) * inverse * std::pow(n, 1.0 - inverse);
    const int failures = std::max(1, std::min(groups - 1, static_cast<int>(plan.endured)));
    double computed = 0.0;
    for (int failed = 0; failed < failures; ++failed) computed += std::ceil(n / (n - failed));
    plan.computation = computed / failures;
    const double up_s = plan.endured * failure_every_s;
    plan.interval_s = checkpoint_s + std::sqrt(checkpoint_s * checkpoint_s + 2.0 * checkpoint_s * (up_s + restart_s));
    const double interval = plan.interval_s;
    // Useful time of an interval, divided by its length plus, for each failure, half an interval and a restart.
    plan.availability = interval > 0.0
                            ? (interval - checkpoint_s) / (interval + interval / up_s * (interval / 2.0 + restart_s))
                            : 1.0 / (1.0 + restart_s / up_s);
    return plan;
}

std::vector<PlannedScheme> plan(const PlanRequest& request)
{
    const std::string grid = request.grid.text();
    const std::string wide = Grid{request.grid.rows, 2 * request.grid.columns}.text();
    const auto row = [&](const std::string& name, const std::map<std::string, std::string>& options) {
        std::string text;
        for (const auto& [option, value] : options) text += (text.empty() ? "" : ",") + option + "=" + value;
        return planned(request, name + "[" + text + "]", layer_code(request, name, options));
    };
    std::vector<PlannedScheme> schemes;
    schemes.push_back(row("uncoded", {{"grid", grid}}));
    schemes.push_back(row("uncoded", {{"grid", wide}}));
    schemes.push_back(row("replication", {{"grid", grid}, {"copies", "2"}}));
    schemes.push_back(row("replication", {{"grid", grid}, {"copies", "3"}}));
    schemes.push_back(row("codenet", {{"grid", grid}, {"parity", request.parity.text()}}));
    schemes.push_back(checkpoint_restart(request, schemes.front()));
    schemes.push_back(planned_spare(request));
    return schemes;
}

const std::vector<base::TableColumn<PlannedScheme>>& plan_columns()
{
    using base::table_column;
    using Row = PlannedScheme;
    static const std::vector<base::TableColumn<Row>> all{table_column("scheme", &Row::scheme),
                                                         table_column("ranks", &Row::ranks),
                                                         table_column("memory_bytes", &Row::memory_bytes),
                                                         table_column("words_sent", &Row::words_sent),
                                                         table_column("rollback", &Row::rollback),
                                                         table_column("rollback_simulated", &Row::rollback_simulated),
                                                         table_column("simulated_low", &Row::simulated_low),
                                                         table_column("simulated_high", &Row::simulated_high),
                                                         table_column("unnoticed", &Row::unnoticed),
                                                         table_column("interval", &Row::interval),
                                                         table_column("executed_5", &Row::executed_5),
                                                         table_column("executed_10", &Row::executed_10),
                                                         table_column("executed_20", &Row::executed_20),
                                                         table_column("executed_50", &Row::executed_50),
                                                         table_column("wait_forward", &Row::wait_forward),
                                                         table_column("wait_backward", &Row::wait_backward),
                                                         table_column("wait_forward_spare", &Row::wait_forward_spare),
                                                         table_column("wait_backward_spare", &Row::wait_backward_spare),
                                                         table_column("kept_iteration_ns", &Row::kept_iteration_ns)};
    return all;
}

}  // namespace ddl
