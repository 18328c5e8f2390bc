#include "analysis/run_steps.hpp"

#include "analysis/training_archive.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"

#include <map>

namespace analysis {

namespace fs = std::filesystem;

namespace {

RunSteps from_archive(const fs::path& archive)
{
    const Training training = read_training(archive);
    RunSteps run;
    run.names = {"step"};
    run.names.insert(run.names.end(), training.steps.phases.begin(), training.steps.phases.end());
    run.numbers = training.steps.numbers;
    run.ms = job_measures(training.steps);
    return run;
}

RunSteps from_table(const fs::path& file)
{
    const base::CsvTable table{file};
    RunSteps run;
    run.names = {"step"};
    std::vector<std::string> columns;
    for (const std::string& column : table.columns()) {
        if (!column.ends_with("_ns") || column == "begin_ns" || column == "end_ns") continue;
        columns.push_back(column);
        run.names.push_back(column.substr(0, column.size() - 3));
    }
    std::map<std::int64_t, std::vector<Eigen::RowVectorXd>> steps;
    std::map<std::int64_t, bool> ranks;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        Eigen::RowVectorXd times(static_cast<Eigen::Index>(run.names.size()));
        times[0] = table.get<double>(row, "end_ns") - table.get<double>(row, "begin_ns");
        for (std::size_t c = 0; c < columns.size(); ++c)
            times[static_cast<Eigen::Index>(c) + 1] = table.get<double>(row, columns[c]);
        steps[table.get<std::int64_t>(row, "step")].push_back(times / 1e6);
        ranks[table.get<std::int64_t>(row, "rank")] = true;
    }
    std::erase_if(steps, [&](const auto& step) { return step.second.size() != ranks.size(); });
    run.ms.resize(static_cast<Eigen::Index>(steps.size()), static_cast<Eigen::Index>(run.names.size()));
    Eigen::Index at = 0;
    for (const auto& [number, rows] : steps) {
        Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(run.ms.cols());
        for (const Eigen::RowVectorXd& row : rows) sum += row;
        run.ms.row(at++) = sum / static_cast<double>(rows.size());
        run.numbers.push_back(number);
    }
    return run;
}

RunSteps read_from(const fs::path& path)
{
    if (!fs::is_directory(path)) return path.extension() == ".csv" ? from_table(path) : from_archive(path);
    for (const char* archive : {"train/trace/traces.otf2", "trace/traces.otf2", "traces.otf2"})
        if (fs::exists(path / archive)) return from_archive(path / archive);
    for (const char* table : {"train/steps.csv", "steps.csv"})
        if (fs::exists(path / table)) return from_table(path / table);
    base::fail(path.string(), " holds neither train/trace/traces.otf2 nor train/steps.csv: no run of a training");
}

}  // namespace

RunSteps read_run_steps(const fs::path& path)
{
    if (!fs::exists(path)) base::fail("there is no ", path.string());
    RunSteps run = read_from(path);
    run.name = path.string();
    if (run.numbers.empty()) base::fail(path.string(), " holds no complete step");
    return run;
}

}  // namespace analysis
