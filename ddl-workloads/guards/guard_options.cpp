// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/guards/guard_options.hpp"

#include "base/cli/option_checks.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ddl {

namespace {

constexpr std::array reactions{std::pair{Reaction::report, "report"}, std::pair{Reaction::stop, "stop"},
                               std::pair{Reaction::repair, "repair"}, std::pair{Reaction::rollback, "rollback"}};

// Parses NAME, NAME=VALUE (value of the first option), or NAME[option=value,..].
base::PlugInText parse_guard(const std::string& text)
{
    const std::size_t equals = text.find('=');
    const bool short_form = equals != std::string::npos && text.find('[') > equals;
    base::PlugInText guard = base::parse_plug_in(short_form ? text.substr(0, equals) : text);
    const GuardCard& card = guard_registry().find(guard.name);
    if (short_form && card.options.empty()) base::fail_usage("--guard ", text, ": ", card.name, " takes no value");
    if (short_form) guard.options[card.options.front().name] = text.substr(equals + 1);
    card.make(guard_registry().settings(card, guard.options));
    return guard;
}

}  // namespace

bool GuardPlan::has(const std::string& guard) const
{
    return std::any_of(guards.begin(), guards.end(), [&](const auto& one) { return one.name == guard; });
}

bool GuardPlan::compares_ranks() const
{
    return std::any_of(guards.begin(), guards.end(), [](const base::PlugInText& one) {
        return guard_registry().find(one.name).looks_at == LooksAt::ranks;
    });
}

std::string text(Reaction reaction)
{
    for (const auto& [of, word] : reactions)
        if (of == reaction) return word;
    return {};
}

void parse_guards(const std::string& guards, GuardPlan& plan)
{
    plan.text = guards;
    plan.guards.clear();
    for (const std::string& one : base::split(guards, ',')) {
        base::PlugInText guard = parse_guard(one);
        if (plan.has(guard.name)) base::fail_usage("--guard ", guards, ": ", guard.name, " is given twice");
        plan.guards.push_back(std::move(guard));
    }
    if (plan.compares_ranks() && plan.replicas_every == 0) plan.replicas_every = 1;
}

void parse_reaction(const std::string& reaction, GuardPlan& plan)
{
    const std::size_t equals = reaction.find('=');
    const std::string word = reaction.substr(0, equals);
    const auto found =
        std::find_if(reactions.begin(), reactions.end(), [&](const auto& one) { return one.second == word; });
    std::vector<std::string> words;
    for (const auto& one : reactions) words.emplace_back(one.second);
    if (found == reactions.end())
        base::fail_usage("--on-guard ", reaction, " is not one of ", base::join_words(words, ", "),
                         base::did_you_mean(word, words));
    plan.reaction = found->first;
    if (equals == std::string::npos) return;
    if (plan.reaction != Reaction::rollback) base::fail_usage("--on-guard ", reaction, ": ", word, " takes no value");
    plan.copy_every = base::parsed<std::int64_t>("--on-guard rollback", reaction.substr(equals + 1));
    base::check_at_least<std::int64_t>(1, plan.copy_every, "--on-guard rollback");
}

GuardPlan parse_trial_guard(const std::string& text)
{
    GuardPlan plan;
    if (text.empty() || text == "none") return plan;
    const std::size_t colon = text.find(':');
    std::string guards = text.substr(0, colon);
    std::replace(guards.begin(), guards.end(), '+', ',');
    parse_guards(guards, plan);
    parse_reaction(colon == std::string::npos ? "report" : text.substr(colon + 1), plan);
    if (plan.reaction == Reaction::stop) base::fail_usage("guard ", text, ": stop is not for trials; use report");
    return plan;
}

void add_guard_options(base::Options& options, GuardPlan& plan)
{
    options.add_word("guard", "",
                     "checks of state and gradients: range=2,norm=10x,checksum,replicas (--list shows all)", "GUARDS");
    options.add_word(
        "on-guard", "report",
        "action when a guard fires: report, stop (exit code 3), repair (from a sound rank, else by clipping) or "
        "rollback=STEPS (to a copy in memory, taken every STEPS steps)",
        "HOW");
    options.add("replicas-every", plan.replicas_every,
                "compare the state of the ranks every N steps (divergence.csv); 0: never", "NUMBER");
    options.add("golden", plan.golden, "compare with the checkpoints of this unaltered training (propagation.csv)",
                "DIR");
    options.then([&options, &plan] {
        base::check_at_least<std::int64_t>(0, plan.replicas_every, "--replicas-every");
        parse_guards(options.text("guard"), plan);
        parse_reaction(options.text("on-guard"), plan);
        if (options.given("on-guard") && plan.guards.empty())
            base::fail_usage("--on-guard ", options.text("on-guard"), ": needs --guard");
    });
}

}  // namespace ddl
