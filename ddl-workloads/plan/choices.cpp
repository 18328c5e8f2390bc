// SPDX-License-Identifier: Apache-2.0
#include "base/cli/capabilities.hpp"
#include "ddl-workloads/plan/plan.hpp"

#include <algorithm>

namespace ddl {

namespace {

template <class Card>
std::vector<base::Choice> alternatives(const std::string& option, const base::Registry<Card>& registry)
{
    std::vector<base::Choice> all;
    for (const Card* card : registry.cards()) all.push_back({.text = option + card->name, .offers = card->offers});
    return all;
}

base::Choice chosen_strategy(const std::string& text)
{
    const base::PlugInText given = base::parse_plug_in(text);
    const StrategyCard& card = strategies().find(given.name);
    return {.text = "--strategy " + text,
            .offers = card.offers,
            .needs = card.needs(strategies().settings(card, given.options))};
}

base::Choice chosen_transport(const std::string& text)
{
    const TransportCard& card = transports().find(base::parse_plug_in(text).name);
    return {.text = "--transport " + text, .offers = card.offers, .needs = card.needs};
}

base::Choice chosen_device(const DevicePlan& device)
{
    base::Choice choice{.text = "--device " + text(device)};
    if (device.kind == DeviceKind::cuda) choice.offers = {&gpu};
    if (device.kind != DeviceKind::cpu) choice.needs = {&device_choice};
    return choice;
}

template <class Is>
bool alters(const TrainingPlan& plan, const Is& is)
{
    return std::ranges::any_of(plan.alterations, [&](const LiveAlteration& alteration) {
        return std::ranges::any_of(alteration.injections, is, &soft_errors::Injection::path);
    });
}

std::vector<base::Choice> choices(const TrainingPlan& plan, const base::Registry<ModelCard>& models)
{
    std::vector<base::Choice> all{
        {.text = "--model " + plan.model, .offers = models.find(base::parse_plug_in(plan.model).name).offers},
        chosen_strategy(plan.strategy),
        chosen_transport(plan.transport),
        chosen_device(plan.device),
        {.text = "--checkpoint-format " + plan.checkpoint.format,
         .offers = checkpoint_formats().find(plan.checkpoint.format).offers}};
    const auto add = [&](bool given, const std::string& option, const base::Capability& needed) {
        if (given) all.push_back({.text = option, .needs = {&needed}});
    };
    add(plan.progress_given, "--progress", progress_policy);
    add(plan.device.graphs, "--cuda-graphs", exchange_after_backward);
    add(plan.ends.until_loss.has_value(), "--until-loss", learning);
    add(plan.ends.until_accuracy.has_value(), "--until-accuracy", learning);
    add(plan.checkpoint.gzip > 0, base::join("--checkpoint-compress gzip=", plan.checkpoint.gzip), compressing);
    add(plan.guards.compares_ranks(), "--guard replicas", equal_ranks);
    add(plan.guards.replicas_every > 0, "--replicas-every", equal_ranks);
    add(!plan.soft_errors.empty(), "--soft-errors", soft_errors_of_blocks);
    add(plan.store.on(), "--store", whole_weights);
    add(!plan.guards.guards.empty(), "--guard", whole_weights);
    add(!plan.guards.golden.empty(), "--golden", whole_weights);
    add(!plan.trials.empty(), "--trials", whole_weights);
    add(alters(plan, [](const std::string& path) { return path.starts_with("mean/"); }), "--alter of mean/",
        whole_means);
    add(alters(plan, is_of_products), "--alter of activation/, product/ or decoded/", soft_errors_of_blocks);
    return all;
}

}  // namespace

int ranks_of_samples(const TrainingPlan& plan, int ranks)
{
    const StrategyCard& card = strategies().find(base::parse_plug_in(plan.strategy).name);
    return base::contains(card.offers, same_samples) ? 1 : ranks;
}

void check_choices(const TrainingPlan& plan, const base::Registry<ModelCard>& models)
{
    std::vector<base::Choice> others = alternatives("--model ", models);
    for (const auto& more : {alternatives("--strategy ", strategies()), alternatives("--transport ", transports()),
                             alternatives("--checkpoint-format ", checkpoint_formats())})
        others.insert(others.end(), more.begin(), more.end());
    base::check_needs(choices(plan, models), others);
}

}  // namespace ddl
