// SPDX-License-Identifier: Apache-2.0
#include "analysis/outcomes/trial_run.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/statistics.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>
#include <tuple>

namespace analysis {

namespace fs = std::filesystem;

namespace {

nlohmann::ordered_json training_record(const fs::path& directory)
{
    const fs::path file = directory / base::part::train / base::file::run_record;
    if (!fs::exists(file)) base::fail("there is no training in ", directory.string(), ": no ", file.string());
    return base::read_json(file);
}

std::string noise_beside(const fs::path& directory)
{
    const fs::path noise = directory / base::part::noise;
    if (!fs::is_directory(noise)) return {};
    for (const auto& process : fs::directory_iterator{noise})
        if (const fs::path record = process.path() / base::file::noise_record; fs::exists(record))
            return base::read_json(record).at("schedule").get<std::string>();
    return {};
}

// Accuracy of a blind guess: one of all classes for pictures, one of 256 bytes for text, one of two for clicks.
double chance_of(const nlohmann::ordered_json& shape)
{
    constexpr double bytes = 256.0;
    if (shape.contains("classes")) return 1.0 / shape.at("classes").get<double>();
    return shape.at("kind") == "text" ? 1.0 / bytes : 0.5;
}

}  // namespace

TrialRun read_trial_run(const fs::path& directory)
try {
    const fs::path part = directory / base::part::train;
    TrialRun run{.directory = directory,
                 .model = {},
                 .strategy = {},
                 .trials = base::read_trials(part / base::file::trials),
                 .outcomes = base::read_outcomes(part / base::file::outcomes),
                 .held_out = 0,
                 .chance = 0.0,
                 .parameters = {},
                 .ranks = 1,
                 .noise = noise_beside(directory)};
    const nlohmann::ordered_json record = training_record(directory);
    const nlohmann::ordered_json& training = record.at("training");
    run.model = training.at("model").get<std::string>();
    run.strategy = training.at("strategy").get<std::string>();
    run.chance = chance_of(training.at("shape"));
    run.ranks = record.at("ranks").get<int>();
    const auto& result = record.at("result");
    if (!result.is_null()) run.parameters = result.at("parameters").get<double>();
    if (training.contains("held_out"))
        run.held_out = training.at("held_out").get<std::int64_t>();
    else if (!result.is_null())  // an earlier version records it only at the end
        run.held_out = result.at("trials").at("held_out").get<std::int64_t>();
    if (run.held_out < 1 && !run.outcomes.empty())
        base::fail(directory.string(), ": its trials have not ended; continue with the same ddl-train command");
    if (run.outcomes.size() > run.trials.size())
        base::fail((part / base::file::outcomes).string(), " has more rows than ", base::file::trials);
    for (std::size_t i = 0; i < run.outcomes.size(); ++i)
        if (run.outcomes[i].trial != run.trials[i].name)
            base::fail((part / base::file::outcomes).string(), ": row ", i + 1, " is not an outcome of trial ", i + 1);
    return run;
} catch (const nlohmann::json::exception& error) {
    base::fail("the record of the run in ", directory.string(), " cannot be used: ", error.what());
}

double lower_end(const std::vector<double>& accuracies)
{
    constexpr double confidence = 0.95;  // two-sided
    const base::Mean mean = base::mean_of(accuracies);
    const auto count = static_cast<double>(accuracies.size());
    const double deviation = mean.standard_error * std::sqrt(count);
    return mean.value - base::t_quantile(confidence, count - 1.0) * deviation * std::sqrt(1.0 + 1.0 / count);
}

Bands read_bands(const std::vector<fs::path>& directories)
{
    Bands bands;
    std::set<std::tuple<std::string, std::int64_t, std::uint64_t>> seen;
    for (const fs::path& directory : directories) try {
            const nlohmann::ordered_json record = training_record(directory);
            const auto& result = record.at("result");
            if (result.is_null()) base::fail(directory.string(), ": that training has not ended");
            if (result.at("accuracy").is_null()) base::fail(directory.string(), ": that training has no accuracy");
            const auto steps = result.at("first_step").get<std::int64_t>() + result.at("steps").get<std::int64_t>();
            const nlohmann::ordered_json& training = record.at("training");
            const auto model = training.at("model").get<std::string>();
            if (training.contains("seed") && !seen.emplace(model, steps, training["seed"].get<std::uint64_t>()).second)
                base::fail("--band: ", directory.string(), " has seed ", training["seed"].dump(),
                           ", used twice: each needs its own seed");
            bands[{model, steps}].accuracies.push_back(result.at("accuracy").get<double>());
        } catch (const nlohmann::json::exception& error) {
            base::fail((directory / base::part::train / base::file::run_record).string(), ": ", error.what());
        }
    for (auto& [of, band] : bands) {
        if (band.accuracies.size() < least_seeds)
            base::fail("--band: ", band.accuracies.size(), " undisturbed trainings of ", of.first, " with ", of.second,
                       " steps; at least ", least_seeds, " seeds are needed");
        band.low = lower_end(band.accuracies);
    }
    return bands;
}

}  // namespace analysis
