// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/settings.hpp"

#include "base/cli/option_checks.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/run_words.hpp"
#include "base/contract/verdict_words.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <vector>

namespace analysis {

namespace {

const std::vector<std::string>& failing = base::verdict_word::failing;

// Parses a percentage. A number without % is in percent; below the least percentage it is a share: 0.9 is 90 %.
base::Percent percent(const char* option, const std::string& text, double least_percent)
{
    const std::string_view number = base::trim(text);
    const bool bare = !number.empty() && number.find_first_not_of("0123456789.") == std::string_view::npos;
    if (!bare) return base::parsed<base::Percent>(option, text);
    const auto value = base::parsed<double>(option, std::string{number});
    return {value < least_percent ? 100.0 * value : value};
}

void read_warm_up(Settings& settings)
{
    const std::string& text = settings.warm_up_text;
    settings.warm_up_until_noise = text == base::warm_up_until_noise;
    if (settings.warm_up_until_noise) return;
    if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos)
        settings.warm_up = base::parse<std::int64_t>(text);
    else
        settings.warm_up_time = base::parse<base::Nanoseconds>(text);
    if (settings.warm_up_time.count() < 0) base::fail_usage("--warmup must not be negative: ", text);
}

}  // namespace

std::int64_t warm_up_steps(const Settings& settings, const DesignedRun& run)
{
    if (!settings.warm_up_until_noise || run.slots.empty() || run.slots.front().empty())
        return warm_up_steps(settings, run.steps);
    const base::LongColumn<std::int64_t>& end_ns = run.steps.ranks.front().end_ns;
    const auto during =
        std::upper_bound(end_ns.begin(), end_ns.end(), run.slots.front().front().begin_ns);  // first to end later
    return std::max<std::int64_t>(settings.warm_up, during - end_ns.begin());
}

std::int64_t warm_up_steps(const Settings& settings, const StepTable& steps)
{
    if (settings.warm_up_time.count() == 0) return settings.warm_up;
    const base::LongColumn<std::int64_t>& begin_ns = steps.ranks.front().begin_ns;
    return std::lower_bound(begin_ns.begin(), begin_ns.end(), begin_ns.front() + settings.warm_up_time.count()) -
           begin_ns.begin();
}

void add_common(base::Options& options, Settings& settings)
{
    options.add("budget", settings.budget_text, "acceptable slowdown of a step", "PERCENT");
    options.add(
        "warmup", settings.warm_up_text,
        "warm-up to exclude: a number of steps, a time from the first step such as 5s, or noise (steps before noise "
        "begins, at least ten)",
        "STEPS|TIME|noise");
    options.add("confidence", settings.confidence_text, "confidence of the intervals", "PERCENT");
}

void add_step_choice(base::Options& options, Settings& settings)
{
    options.add(
        "step-region", settings.steps.region,
        "steps are the visits of this region of the training's archive (default without ddl-train: a region that "
        "repeats, else a collective MPI call)",
        "NAME");
    options.add("step-from", settings.steps.from,
                "a step lasts from one call of this to the next, such as MPI_Allreduce", "NAME");
    options.add("step-every", settings.steps.every,
                "calls of --step-from (or of the call found) per step: 5 for five MPI_Allreduce a step", "NUMBER");
}

void add_format(base::Options& options, Settings& settings)
{
    options.add_choice("format", settings.format, {"text", "md", "json", "html"},
                       "output format: text for a terminal, Markdown, JSON, or the HTML page");
}

void add_settings(base::Options& options, Settings& settings)
{
    add_step_choice(options, settings);
    add_common(options, settings);
    options.add("guard", settings.guard, "exclude steps that begin within this time after noise changed", "TIME");
    options.add("draws", settings.draws, "draws of the re-randomisation test", "NUMBER");
    options.add("seed", settings.seed, "seed of the re-randomisation test", "NUMBER");
    options.add("clock-offset", settings.clock_offset,
                "training's clock - noise's clock, such as 1.5s or -20ms, if they have different clocks", "TIME");
    options.add("fail-on", settings.fail_on,
                "exit code 1 if the report is any of: unsafe, undecided, insensitive, untrusted", "LIST");
    options.add(
        "empty-node", settings.empty_node,
        "a run of the same noise on an empty node, or its noise.csv; the report shows the noise's speed relative to it",
        "DIR|FILE");
    options.add("node-hour-cost", settings.node_hour_cost,
                "price of a node hour, to value the training's loss and the neighbour's gain", "PRICE");
    options.add("again", settings.again,
                "command shown in the report for repeating the run, {seconds} being its length (default: the recorded "
                "command lines)",
                "TEXT");
    add_format(options, settings);
    options.add_switch("pdf", settings.pdf, "also write the page as report.pdf, with chromium");
    options.epilogue(
        "Exit codes: 0 fine, 1 failed, or --fail-on is met, 2 wrong usage, 3 noise did not cover the training, "
        "whatever --fail-on says, 77 no chromium for --pdf.");
}

std::optional<std::int64_t> Settings::clock_offset_ns() const
{
    if (clock_offset.empty()) return std::nullopt;
    return base::parsed_difference_ns("--clock-offset", clock_offset);
}

void check(Settings& settings)
{
    settings.budget = percent("--budget", settings.budget_text, 0.0);
    settings.confidence = percent("--confidence", settings.confidence_text, 1.0);
    if (settings.confidence.value < 50.0 || settings.confidence.value >= 100.0)
        base::fail_usage("--confidence must be from 50% to less than 100%");
    if (settings.budget.value <= 0.0) base::fail_usage("--budget: must be more than 0%");
    read_warm_up(settings);
    if (!(settings.node_hour_cost >= 0.0)) base::fail_usage("--node-hour-cost: must not be negative");
    if (settings.draws < 0 || settings.draws > 10'000'000) base::fail_usage("--draws must be from 0 to ten million");
    check_fail_on(settings.fail_on);
    static_cast<void>(settings.clock_offset_ns());
    settings.steps.check();
}

void check_fail_on(const std::string& fail_on)
{
    for (const std::string& word : base::split(fail_on, ','))
        if (std::find(failing.begin(), failing.end(), word) == failing.end())
            base::fail_usage("--fail-on: unknown '", word, "'", base::did_you_mean(word, failing), " (there are ",
                             base::join_words(failing, ", "), ")");
}

std::string failure(bool trustworthy, const std::vector<JudgedNoise>& noises, const std::string& fail_on)
{
    const std::vector<std::string> words = base::split(fail_on, ',');
    const auto asked = [&](const std::string& word) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (!trustworthy && asked(base::verdict_word::untrusted)) return "the run is not trustworthy";
    for (const char* judged :
         {base::verdict_word::unsafe, base::verdict_word::undecided, base::verdict_word::insensitive})
        for (const JudgedNoise& noise : noises) {
            const bool insensitive = noise.verdict == base::verdict_word::insensitive;
            if (noise.verdict == judged && (asked(judged) || (insensitive && asked(base::verdict_word::undecided))))
                return noise.name + " is " + judged;
        }
    return "";
}

std::string failure(const Verdict& verdict, const std::string& fail_on)
{
    std::vector<JudgedNoise> noises;
    for (const FactorVerdict& factor : verdict.factors)
        noises.push_back({base::factor_name(factor.factor, factor.level), factor.verdict});
    return failure(verdict.trustworthy, noises, fail_on);
}

}  // namespace analysis
