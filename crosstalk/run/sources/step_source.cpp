// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/sources/step_source.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/words.hpp"
#include "crosstalk/programs/programs.hpp"

#include <algorithm>
#include <array>
#include <fstream>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

void check_options(const Request& request)
{
    const auto given = std::array{request.step_region, request.step_from, request.step_line, request.steps};
    const auto chosen = std::count_if(given.begin(), given.end(), [](const std::string& one) { return !one.empty(); });
    if (request.step_every < 1) base::fail_usage("--step-every must be at least 1");
    if (request.step_every > 1 && (!request.step_region.empty() || !request.steps.empty()))
        base::fail_usage("--step-every cannot be combined with --step-region or --steps");
    if (chosen > 1) base::fail_usage("give only one of --step-region, --step-from, --step-line and --steps");
    if (chosen > 0 && std::any_of(request.command.begin(), request.command.end(), is_ddl_train))
        base::fail_usage("ddl-train records its own steps: omit --step-region, --step-from, --step-line and --steps");
}

}  // namespace

fs::path MeasuredJob::log() const
{
    return request.out / base::part::log / "job.log";
}

fs::path MeasuredJob::own_table() const
{
    return request.out / base::part::train / base::file::steps;
}

Words MeasuredJob::last_words() const
{
    return last_words_in(log());
}

std::string MeasuredJob::option_for_lines() const
{
    const std::optional<LineKinds::Kind> most = output ? output->seen().most : std::nullopt;
    const std::string expression = most ? expression_for(most->name) : "";
    return "--step-line " + (expression.empty() ? "EXPRESSION" : base::shell_word(expression));
}

fs::path StepSource::part() const
{
    return job_.request.out / base::part::train;
}

fs::path StepSource::own_trace() const
{
    return part() / base::file::trace;
}

bool StepSource::has_own_trace() const
{
    return fs::exists(own_trace() / base::file::anchor);
}

Words StepSource::metrics_words() const
{
    if (job_.request.openmetrics.empty()) return {};
    return {"--openmetrics", (job_.request.openmetrics / "training.prom").string()};
}

bool StepSource::names(const std::string& option) const
{
    const Words& command = job_.request.command;
    return std::any_of(command.begin(), command.end(),
                       [&](const std::string& word) { return word == option || word.starts_with(option + "="); });
}

std::size_t StepSource::rows_of_own_table() const
{
    return steps_in(job_.own_table());
}

Words StepSource::words_for_archive() const
{
    const Request& request = job_.request;
    if (!request.step_region.empty()) return {"--step-region", request.step_region};
    Words reading;
    if (!request.step_from.empty()) reading = {"--step-from", request.step_from};
    if (request.step_every > 1) reading.insert(reading.end(), {"--step-every", std::to_string(request.step_every)});
    return reading;
}

std::unique_ptr<StepSource> source_of(MeasuredJob& job)
{
    check_options(job.request);
    for (const StepSourceCard* card : {
#define STEP_SOURCE(card) &(card),
#include "crosstalk/run/sources/sources.inc"
#undef STEP_SOURCE
         })
        if (card->takes(job.request)) return card->make(job);
    base::fail("no source of steps for this job");
}

bool is_ddl_train(const std::string& word)
{
    return fs::path{word}.filename() == "ddl-train";
}

bool is_ours(const std::string& word)
{
    return is_ddl_train(word) || word == "crosstalk-python";
}

std::size_t steps_in(const fs::path& table)
{
    std::size_t steps = 0;
    std::ifstream in{table};
    for (std::string line; std::getline(in, line);) steps += line.starts_with("0,") ? 1 : 0;
    return steps;
}

}  // namespace crosstalk
