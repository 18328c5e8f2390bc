// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/run_steps.hpp"

#include "analysis/input/training_reader.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace analysis {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t steps_of_identity = 10;

}  // namespace

fs::path steps_file(const fs::path& run)
{
    if (!fs::exists(run)) base::fail("there is no ", run.string());
    if (!fs::is_directory(run)) return run;
    const fs::path train = base::part::train;
    for (const fs::path& file : {train / base::file::anchor_in_part, fs::path{base::file::anchor_in_part},
                                 fs::path{base::file::anchor}, train / base::file::steps, fs::path{base::file::steps}})
        if (fs::exists(run / file)) return run / file;
    base::fail(run.string(), " holds neither train/trace/traces.otf2 nor train/steps.csv: not a run of a training");
}

namespace {

// The training's run.json, in the directory of its archive or table or above; null if there is none.
nlohmann::ordered_json record_beside_steps(const fs::path& file)
{
    for (const fs::path& folder : {file.parent_path(), file.parent_path().parent_path()}) {
        std::error_code ignored;
        if (!fs::is_regular_file(folder / base::file::run_record, ignored)) continue;
        try {
            return base::read_json(folder / base::file::run_record);
        } catch (const base::Error&) {  // a run.json of another program
        } catch (const nlohmann::json::exception&) {
        }
    }
    return nullptr;
}

std::string member_text(const nlohmann::ordered_json& json, const char* key)
{
    if (!json.is_object() || !json.contains(key)) return "";
    const nlohmann::ordered_json& value = json.at(key);
    return value.is_string() ? value.get<std::string>() : base::json_text(value, base::one_line);
}

// Why the run did not finish. ddl-train writes its result at its end; other programs may have no record.
std::string why_unfinished(const fs::path& run, const fs::path& file, const Training& training,
                           const nlohmann::ordered_json& record)
{
    if (training.steps.cut_off) return "its table of steps is cut off";
    if (training.cut_off) return "its program was ended before its recording";
    const bool is_of_a_run = fs::is_directory(run) && file.string().find(base::part::train) != std::string::npos;
    if (is_of_a_run && training.is_table && record.is_null()) return "it has steps.csv but no record of its end";
    if (!record.is_object() || !record.contains("result")) return "";
    const bool as_planned = is_of_a_run && fs::exists(run / base::file::request);  // crosstalk run signals its jobs
    return member_text(record.at("result"), "ended_by") == "signal" && !as_planned ? "a signal ended it" : "";
}

// Length of a piece of work that the first rank recorded.
base::Nanoseconds piece_of(const nlohmann::ordered_json& record)
try {
    return base::parse<base::Nanoseconds>(
        record.at(nlohmann::json::json_pointer{"/result/each_rank/0/computing/piece"}).get<std::string>());
} catch (const nlohmann::json::exception&) {
    return {};
} catch (const base::Error&) {
    return {};
}

LongTable rows_of(const LongTable& all, const base::LongColumn<std::size_t>& rows)
{
    LongTable kept;
    std::vector<double> row(static_cast<std::size_t>(all.cols()));
    for (const std::size_t from : rows) {
        for (std::size_t c = 0; c < row.size(); ++c)
            row[c] = all(static_cast<Eigen::Index>(from), static_cast<Eigen::Index>(c));
        if (!all.empty()) kept.append_row(row);
    }
    return kept;
}

}  // namespace

RunSteps read_run_steps(const fs::path& path, const otf2::StepChoice& choice, const otf2::StepChoice& unless_numbered)
{
    const fs::path file = steps_file(path);
    Training training = read_training(file, choice, unless_numbered);
    RunSteps run;
    run.name = path.string();
    run.names = {"step"};
    run.names.insert(run.names.end(), training.steps.phases.begin(), training.steps.phases.end());
    run.numbers = std::move(training.steps.numbers);
    run.ms = table_of(measures_of(training.steps));
    run.regions = training.work.regions;
    run.numbered = training.numbered;
    run.signature = std::move(training.signature);
    run.choice = training.choice;
    for (std::size_t r = 0; r < training.steps.ranks.size(); ++r) {
        RankOfRun& rank = run.ranks.emplace_back();
        rank.rank = training.steps.ranks[r].rank;
        rank.ms = table_of(measures_of(training.steps.ranks[r]));
        if (!training.work.known()) continue;
        rank.parts_ms = std::move(training.work.ranks[r].parts_ms);
        rank.own_ms = std::move(training.work.ranks[r].own_ms);
        rank.cpu_share = training.work.ranks[r].cpu_share;
    }
    const auto lowest = std::min_element(training.steps.ranks.begin(), training.steps.ranks.end(),
                                         [](const RankSteps& a, const RankSteps& b) { return a.rank < b.rank; });
    for (std::size_t i = 0; i < std::min(run.numbers.size(), steps_of_identity); ++i)
        run.identity.insert(run.identity.end(), {lowest->begin_ns[i], lowest->end_ns[i]});
    const nlohmann::ordered_json record = record_beside_steps(file);
    const bool has_training = record.is_object() && record.contains("training");
    for (const char* member : trained_members)
        run.what_trained.push_back(has_training ? member_text(record.at("training"), member) : "");
    run.piece = piece_of(record);
    run.unfinished = why_unfinished(path, file, training, record);
    return run;
}

void keep_steps(RunSteps& run, const base::LongColumn<std::size_t>& places, base::LongColumn<std::int64_t> numbers)
{
    base::LongColumn<std::uint64_t> signature;
    if (!run.signature.empty())
        for (const std::size_t place : places) signature.push_back(std::as_const(run.signature)[place]);
    run.ms = rows_of(run.ms, places);
    for (RankOfRun& rank : run.ranks)
        for (LongTable* of_steps : {&rank.ms, &rank.parts_ms, &rank.own_ms}) *of_steps = rows_of(*of_steps, places);
    run.signature = std::move(signature);
    run.numbers = std::move(numbers);
}

bool same_run(const RunSteps& a, const RunSteps& b)
{
    const std::size_t both = std::min(a.identity.size(), b.identity.size());
    return std::equal(a.identity.begin(), a.identity.begin() + static_cast<std::ptrdiff_t>(both), b.identity.begin());
}

}  // namespace analysis
