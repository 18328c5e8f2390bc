// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/coded_plan.hpp"

#include "base/error.hpp"
#include "ddl-workloads/codes/code.hpp"
#include "ddl-workloads/codes/options.hpp"
#include "ddl-workloads/codes/symbol_groups.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

namespace ddl {

namespace {

const CodeCard& card_of(const base::Settings& settings)
{
    return codes().find(settings.text("code"));
}

// Throws UsageError for an option of another code.
base::Settings settings_of_code(const base::Settings& settings)
{
    std::map<std::string, std::string> given;
    for (const base::OptionCard* option :
         {&grid_option, &parity_option, &copies_option, &t_option, &s_option, &columns_option, &points_option})
        if (settings.given(option->name)) given[option->name] = settings.text(option->name);
    return codes().settings(card_of(settings), given);
}

CodePrecision precision_of(const base::Settings& settings)
{
    const std::string& check = settings.text("check");
    if (check != "fp32" && check != "fp64") base::fail_usage("coded[check=", check, "]: fp32 or fp64");
    return check == "fp64" ? CodePrecision::fp64 : CodePrecision::fp32;
}

// Throws UsageError for a code that its precision cannot decode.
void check_precision(const base::Settings& settings, const ProductCode& code)
{
    if (precision_of(settings) == CodePrecision::fp32) check_single_precision(code);
}

std::int64_t refresh_of(const base::Settings& settings)
{
    const auto refresh = settings.get<std::int64_t>("refresh");
    if (refresh < 1) base::fail_usage("coded[refresh=", refresh, "]: refresh must be at least 1");
    return refresh;
}

// The symbols beyond those needed that every product of the code has.
int spare_symbols(const LayerCode& code)
{
    int least = std::numeric_limits<int>::max();
    for (const Matrix* generator : {&code.rows, &code.columns})
        for (const SymbolGroup& group : symbol_groups(*generator, 1)) least = std::min(least, group.spare());
    return least;
}

// None: late=wait.
std::optional<LatePlan> late_of(const base::Settings& settings)
{
    const std::string& late = settings.text("late");
    if (late != "wait" && late != "skip") base::fail_usage("coded[late=", late, "]: late must be wait or skip");
    if (late == "wait") {
        for (const char* option : {"spare", "lag"})
            if (settings.given(option)) base::fail_usage("coded[", option, "=..] needs late=skip");
        return std::nullopt;
    }
    const LatePlan plan{.spare = settings.get<int>("spare"), .lag = settings.get<std::int64_t>("lag")};
    if (plan.spare < 0) base::fail_usage("coded[spare=", plan.spare, "]: spare must not be negative");
    if (plan.lag < 1) base::fail_usage("coded[lag=", plan.lag, "]: lag must be at least 1");
    return plan;
}

// Throws UsageError for late=skip if no symbol of a product could be skipped.
void check_spare(const base::Settings& settings, int most)
{
    const std::optional<LatePlan> late = late_of(settings);
    if (late && late->spare >= most)
        base::fail_usage("coded[late=skip,spare=", late->spare, "] skips no symbol: a product needs all but ", most,
                         " of its symbols");
}

WeightsPlan weights_plan(const StrategyParts& parts)
{
    WeightsPlan plan{.code = card_of(parts.settings).layer(settings_of_code(parts.settings), parts.seed),
                     .optimizer = parts.optimizer,
                     .reencode = parts.settings.get<bool>("reencode")};
    if (plan.optimizer.name != "sgd" && !plan.reencode)
        base::fail_usage("--strategy coded needs --optimizer sgd: a step of ", plan.optimizer.name,
                         " does not keep the code, unless coded[reencode=yes] encodes the blocks again after it");
    if (plan.code.ranks() != parts.exchanges.size())
        base::fail_usage("--strategy coded: this code and grid take ", plan.code.ranks(), " ranks, not ",
                         parts.exchanges.size());
    return plan;
}

ProductCode product_code(const StrategyParts& parts)
{
    ProductCode code = card_of(parts.settings).product(settings_of_code(parts.settings), parts.exchanges.size());
    check_precision(parts.settings, code);
    check_spare(parts.settings, code.ranks() - code.threshold());
    return code;
}

// None: "auto".
std::optional<double> threshold_of(const base::Settings& settings)
{
    if (settings.text("threshold") == "auto") return std::nullopt;
    const auto threshold = settings.get<double>("threshold");
    if (!(threshold > 0.0)) base::fail_usage("coded[threshold=..] must be auto or more than 0");
    return threshold;
}

}  // namespace

StrategyPlan parse_coded(const StrategyParts& parts)
{
    const CodedPlan products{.threshold = threshold_of(parts.settings),
                             .precision = precision_of(parts.settings),
                             .errors = parse_soft_errors(parts.soft_errors),
                             .late = late_of(parts.settings),
                             .refresh = refresh_of(parts.settings),
                             .directory = parts.directory};
    if (card_of(parts.settings).layer == nullptr) return {.code = product_code(parts), .products = products};
    return {.code = weights_plan(parts), .products = products};
}

base::Capabilities coded_needs(const base::Settings& settings)
{
    late_of(settings);
    refresh_of(settings);
    threshold_of(settings);
    precision_of(settings);
    const base::Settings of_code = settings_of_code(settings);
    if (card_of(settings).layer == nullptr) {
        check_precision(settings, card_of(settings).product(of_code, 0));
        return base::Capabilities{&single_product, &messages};
    }
    check_spare(settings, spare_symbols(card_of(settings).layer(of_code, 1)));
    return base::Capabilities{&dense_layers, &messages};
}

}  // namespace ddl
