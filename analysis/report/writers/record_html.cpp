// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/record_html.hpp"

#include "analysis/report/writers/html_text.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/record.hpp"
#include "base/contract/factor_name.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace analysis {

namespace {

using RecordJson = nlohmann::ordered_json;

// A member of a record, named for readers: "processor", "AMD EPYC 9654".
struct Fact {
    std::string name;
    std::string value;
};

// Work at a level that the noise process recorded, as text; empty where it did not record any.
struct LevelDone {
    std::string factor;
    std::string level;
    std::string stressor;
    std::string slots;
    std::string moved;       // "3.21 GB/s"
    std::string operations;  // "120.00 /s"
};

// A value of a record as text, whatever its type.
std::string shown(const RecordJson& json, const std::string& key)
{
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) return "";
    if (found->is_string()) return found->get<std::string>();
    const auto plain = [](const RecordJson& one) {
        return one.is_string() ? one.get<std::string>() : base::json_text(one, base::one_line);
    };
    std::vector<std::string> parts;
    if (found->is_array())
        for (const auto& word : *found) parts.push_back(base::shell_word(plain(word)));
    else if (found->is_object())
        for (const auto& [name, value] : found->items()) parts.push_back(name + "=" + base::shell_word(plain(value)));
    else
        return plain(*found);
    return base::join_words(parts, " ");
}

// A member of the record, or of its member "training", as text.
std::string shown_anywhere(const RecordJson& record, const std::string& key)
{
    std::string value = shown(record, key);
    if (!value.empty()) return value;
    const auto training = record.find("training");
    return training != record.end() && training->is_object() ? shown(*training, key) : "";
}

// Formats a rate in `unit`; empty if it is zero.
std::string speed(double per_s, double unit, const std::string& name)
{
    return per_s > 0.0 ? fixed(per_s / unit, 2) + name : "";
}

std::vector<Fact> facts(const RecordJson& record)
{
    constexpr std::size_t longest = 2000;
    const std::vector<std::pair<std::string, std::string>> wanted{{"command_line", "command"},
                                                                  {"host", "host"},
                                                                  {"cpu_model", "processor"},
                                                                  {"cpus", "CPUs used"},
                                                                  {"kernel", "kernel"},
                                                                  {"started", "started"},
                                                                  {"ranks", "processes"},
                                                                  {"model", "model"},
                                                                  {"data", "data"},
                                                                  {"strategy", "strategy"},
                                                                  {"batch", "batch"},
                                                                  {"transport", "transport"},
                                                                  {"schedule", "schedule"},
                                                                  {"seed", "seed"},
                                                                  {"avoided_cpus", "CPUs avoided"},
                                                                  {"clock_identity", "clock"},
                                                                  {"environment", "environment"},
                                                                  {"version", "Crosstalk"},
                                                                  {"git_revision", "revision"}};
    std::vector<Fact> all;
    for (const auto& [key, name] : wanted) {
        const std::string value = shown_anywhere(record, key);
        if (!value.empty() && value != "{}") all.push_back({name, value.substr(0, longest)});
    }
    return all;
}

std::vector<LevelDone> levels_done(const RecordJson& record)
{
    std::vector<LevelDone> all;
    for (const RecordJson& level : list_in(record, "factor_levels")) {
        if (!level.is_object()) continue;
        const double bytes_per_s = dose_in(level, "bytes");
        const double operations_per_s = dose_in(level, "operations");
        all.push_back({shown(level, "factor"), shown(level, "level"), shown(level, "stressor"), shown(level, "slots"),
                       speed(bytes_per_s, 1e9, " GB/s"), speed(operations_per_s, 1.0, " /s")});
    }
    return all;
}

}  // namespace

std::string record_html(const Record& record)
{
    const std::string host = word(record.json, "host");
    const std::string title = fill("<h3>{}</h3>\n", {escape(record.what + (host.empty() ? "" : " on " + host))});
    if (!record.json.is_object())
        return title +
               fill("<p class=\"small\">No record was found next to {}.</p>\n", {escape(record.archive.string())});
    std::vector<std::vector<Cell>> levels;
    for (const LevelDone& level : levels_done(record.json))
        levels.push_back({words(base::factor_name(level.factor, level.level)), words(level.stressor),
                          number(level.slots), number(level.moved), number(level.operations)});
    const std::vector<std::string> head{"Noise", "stressor", "times on", "moved while on", "operations while on"};
    return title + facts_table(record.json) + (levels.empty() ? "" : dense(table(head, levels)));
}

std::string facts_table(const nlohmann::ordered_json& record)
{
    std::vector<std::vector<Cell>> rows;
    for (const Fact& fact : facts(record))
        rows.push_back({words(fact.name, "key"), {fill("<code>{}</code>", {escape(fact.value)}), ""}});
    return dense(table({}, rows));
}

std::string made_by(const nlohmann::ordered_json& own_record, const std::vector<std::string>& files)
{
    return fill("<p class=\"small\">Made by Crosstalk {} ({}). Beside this page: {}.</p>\n",
                {escape(word(own_record, "version")), escape(word(own_record, "git_revision")), links(files)});
}

}  // namespace analysis
