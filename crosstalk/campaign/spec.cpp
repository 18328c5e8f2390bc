// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/spec.hpp"

#include "base/cli/cards.hpp"
#include "base/contract/run_words.hpp"
#include "base/error.hpp"
#include "base/system/cpus.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/spec_keys.hpp"

#include <algorithm>
#include <set>

namespace crosstalk {

namespace {

SpecKey<Spec> ranks_key()
{
    return {"ranks", "number(s) of ranks (2)", [](Spec& spec, const std::string& text) {
                spec.ranks.clear();
                for (const std::string& word : base::split(text, ',')) spec.ranks.push_back(base::parse<int>(word));
            }};
}

const SpecKeys<Spec>& keys()
{
    static const SpecKeys<Spec> all{
        {"kind", "noise (noise)", [](Spec&, const std::string&) {}},
        spec_key("about", &Spec::about, "purpose, as text"),
        spec_key("models", &Spec::models, "models of ddl-train, such as resnet18[width=32]"),
        spec_key("data", &Spec::data, "its input (synthetic)"),
        spec_key("strategies", &Spec::strategies, "how ranks exchange gradients (ddp)"),
        ranks_key(),
        spec_key(
            "options", &Spec::options,
            "more options of ddl-train; each value of a list gives a separate training: --checkpoint-format hdf5|raw"),
        spec_key("command", &Spec::command, "your own job, instead of models"),
        spec_key("step-line", &Spec::step_line, "how its steps are found, as in crosstalk run"),
        spec_key("step-from", &Spec::step_from, "the same"),
        spec_key("step-region", &Spec::step_region, "the same"),
        spec_key("noise", &Spec::noise, "stressors, optionally with levels: memory.stream[rate=1GiB/s|4GiB/s]"),
        spec_key("cores", &Spec::cores, "number(s) of noise cores, or all (all)"),
        spec_key("designed", &Spec::designed, "schedules of designed runs: rotation(memory.stream, placebo, ..)"),
        spec_key("evidence", &Spec::evidence,
                 "evidence of designed runs, as in crosstalk run: auto, cheap or off (auto)"),
        spec_key("cpus", &Spec::cpus, "CPUs of the training, as in crosstalk run"),
        spec_key("noise-cpus", &Spec::noise_cpus, "CPUs of the noise"),
        spec_key("nodes", &Spec::nodes, "nodes per run, with equal CPUs; more than one needs Slurm (1)"),
        spec_key("repetitions", &Spec::repetitions, "blocks per training (5)"),
        spec_key("quiet", &Spec::quiet, "runs without noise in a block (1)"),
        spec_key("duration", &Spec::duration, "length of each training (60s)"),
        spec_key("wait", &Spec::wait, "maximum of the random delay from noise to training start (2s)"),
        spec_key("start-within", &Spec::start_within, "a training without a step for this time has failed (2m)"),
        spec_key("warmup", &Spec::warmup, "steps left out at the start (10)"),
        spec_key("seed", &Spec::seed, "seed of all random orders (1)"),
        spec_key("budget", &Spec::budget, "acceptable slowdown of a step (1%)"),
    };
    return all;
}

void check_numbers(const Spec& spec)
{
    static constexpr int most = 10'000;
    const auto within = [](const char* name, int least, int value) {
        if (value < least || value > most) base::fail_usage(name, " must be from ", least, " to ", most);
    };
    within("nodes", 1, spec.nodes);
    within("repetitions", 1, spec.repetitions);
    within("quiet", 1, spec.quiet);
    within("warmup", 0, spec.warmup);
    for (const int ranks : spec.ranks) {
        within("ranks", 1, ranks);
        if (ranks % spec.nodes != 0)
            base::fail_usage(ranks, " ranks cannot be divided evenly over ", spec.nodes, " nodes");
    }
    if (spec.nodes > 1 && !spec.command.empty())
        base::fail_usage("nodes: a command runs on one node only; with more nodes, give models instead");
    for (const std::string& cores : spec.cores)
        if (cores != "all") within("cores", 1, base::parse<int>(cores));
    if (spec.duration < std::chrono::seconds{1}) base::fail_usage("duration must be at least 1s");
    if (spec.wait.count() < 0) base::fail_usage("wait must not be negative");
    if (base::parse<base::Percent>(spec.budget).value <= 0.0) base::fail_usage("budget must be more than 0%");
}

void check(const Spec& spec)
{
    if (spec.models.empty() == spec.command.empty())
        base::fail_usage("needs either models (of ddl-train) or a command");
    if (spec.noise.empty() && spec.designed.empty()) base::fail_usage("needs noise, or designed runs");
    for (const auto* list : {&spec.strategies, &spec.cores})
        if (list->empty()) base::fail_usage("strategies and cores must not be empty");
    for (const auto& [name, list] :
         {std::pair{"models", &spec.models}, std::pair{"strategies", &spec.strategies}, std::pair{"noise", &spec.noise},
          std::pair{"cores", &spec.cores}, std::pair{"designed", &spec.designed}})
        if (std::find(list->begin(), list->end(), "") != list->end())
            base::fail_usage(name, ": empty item next to a comma");
    if (spec.ranks.empty()) base::fail_usage("ranks must not be empty");
    for (const std::string& stressor : spec.noise) base::parse_plug_in(stressor);
    for (const std::string& word : base::split(spec.options, ' '))
        if (word.starts_with('|') || word.ends_with('|') || word.find("||") != std::string::npos)
            base::fail_usage("options: empty value in '", word, "'");
    for (const std::string& schedule : spec.designed)
        if (!schedule.starts_with("rotation(") && !schedule.starts_with("factorial("))
            base::fail_usage("designed: '", schedule, "' is neither rotation(..) nor factorial(..)");
    for (const std::string* list : {&spec.cpus, &spec.noise_cpus})
        if (!list->empty()) base::parse_cpus(*list);
    check_numbers(spec);
    const std::set<std::string> known{base::evidence_word::by_rights, base::evidence_word::cheap,
                                      base::evidence_word::off};
    if (!known.contains(spec.evidence))
        base::fail_usage("evidence must be auto, cheap or off, not '", spec.evidence, "'");
}

// Refuses keys that would be ignored.
void check_kind(const Spec& spec, const std::set<std::string>& given)
{
    if (spec.command.empty()) {
        for (const char* name : {"step-line", "step-from", "step-region"})
            if (given.contains(name)) base::fail_usage(name, " needs a command; ddl-train records its own steps");
    } else {
        for (const char* name : {"data", "strategies", "ranks", "options"})
            if (given.contains(name))
                base::fail_usage(name, " needs models; a command is given complete: mpirun -n 4 ./mine");
    }
}

}  // namespace

Spec read_spec(const std::filesystem::path& file)
{
    const auto check_all = [](const Spec& spec, const std::set<std::string>& given) {
        check(spec);
        check_kind(spec, given);
    };
    Spec spec;
    spec.cores = {"all"};
    return read_spec_of(file, keys(), check_all, spec);
}

OptionChoices choices_of(const std::string& options)
{
    std::vector<std::string> words = base::split(options, ' ');
    std::erase(words, "");
    OptionChoices all;
    const auto append = [](std::string& text, const std::string& word) {
        text += (text.empty() || word.empty() ? "" : " ") + word;
    };
    const auto is_list = [&](std::size_t i) { return i < words.size() && words[i].find('|') != std::string::npos; };
    const auto is_name = [&](std::size_t i) { return words[i].starts_with("--") && !is_list(i); };
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (!is_list(i)) {
            const bool value_is_list = is_name(i) && is_list(i + 1) && !words[i + 1].starts_with("--");
            if (!value_is_list) append(all.common, words[i]);
            continue;
        }
        std::string name = i > 0 && is_name(i - 1) ? words[i - 1] + " " : "";
        std::string values = words[i];
        if (values.starts_with("--")) {  // --name=a|b
            const std::size_t end = values.find('=') < values.find('|') ? values.find('=') + 1 : 0;
            name = values.substr(0, end);
            values = values.substr(end);
        }
        std::vector<std::string> more;
        for (const std::string& combination : all.combinations)
            for (const std::string& value : base::split(values, '|')) {
                more.push_back(combination);
                append(more.back(), name + value);
            }
        all.combinations = std::move(more);
    }
    return all;
}

base::Section spec_section()
{
    return section_of("SPEC.ini: one line NAME = VALUE per setting; # begins a comment", keys());
}

}  // namespace crosstalk
