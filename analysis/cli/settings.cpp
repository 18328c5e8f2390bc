#include "analysis/cli/settings.hpp"

#include "base/contract/factor_name.hpp"
#include "base/contract/verdict_words.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <vector>

namespace analysis {

namespace {

const std::vector<std::string> failing{base::verdict_word::unsafe, base::verdict_word::undecided,
                                       base::verdict_word::untrusted};

// A number without its % is one of percent; one that is too small for that is a share: 0.9 is 90 %.
base::Percent percent(const std::string& text, double least_percent)
{
    const std::string_view number = base::trim(text);
    const bool bare = !number.empty() && number.find_first_not_of("0123456789.") == std::string_view::npos;
    if (!bare) return base::parse<base::Percent>(text);
    const auto value = base::parse<double>(number);
    return {value < least_percent ? 100.0 * value : value};
}

}  // namespace

void add_common(base::Options& options, Settings& settings)
{
    options.add("budget", settings.budget_text, "slowdown of a step that is still affordable");
    options.add("warmup", settings.warm_up, "steps to leave out at a training's start");
    options.add("confidence", settings.confidence_text, "of the intervals");
}

void add_settings(base::Options& options, Settings& settings)
{
    add_common(options, settings);
    options.add("guard", settings.guard, "leave out steps that begin so soon after noise changed");
    options.add("draws", settings.draws, "of the re-randomisation test");
    options.add("seed", settings.seed, "of the re-randomisation test");
    options.add("clock-offset", settings.clock_offset,
                "training's clock - noise's clock, such as 1.5s or -20ms, where they are not the same clock");
    options.add("fail-on", settings.fail_on, "exit code 1 for a report that is any of: unsafe, undecided, untrusted",
                "LIST");
    options.add("again", settings.again,
                "command that makes such a run anew, for the report to show; {seconds} in it stands for its length; "
                "without it the recorded command lines",
                "TEXT");
    options.epilogue(
        "Exit codes: 0 fine, 1 failed, or --fail-on is met, 2 wrong usage, 3 noise did not cover the training (this "
        "goes "
        "before --fail-on).");
}

std::optional<std::int64_t> Settings::clock_offset_ns() const
{
    if (clock_offset.empty()) return std::nullopt;
    return base::parse_difference_ns(clock_offset);
}

void check(Settings& settings)
{
    settings.budget = percent(settings.budget_text, 0.0);
    settings.confidence = percent(settings.confidence_text, 1.0);
    if (settings.confidence.value < 50.0 || settings.confidence.value >= 100.0)
        base::fail_usage("--confidence: from 50% to less than 100%");
    if (settings.budget.value <= 0.0) base::fail_usage("--budget: must be more than 0%");
    if (settings.warm_up < 0) base::fail_usage("--warmup: a number of steps");
    if (settings.draws < 0 || settings.draws > 10'000'000) base::fail_usage("--draws: from 0 to ten million");
    for (const std::string& word : base::split(settings.fail_on, ','))
        if (std::find(failing.begin(), failing.end(), word) == failing.end())
            base::fail_usage("--fail-on: no word '", word, "'", base::did_you_mean(word, failing), " (there are ",
                             base::join_words(failing, ", "), ")");
    static_cast<void>(settings.clock_offset_ns());
}

std::string failure(const Verdict& verdict, const std::string& fail_on)
{
    const std::vector<std::string> words = base::split(fail_on, ',');
    const auto asked = [&](const std::string& word) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (!verdict.trustworthy && asked(base::verdict_word::untrusted)) return "the run is not trustworthy";
    for (const char* judged : {base::verdict_word::unsafe, base::verdict_word::undecided})
        for (const FactorVerdict& factor : verdict.factors)
            if (factor.verdict == judged && asked(judged))
                return base::factor_name(factor.factor, factor.level) + " is " + judged;
    return "";
}

}  // namespace analysis
