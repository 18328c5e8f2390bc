#include "jobscripts/campaign/trials/trial_names.hpp"

#include "base/error.hpp"
#include "base/words.hpp"
#include "jobscripts/run/programs.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace crosstalk {

namespace {

// "mlp" of mlp[hidden=32], "range" of range=2.
std::string name_of(const std::string& word)
{
    return std::string{base::trim(word.substr(0, word.find_first_of("[=")))};
}

// The guards of "range=2+norm:rollback=10"; of "none" none.
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

}  // namespace

std::string unknown_name_in(const TrialSpec& spec)
{
    const Answer answer = answer_of({program("ddl-train"), "--list", "--json"}, Errors::as_ours);
    if (answer.code != base::exit_fine) base::fail("ddl-train --list failed");
    const nlohmann::json listed = nlohmann::json::parse(answer.text);
    std::string why = unknown(listed.at("models"), "model", spec.model);
    for (const std::string& strategy : spec.strategies)
        if (why.empty()) why = unknown(listed.at("strategies"), "strategy", strategy);
    for (const std::string& words : spec.guards)
        for (const std::string& guard : guards_of(words))
            if (why.empty()) why = unknown(listed.at("guards"), "guard", guard);
    return why;
}

}  // namespace crosstalk
