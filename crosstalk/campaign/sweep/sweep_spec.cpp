// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/sweep/sweep_spec.hpp"

#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/spec_keys.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <regex>
#include <set>

namespace crosstalk {

namespace {

constexpr double most_points = 1e6;

bool is_whole(const std::string& number)
{
    return number.find_first_not_of("+-0123456789") == std::string::npos;
}

// Parses "LOW..HIGH [log] [step S]" or a list of values.
SweepParameter sweep_parameter(const std::string& name, const std::string& text)
{
    static const std::regex form{"[A-Za-z][A-Za-z0-9_-]*"};
    static const std::set<std::string> taken{"out",    "trial", "state", "value",    "steps", "begin_ns",
                                             "end_ns", "host",  "cpus",  "retry_of", "counts"};  // columns of sweep.csv
    if (!std::regex_match(name, form) || taken.contains(name))
        base::fail_usage("'", name, "' cannot be the name of a parameter");
    SweepParameter one{.name = name};
    const std::size_t dots = text.find("..");
    if (dots == std::string::npos) {
        one.choices = base::split(text, ',');
        if (one.choices.empty()) base::fail_usage("no value for ", name);
        if (std::find(one.choices.begin(), one.choices.end(), "") != one.choices.end())
            base::fail_usage("the list ", text, " has an empty value");
        return one;
    }
    std::vector<std::string> words = base::split(text.substr(dots + 2), ' ');
    std::erase(words, "");
    if (words.empty()) base::fail_usage("'", text, "' has no end");
    std::vector<std::string> numbers{std::string{base::trim(text.substr(0, dots))}, words.front()};
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i] == "log") {
            one.log = true;
        } else if (words[i] == "step" && i + 1 < words.size()) {
            numbers.push_back(words[++i]);
            one.step = base::parse<double>(words[i]);
            if (!(one.step > 0.0)) base::fail_usage("a step must be positive");
        } else {
            base::fail_usage("'", words[i], "' is neither log nor step S");
        }
    }
    one.low = base::parse<double>(numbers[0]);
    one.high = base::parse<double>(numbers[1]);
    one.whole = std::all_of(numbers.begin(), numbers.end(), is_whole);
    if (!std::isfinite(one.low) || !std::isfinite(one.high) || one.low > one.high)
        base::fail_usage("the range ", text, " is empty");
    if (one.log && one.low <= 0.0) base::fail_usage("a range with log must be above 0");
    if (one.log && one.step > 0.0) base::fail_usage("give only one of log and step");
    return one;
}

SpecKey<SweepSpec> sweep_choice(const std::string& name, std::string SweepSpec::*member,
                                const std::vector<std::string>& known, const std::string& help)
{
    const auto take = [=](SweepSpec& spec, const std::string& text) {
        if (std::find(known.begin(), known.end(), text) == known.end())
            base::fail_usage("'", text, "' is not one of ", base::join_words(known, ", "),
                             base::did_you_mean(text, known));
        spec.*member = text;
    };
    return {name, base::join(base::join_words(known, ", "), ": ", help), take};
}

const SpecKeys<SweepSpec>& sweep_keys()
{
    static const SpecKeys<SweepSpec> all{
        {"kind", "sweep", [](SweepSpec&, const std::string&) {}},
        spec_key("about", &SweepSpec::about, "purpose, as text"),
        spec_key("command", &SweepSpec::command,
                 "command of a trial, without a shell; {NAME} is replaced by a parameter, {trial} by the trial's "
                 "number, {out} by its folder"),
        {"parameter NAME",
         "LOW..HIGH [log] [step S], of whole numbers if both are; or a list: 16, 32, 64",
         {},
         [](SweepSpec& spec, const std::string& name, const std::string& text) {
             spec.parameters.push_back(sweep_parameter(name, text));
         }},
        sweep_choice("sampler", &SweepSpec::sampler, {"grid", "random", "tpe"},
                     "how parameters are chosen (random); tpe needs Optuna"),
        sweep_choice("pruner", &SweepSpec::pruner, {"none", "median", "halving"},
                     "which trials end early (none); others need Optuna"),
        sweep_choice("goal", &SweepSpec::goal, {"minimize", "maximize"},
                     "whether lower or higher values are better (minimize)"),
        spec_key("value", &SweepSpec::value,
                 "KEY of lines KEY=VALUE that a trial prints, or writes to the file $CROSSTALK_SWEEP_RESULT; of "
                 "ddl-train: loss or accuracy (loss)"),
        spec_key("value-line", &SweepSpec::value_line,
                 "alternative to value: regular expression whose group 1, or group 'value', is the value; a group "
                 "'step' is its step"),
        spec_key("trials", &SweepSpec::trials, "number of trials; omit for a grid, which tries all its points"),
        spec_key("workers", &SweepSpec::workers, "concurrent trials on a machine (0: as many as its free cores allow)"),
        spec_key("cores", &SweepSpec::cores, "physical cores of each worker (1)"),
        spec_key("seed", &SweepSpec::seed, "seed of all choices (1)"),
    };
    return all;
}

