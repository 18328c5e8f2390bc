// SPDX-License-Identifier: Apache-2.0
// Data-parallel training with named phases, recorded in a trace: the victim of the noise.
#include "base/contract/run_directory.hpp"
#include "base/contract/trials.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/system/launcher.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"
#include "ddl-workloads/instruments/process_metrics.hpp"
#include "ddl-workloads/models/torch_models.hpp"
#include "ddl-workloads/plan/parse_plan.hpp"
#include "ddl-workloads/plan/placement.hpp"
#include "ddl-workloads/train/training.hpp"
#include "ddl-workloads/train/watch/parent_watch.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace {

std::string digits(const char* format, double number)
{
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), format, std::isnan(number) ? std::abs(number) : number);  // no "-nan"
    return text.data();
}

// Phases that take at least 1 % of a step, as a text such as "forward 33 %, backward 66 %".
std::string shares(const nlohmann::ordered_json& result)
{
    std::vector<std::string> words;
    const auto step_ms = result.at("mean_step_ms").get<double>();
    for (const auto& [phase, ms] : result.at("phases_ms").items())
        if (const double percent = 100.0 * ms.get<double>() / step_ms; percent >= 1.0)
            words.push_back(phase + digits(" %.0f %%", percent));
    return base::join_words(words, ", ");
}

std::string learnt(const nlohmann::ordered_json& result)
{
    if (result.at("loss").is_null()) return {};
    std::string words = digits(", loss %.4g", result["loss"].get<double>());
    if (!result.at("accuracy").is_null())
        words += digits(", accuracy %.1f %%", 100.0 * result["accuracy"].get<double>());
    return words;
}

// The summary for human readers. `result` comes from Training::result(), `directory` holds the records of the ranks.
void print(std::ostream& out, const nlohmann::ordered_json& result, int ranks, const std::filesystem::path& directory)
{
    const auto steps = result.at("steps").get<std::int64_t>();
    if (result.contains("trials")) {
        const auto& trials = result.at("trials");
        out << trials.at("ended").get<std::int64_t>() << " of " << trials.at("count").get<std::int64_t>()
            << " trials ended, " << trials.at("crashed").get<std::int64_t>() << " of them crashed; "
            << base::printable((directory / base::part::train / base::file::outcomes).string()) << "\n";
        return;
    }
    out << steps << (steps == 1 ? " step" : " steps") << " on " << ranks
        << (ranks == 1 ? " rank (mpirun -n 2 ddl-train .. trains on two)" : " ranks")
        << ", ended by: " << result.at("ended_by").get<std::string>() << learnt(result) << "\n";
    if (steps > 0)
        out << digits("%.4g ms a step, ", result.at("mean_step_ms").get<double>())
            << digits("%.4g samples/s: ", result.at("samples_per_s").get<double>()) << shares(result) << "\n";
    out << "records: " << base::printable((directory / base::part::train).string()) << "\n";
}

int train(const ddl::TrainingPlan& plan, const base::Registry<ddl::ModelCard>& registry)
{
    ddl::ProcessMetrics process_metrics{plan.recording.trace ? plan.recording.metrics : "none"};
    std::optional<ddl::ParentWatch> watch;
    if (base::job_rank().under_mpi) watch.emplace();
    ddl::ExchangeThread exchanges{
        ddl::connector(plan.transport, {plan.progress, plan.out}, plan.placement.transport_cpus)};
    ddl::Training training{plan, registry, exchanges, process_metrics};
    try {
        training.prepare();
        if (plan.only_check) {
            training.end_unused();
            if (exchanges.rank() == 0) std::cout << plan.trials.size() << " trials can be made\n" << std::flush;
            return base::exit_fine;
        }
        training.run();
        const nlohmann::ordered_json result = training.result();
        if (exchanges.rank() == 0) {
            if (plan.json)
                std::cout << base::json_text(result, base::one_line) << "\n";
            else
                print(std::cout, result, exchanges.size(), plan.out);
            if (!std::cout.flush()) base::fail("cannot write the result to stdout; it is in run.json");
        }
    } catch (...) {
        exchanges.abort(base::report_failure("ddl-train"));
    }
    const std::vector<std::string> broken = training.broken_promises();
    for (const std::string& promise : broken) base::warn(promise);
    return broken.empty() ? base::exit_fine : base::exit_promise_not_kept;
}

}  // namespace

int main(int argc, char** argv)
try {
    const base::Registry<ddl::ModelCard> registry = ddl::model_registry(ddl::torch_models());
    const std::optional<ddl::TrainingPlan> plan = ddl::parse_plan(argc, argv, registry, ddl::hook_options());
    if (!plan) return base::exit_fine;
    ddl::place(plan->placement, argv);
    base::stop_on_signals();
    return train(*plan, registry);
} catch (...) {
    return base::report_failure("ddl-train");
}
