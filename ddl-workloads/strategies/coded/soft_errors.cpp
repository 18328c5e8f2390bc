// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/soft_errors.hpp"

#include "base/cli/cards.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <span>
#include <type_traits>
#include <utility>

namespace ddl {

namespace {

constexpr const char* option_name = "--soft-errors";

const std::vector<base::OptionCard>& option_cards()
{
    static const std::vector<base::OptionCard> cards{
        {"rate", "0", "probability of an error in an operation"},
        {"density", "0.5%", "share of a block's values that an error alters"},
        {"amplitude", "5", "largest change of a value"},
        {"sites", "forward+backward+update", "operations in which errors occur"},
        {"kind", "add", "add a value, or flip a bit"},
        {"seed", "1", "seed"}};
    return cards;
}

std::vector<ErrorSite> parse_sites(const std::string& text_of_sites)
{
    std::vector<ErrorSite> sites;
    for (const std::string& word : base::split(text_of_sites, '+')) {
        const auto known = {ErrorSite::forward, ErrorSite::backward, ErrorSite::update};
        const auto* const found = std::ranges::find(known, word, [](ErrorSite site) { return text(site); });
        if (found == known.end()) base::fail_usage(option_name, ": '", word, "' is not forward, backward or update");
        sites.push_back(*found);
    }
    return sites;
}

}  // namespace

std::string text(ErrorSite site)
{
    return site == ErrorSite::forward ? "forward" : site == ErrorSite::backward ? "backward" : "update";
}

SoftErrorPlan parse_soft_errors(const std::string& text_of_plan)
{
    if (text_of_plan.empty()) return {};
    const base::Settings settings{option_name, option_cards(),
                                  base::parse_plug_in(base::join("errors[", text_of_plan, "]")).options};
    if (!settings.given("rate")) base::fail_usage(option_name, ": give a rate, such as rate=3e-4");
    const std::string& kind = settings.text("kind");
    if (kind != "add" && kind != "bit") base::fail_usage(option_name, ": kind must be add or bit, not ", kind);
    SoftErrorPlan plan{.rate = settings.get<double>("rate"),
                       .density = settings.get<base::Percent>("density").fraction(),
                       .amplitude = settings.get<double>("amplitude"),
                       .flips_bits = kind == "bit",
                       .sites = parse_sites(settings.text("sites")),
                       .seed = settings.get<std::uint64_t>("seed")};
    if (!(plan.rate >= 0.0 && plan.rate <= 1.0)) base::fail_usage(option_name, ": rate must be from 0 to 1");
    if (!(plan.density > 0.0 && plan.density <= 1.0))
        base::fail_usage(option_name, ": density must be more than 0 and at most 100%");
    if (!(plan.amplitude > 0.0)) base::fail_usage(option_name, ": amplitude must be more than 0");
    return plan;
}

SoftErrors::SoftErrors(SoftErrorPlan plan, int rank)
    : plan_{std::move(plan)}, seed_{base::random_stream(plan_.seed, static_cast<std::uint64_t>(rank))()}, random_{seed_}
{
}

void SoftErrors::begin_step(std::int64_t steps_done, int attempt)
{
    constexpr unsigned bits_of_steps = 40;
    random_ = base::random_stream(
        seed_, (static_cast<std::uint64_t>(attempt) << bits_of_steps) + static_cast<std::uint64_t>(steps_done));
}

template <class Value>
std::optional<double> SoftErrors::strike(ErrorSite site, BlockOf<Value>& block)
{
    if (plan_.rate <= 0.0 || std::ranges::find(plan_.sites, site) == plan_.sites.end()) return std::nullopt;
    if (base::draw_unit(random_) >= plan_.rate) return std::nullopt;
    const std::span values = values_of(block);
    const auto count = std::max(1.0, std::round(plan_.density * static_cast<double>(values.size())));
    double largest = 0.0;
    std::set<std::uint64_t> altered_values;  // a value that is drawn twice is altered once
    for (double i = 0.0; i < count; ++i) {
        const std::uint64_t index = base::draw_below(random_, values.size());
        if (!altered_values.insert(index).second) continue;
        Value& value = values[static_cast<std::size_t>(index)];
        const Value was = std::exchange(value, altered(value));
        const double change = std::abs(static_cast<double>(value) - static_cast<double>(was));
        largest = std::isnan(change) ? change : std::max(largest, change);
    }
    return largest;
}

template <class Value>
Value SoftErrors::altered(Value value)
{
    using Bits = std::conditional_t<sizeof(Value) == sizeof(std::uint64_t), std::uint64_t, std::uint32_t>;
    if (plan_.flips_bits)
        return std::bit_cast<Value>(std::bit_cast<Bits>(value) ^
                                    (Bits{1} << base::draw_below(random_, 8 * sizeof(Bits))));
    return value + static_cast<Value>(plan_.amplitude * (2.0 * base::draw_unit(random_) - 1.0));
}

template std::optional<double> SoftErrors::strike(ErrorSite, BlockOf<float>&);
template std::optional<double> SoftErrors::strike(ErrorSite, BlockOf<double>&);

}  // namespace ddl