double points_of(const SweepParameter& one)
{
    if (!one.choices.empty()) return static_cast<double>(one.choices.size());
    if (one.step <= 0.0 && !one.whole) base::fail_usage("a grid needs a list or a step for ", one.name);
    if (one.log) base::fail_usage("a grid needs a list for ", one.name, ", since log has no step");
    return std::floor((one.high - one.low) / (one.step > 0.0 ? one.step : 1.0) + 1e-9) + 1.0;
}

void check_command(const SweepSpec& spec)
{
    std::vector<std::string> names{"trial", "out"};
    for (const SweepParameter& one : spec.parameters) names.push_back(one.name);
    static const std::regex form{"\\{([A-Za-z][A-Za-z0-9_-]*)\\}"};
    std::set<std::string> used;
    for (std::sregex_iterator at{spec.command.begin(), spec.command.end(), form}, end; at != end; ++at) {
        if (at->position() > 0 && spec.command[static_cast<std::size_t>(at->position()) - 1] == '$') continue;
        const std::string name = (*at)[1];
        if (std::find(names.begin(), names.end(), name) == names.end())
            base::fail_usage("the command has {", name, "}, but there is no such parameter",
                             base::did_you_mean(name, names));
        used.insert(name);
    }
    for (const SweepParameter& one : spec.parameters)
        if (!used.contains(one.name))
            base::fail_usage("the command does not use the parameter '", one.name, "': it has no {", one.name, "}");
}

void check_sweep_spec(SweepSpec& spec)
{
    if (spec.command.empty()) base::fail_usage("needs a line command = WORDS");
    if (spec.parameters.empty()) base::fail_usage("needs a line parameter NAME = LOW..HIGH");
    check_command(spec);
    if (spec.sampler == "grid") {
        if (spec.trials != 0) base::fail_usage("a grid tries all its points; omit the line trials");
        double points = 1.0;
        for (const SweepParameter& one : spec.parameters) points *= points_of(one);
        if (points > most_points)
            base::fail_usage("this grid has ", points, " points, more than the limit of ", most_points);
        spec.trials = static_cast<int>(points);
    }
    if (spec.trials < 1) base::fail_usage("needs a line trials = NUMBER");
    if (spec.cores < 1 || spec.workers < 0) base::fail_usage("cores must be 1 or more; workers must be 0 or more");
}

nlohmann::ordered_json json_of(const SweepParameter& one)
{
    nlohmann::ordered_json json;
    json["name"] = one.name;
    json["kind"] = !one.choices.empty() ? "choice" : one.whole ? "int" : "float";
    json["choices"] = one.choices;
    const auto number = [&](double value) {
        return one.whole ? nlohmann::ordered_json(std::llround(value)) : nlohmann::ordered_json(value);
    };
    json["low"] = number(one.low);
    json["high"] = number(one.high);
    json["step"] = one.step > 0.0 ? number(one.step) : nlohmann::ordered_json(nullptr);
    json["log"] = one.log;
    return json;
}

}  // namespace

SweepSpec read_sweep_spec(const std::filesystem::path& file)
{
    return read_spec_of(file, sweep_keys(),
                        [](SweepSpec& spec, const std::set<std::string>&) { check_sweep_spec(spec); });
}

std::string json_of(const SweepSpec& spec)
{
    nlohmann::ordered_json json;
    json["format"] = base::format_version;
    json["command"] = spec.command;
    for (const SweepParameter& one : spec.parameters) json["parameters"].push_back(json_of(one));
    json["sampler"] = spec.sampler;
    json["pruner"] = spec.pruner;
    json["goal"] = spec.goal;
    json["value"] = spec.value;
    json["value_line"] = spec.value_line;
    json["trials"] = spec.trials;
    json["seed"] = spec.seed;
    return base::json_text(json) + "\n";
}

base::Section sweep_spec_section()
{
    return section_of("SPEC.ini of kind = sweep", sweep_keys());
}

}  // namespace crosstalk
