// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/hooks/ends.hpp"

#include "base/system/clock.hpp"
#include "base/system/stop.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ddl {

namespace {

constexpr std::size_t steps_of_a_loss = 10;  // the loss is averaged over ten steps, as one batch alone may be easy

}  // namespace

Stop agreed(std::span<const EndNews> news)
{
    Stop strongest = Stop::no;
    for (const EndNews& one : news) strongest = std::max(strongest, one.request);
    return strongest;
}

Ends::Ends(const EndPlan& plan, std::int64_t steps_per_epoch, NewsBoard& board)
    : plan_{plan}, steps_per_epoch_{steps_per_epoch}, slot_{board.add<EndNews>()}
{
}

void Ends::begin(StepContext&)
{
    begun_ns_ = base::now_ns();
}

void Ends::post(StepContext& context)
{
    news_.request = std::max(own_request(), context.state.request);
    slot_.post(news_);
}

void Ends::receive(StepContext& context)
{
    if (over_) return;
    const std::vector<EndNews> news = slot_.received();
    context.state.stop = std::max(agreed(news), loss_is_low_enough(news) ? Stop::loss : Stop::no);
}

// On a GPU, reading the loss waits for the device; that wait is part of the step.
void Ends::after_update(StepContext& context)
{
    news_.loss = context.model.loss().value_or(0.0);
    news_.complete = true;
}

void Ends::after_last_step(StepContext&)
{
    over_ = true;
}

bool Ends::reached(std::int64_t steps) const
{
    return (plan_.steps > 0 && steps >= plan_.steps) || (plan_.epochs > 0 && steps >= plan_.epochs * steps_per_epoch_);
}

bool Ends::ends_epoch(std::int64_t steps) const
{
    return (plan_.epochs > 0 || plan_.until_accuracy) && steps % steps_per_epoch_ == 0;
}

Stop Ends::own_request() const
{
    if (base::stop_requested()) return Stop::signal;
    if (plan_.until_accuracy && accuracy_.value_or(0.0) >= *plan_.until_accuracy) return Stop::accuracy;
    const bool late = plan_.duration.count() > 0 && base::now_ns() - begun_ns_ >= plan_.duration.count();
    return late ? Stop::time_is_up : Stop::no;
}

bool Ends::loss_is_low_enough(std::span<const EndNews> news)
{
    if (!plan_.until_loss || news.empty() || !news.front().complete) return false;
    const auto add = [](double sum, const EndNews& one) { return sum + one.loss; };
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

std::string Ends::text(const StepState& state) const
{
    switch (state.stop) {
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
    return plan_.steps > 0 && state.done() >= plan_.steps ? "steps" : "epochs";
}

}  // namespace ddl
