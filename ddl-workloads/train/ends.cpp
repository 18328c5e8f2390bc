#include "ddl-workloads/train/ends.hpp"

#include "base/cli/option_checks.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"

#include <algorithm>
#include <numeric>

namespace ddl {

namespace {

constexpr std::size_t steps_of_a_loss = 10;  // one batch alone may be easy

}  // namespace

EndOptions::EndOptions(base::Options& options, EndPlan& plan) : plan_{plan}
{
    options.group("When it ends");
    options.add("steps", plan.steps, "end after so many; with no end given: 100", "NUMBER");
    options.add("epochs", plan.epochs, "end after so many passes over the data", "NUMBER");
    options.add("duration", plan.duration, "end after so long", "TIME");
    options.add("until-loss", until_loss_, "end when the mean loss of all ranks over ten steps is no higher", "NUMBER");
    options.add("until-accuracy", until_accuracy_,
                "end when so many of the held-out samples are guessed right after an epoch: 95%", "PERCENT");
    options.add("stall-after", plan.stall_after,
                "end with a report of who waits for whom if nothing happens for so long; 0: wait for ever", "TIME");
}

void EndOptions::read() const
{
    if (!until_loss_.empty()) plan_.until_loss = base::parsed<double>("--until-loss", until_loss_);
    if (!until_accuracy_.empty())
        plan_.until_accuracy = base::parsed<base::Percent>("--until-accuracy", until_accuracy_).fraction();
    base::check_at_least<std::int64_t>(0, plan_.steps, "--steps");
    base::check_within<std::int64_t>(0, 1'000'000'000, plan_.epochs, "--epochs");
    if (plan_.duration.count() < 0) base::fail_usage("--duration must not be negative");
    if (plan_.stall_after.count() < 0) base::fail_usage("--stall-after must not be negative");
    if (plan_.until_accuracy && (*plan_.until_accuracy <= 0.0 || *plan_.until_accuracy > 1.0))
        base::fail_usage("--until-accuracy must be above 0% and at most 100%");
    const bool target = plan_.until_loss || plan_.until_accuracy;
    if (!target && plan_.steps == 0 && plan_.epochs == 0 && plan_.duration.count() == 0) plan_.steps = 100;
}

Ends::Ends(const EndPlan& plan, std::int64_t steps_per_epoch)
    : plan_{plan}, steps_per_epoch_{steps_per_epoch}, begun_ns_{base::now_ns()}
{
}

bool Ends::reached(std::int64_t steps) const
{
    return (plan_.steps > 0 && steps >= plan_.steps) || (plan_.epochs > 0 && steps >= plan_.epochs * steps_per_epoch_);
}

bool Ends::ends_epoch(std::int64_t steps) const
{
    return (plan_.epochs > 0 || plan_.until_accuracy) && steps % steps_per_epoch_ == 0;
}

Stop Ends::wish(std::optional<double> accuracy) const
{
    if (base::stop_requested()) return Stop::signal;
    if (plan_.until_accuracy && accuracy.value_or(0.0) >= *plan_.until_accuracy) return Stop::accuracy;
    const bool late = plan_.duration.count() > 0 && base::now_ns() - begun_ns_ >= plan_.duration.count();
    return late ? Stop::time_is_up : Stop::no;
}

void Ends::hear(const std::vector<StepNews>& news)
{
    stop_ = std::max(agreed(news), loss_is_low_enough(news) ? Stop::loss : Stop::no);
}

bool Ends::loss_is_low_enough(const std::vector<StepNews>& news)
{
    if (!plan_.until_loss || news.empty() || news.front().complete_steps == 0) return false;
    const auto add = [](double sum, const StepNews& one) { return sum + one.loss; };
    losses_.push_back(std::accumulate(news.begin(), news.end(), 0.0, add) / static_cast<double>(news.size()));
    if (losses_.size() > steps_of_a_loss) losses_.pop_front();
    const double mean = std::accumulate(losses_.begin(), losses_.end(), 0.0) / static_cast<double>(losses_.size());
    return losses_.size() == steps_of_a_loss && mean <= *plan_.until_loss;
}

double Ends::fraction(std::int64_t steps) const
{
    const auto of = [](auto done, auto all) {
        return all > 0 ? static_cast<double>(done) / static_cast<double>(all) : 0.0;
    };
    return std::max({of(steps, plan_.steps), of(steps, plan_.epochs * steps_per_epoch_),
                     of(base::now_ns() - begun_ns_, plan_.duration.count())});
}

std::string Ends::text(std::int64_t steps) const
{
    switch (stop_) {
        case Stop::signal:
            return "signal";
        case Stop::guard:
            return "guard";
        case Stop::accuracy:
            return "accuracy";
        case Stop::loss:
            return "loss";
        case Stop::time_is_up:
            return "duration";
        case Stop::no:
            break;
    }
    return plan_.steps > 0 && steps >= plan_.steps ? "steps" : "epochs";
}

}  // namespace ddl
