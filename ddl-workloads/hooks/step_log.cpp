// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/hooks/step_log.hpp"

#include "base/contract/run_directory.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace ddl {

StepLog::StepLog(const TrainingPlan& plan, const std::filesystem::path& directory, int rank, const Ends& ends,
                 NewsBoard& board)
    : ends_{ends}, slot_{board.add<StepNews>()}
{
    if (rank != 0) return;
    rows_.emplace(directory / base::file::steps);
    progress_.emplace("training");
    if (!plan.recording.openmetrics.empty()) metrics_.emplace(plan.recording.openmetrics, plan.model);
}

void StepLog::post(StepContext&)
{
    slot_.post(news_);
}

void StepLog::receive(StepContext&)
{
    if (!rows_) return;
    const std::vector<StepNews> news = slot_.received();
    for (std::size_t rank = 0; rank < news.size(); ++rank)
        if (news[rank].complete_steps > 0) rows_->add(static_cast<int>(rank), news[rank].last);
}

void StepLog::after_update(StepContext& context)
{
    show_progress(context);
    show_metrics(context, true);
}

void StepLog::end_step(StepContext&, const StepTimes& times)
{
    news_.last = times;
    ++news_.complete_steps;
    sums_.add(times);
}

void StepLog::after_last_step(StepContext& context)
{
    show_metrics(context, false);
}

void StepLog::show_metrics(const StepContext& context, bool running)
{
    if (metrics_ && (!running || metrics_->due()))
        metrics_->write({.steps = sums_.steps, .ns = sums_.ns, .loss = context.model.loss(), .running = running});
}

void StepLog::show_progress(const StepContext& context)
{
    if (!progress_ || !progress_->due()) return;
    std::array<char, 96> detail{};
    const auto step_ms = static_cast<double>(sums_.ns) / 1e6 / std::max(static_cast<double>(sums_.steps), 1.0);
    std::snprintf(detail.data(), detail.size(), "step %lld, %.1f ms a step",
                  static_cast<long long>(context.state.done()), step_ms);
    const auto length = std::char_traits<char>::length(detail.data());
    if (const std::optional<double> loss = context.model.loss())
        std::snprintf(detail.data() + length, detail.size() - length, ", loss %.3f", *loss);
    progress_->show(ends_.fraction(context.state.done()), detail.data());
}

}  // namespace ddl
