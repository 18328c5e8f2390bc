// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/trials/trial_names.hpp"

#include "base/cli/cards.hpp"
#include "base/error.hpp"
#include "base/words.hpp"
#include "crosstalk/programs/programs.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace crosstalk {

namespace {

// The name in a word: "mlp" in mlp[hidden=32], "range" in range=2.
std::string name_of(const std::string& word)
{
    return std::string{base::trim(word.substr(0, word.find_first_of("[=")))};
}

// The guards in "range=2+norm:rollback=10"; empty for "none".
std::vector<std::string> guards_of(const std::string& words)
{
    if (words == "none") return {};
    return base::split(words.substr(0, words.find(':')), '+');
}

std::string unknown(const nlohmann::json& listed, const char* kind, const std::string& word)
{
    std::vector<std::string> known;
    for (const nlohmann::json& one : listed) known.push_back(one.at("name").get<std::string>());
    const std::string name = name_of(word);
    if (std::find(known.begin(), known.end(), name) != known.end()) return {};
    return base::join("no ", kind, " '", name, "'", base::did_you_mean(name, known));
}

nlohmann::json list_of(const std::string& name)
{
    const Answer answer = answer_of({program(name), "--list", "--json"}, Errors::as_ours);
    if (answer.code != base::exit_fine) base::fail(name, " --list failed");
    return nlohmann::json::parse(answer.text);
}

std::string unknown_training(const nlohmann::json& listed, const std::vector<std::string>& models,
                             const std::vector<std::string>& strategies)
{
    std::string why;
    for (const std::string& model : models)
        if (why.empty()) why = unknown(listed.at("models"), "model", model);
    for (const std::string& strategy : strategies)
        if (why.empty()) why = unknown(listed.at("strategies"), "strategy", strategy);
    return why;
}

// noisegen's stressors, with the names of their options.
std::vector<base::CardText> listed_stressors()
{
    const nlohmann::json all = list_of("noisegen");
    std::vector<base::CardText> cards;
    for (const nlohmann::json& stressor : all.at("stressors")) {
        base::CardText& card = cards.emplace_back();
        card.name = stressor.at("name").get<std::string>();
        for (const nlohmann::json& option : stressor.at("options"))
            card.options.push_back({option.at("name").get<std::string>(), {}, {}});
    }
    return cards;
}

// The stressors of steady and of designed runs, each with its options: those in "rotation(a, b[rate=1/s]; slot=1s)".
std::vector<std::string> stressors_in(const Spec& spec)
{
    std::vector<std::string> all = spec.noise;
    for (const std::string& schedule : spec.designed) {
        const std::size_t begin = schedule.find('(') + 1;
        const std::size_t end = std::min(schedule.find(';'), schedule.rfind(')'));
        const std::vector<std::string> of_schedule = base::split(schedule.substr(begin, end - begin), ',');
        all.insert(all.end(), of_schedule.begin(), of_schedule.end());
    }
    return all;
}

}  // namespace

void check_stressors(const Spec& spec)
{
    const std::vector<base::CardText> cards = listed_stressors();
    std::vector<const base::CardText*> known;
    for (const base::CardText& card : cards) known.push_back(&card);
    const base::Registry<base::CardText> stressors{"stressor", "noisegen", known};
    for (const std::string& text : stressors_in(spec)) {
        const base::PlugInText stressor = base::parse_plug_in(text);
        stressors.settings(stressors.find(stressor.name), stressor.options);
    }
}

std::string unknown_name_in(const Spec& spec)
{
    if (!spec.command.empty()) return {};
    return unknown_training(list_of("ddl-train"), spec.models, spec.strategies);
}

std::string unknown_name_in(const TrialSpec& spec)
{
    const nlohmann::json listed = list_of("ddl-train");
    std::string why = unknown_training(listed, {spec.model}, spec.strategies);
    for (const std::string& words : spec.guards)
        for (const std::string& guard : guards_of(words))
            if (why.empty()) why = unknown(listed.at("guards"), "guard", guard);
    return why;
}

}  // namespace crosstalk
