// SPDX-License-Identifier: Apache-2.0
#include "noisegen/schedule/intensity.hpp"

#include "base/words.hpp"

#include <algorithm>

namespace noisegen {

namespace {

void check_rate(const StressorCard& card, const base::Rate& rate)
{
    if (rate.per_second <= 0.0) base::fail_usage(card.name, "[rate] must be more than zero; use quiet");
    if (rate.of == base::Rate::Of::bytes && !card.counts_bytes)
        base::fail_usage(card.name, "[rate] must be in operations, such as 500/s");
    if (rate.of == base::Rate::Of::operations && !card.counts_operations)
        base::fail_usage(card.name, "[rate] must be in bytes, such as 4GiB/s");
}

base::Percent share(const StressorCard& card, const base::Settings& settings, const std::string& option)
{
    const auto share = settings.get<base::Percent>(option);
    if (share.value <= 0.0 || share.value > 100.0)
        base::fail_usage(card.name, "[", option, "] must be more than 0% and at most 100%, not ",
                         settings.text(option));
    return share;
}

bool has_option(const StressorCard& card, const std::string& name)
{
    return std::ranges::any_of(card.options, [&](const base::OptionCard& option) { return option.name == name; });
}

std::optional<ResourceLimit> limit_of(const StressorCard& card, const base::Settings& settings)
{
    if (!has_option(card, "limit")) return std::nullopt;
    const std::optional<ResourceLimit> limit = parse_limit(card.name + "[limit]", settings.text("limit"));
    if (limit && limit->kind == ResourceLimit::Kind::cpuset && has_option(card, "follow"))
        base::fail_usage(card.name, "[limit]: cpuset is for job.run only; noise threads are bound to one CPU each");
    return limit;
}

}  // namespace

std::vector<base::OptionCard> with_intensity(const std::string& rate_example, std::vector<base::OptionCard> own)
{
    own.push_back(
        {"rate", "max",
         "rate of this process, divided over its CPUs: " + rate_example + ", or 60% of the calibrated limit"});
    own.push_back({"duty", "100%", "share of each period in which it is on"});
    own.push_back({"period", "100ms", "period of the duty; periods begin together on all CPUs"});
    own.push_back(
        {"follow", "", "on only while the training on this node is in these phases: backward, or forward+backward"});
    own.push_back(limit_option());
    own.push_back({"sched", "", "scheduling class while it is on: other, batch or idle"});
    own.push_back({"arrival", "fixed", "arrivals at a rate: fixed or poisson"});
    return own;
}

base::OptionCard limit_option()
{
    return {"limit", "none",
            "limit by the operating system while it is on: io.max:50MiB/s, cpu.weight:1, cpu.max:50%, cpu.idle:1, "
            "cpuset:2-3 (job.run only), resctrl:10%"};
}

bool has_intensity(const StressorCard& card)
{
    return has_option(card, "follow");
}

std::vector<base::TrainingPhase> parse_follow(const std::string& text)
{
    std::vector<base::TrainingPhase> phases;
    for (const std::string& word : base::split(text, '+')) phases.push_back(base::parse_training_phase(word));
    return phases;
}

std::string format_follow(const std::vector<base::TrainingPhase>& phases)
{
    std::vector<std::string> words;
    for (const base::TrainingPhase phase : phases) words.push_back(base::text(phase));
    return base::join_words(words, "+");
}

const std::vector<std::string>& intensity_options()
{
    static const std::vector<std::string> names{"rate", "duty", "period", "follow", "arrival", "limit", "sched"};
    return names;
}

Intensity intensity(const StressorCard& card, const base::Settings& settings, std::optional<base::Rate> rate)
{
    Intensity found;
    found.limit = limit_of(card, settings);
    if (!has_intensity(card)) return found;
    found.sched = settings.text("sched");
    if (!found.sched.empty() && found.sched != "other" && found.sched != "batch" && found.sched != "idle")
        base::fail_usage(card.name, "[sched] must be other, batch or idle, not ", found.sched);
    found.rate = rate;
    if (const std::string& option = settings.text("rate"); !rate && option.ends_with('%'))
        found.of_limit = share(card, settings, "rate");
    else if (!rate && option != "max")
        found.rate = settings.get<base::Rate>("rate");
    if (found.rate) check_rate(card, *found.rate);
    found.duty = share(card, settings, "duty");
    found.period = settings.get<base::Nanoseconds>("period");
    constexpr base::Nanoseconds shortest{1'000'000};
    constexpr base::Nanoseconds longest = std::chrono::hours{1};
    if (found.period < shortest || found.period > longest)
        base::fail_usage(card.name, "[period] must be 1ms to 1h, not ", settings.text("period"));
    found.follow = parse_follow(settings.text("follow"));
    if (!found.follow.empty() && found.duty.value < 100.0)
        base::fail_usage(card.name, "[follow]: cannot be combined with duty");
    const std::string& arrival = settings.text("arrival");
    if (arrival != "fixed" && arrival != "poisson")
        base::fail_usage(card.name, "[arrival] must be fixed or poisson, not ", arrival);
    found.poisson = arrival == "poisson";
    if (found.poisson && !found.rate && !found.of_limit)
        base::fail_usage(card.name, "[arrival]: poisson needs a rate (its mean)");
    return found;
}

}  // namespace noisegen
