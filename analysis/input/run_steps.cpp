#include "analysis/input/run_steps.hpp"

#include "analysis/input/training_archive.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/saturating.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace analysis {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t steps_of_identity = 10;

RunSteps from_archive(const fs::path& archive)
{
    const Training training = read_training(archive);
    RunSteps run;
    run.names = {"step"};
    run.names.insert(run.names.end(), training.steps.phases.begin(), training.steps.phases.end());
    run.numbers = training.steps.numbers;
    run.ms = job_measures(training.steps);
    const auto lowest = std::min_element(training.steps.ranks.begin(), training.steps.ranks.end(),
                                         [](const RankSteps& a, const RankSteps& b) { return a.rank < b.rank; });
    for (std::size_t i = 0; i < std::min(run.numbers.size(), steps_of_identity); ++i)
        run.identity.insert(run.identity.end(), {lowest->begin_ns[i], lowest->end_ns[i]});
    return run;
}

struct Row {
    std::int64_t rank = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    Eigen::RowVectorXd ms;  // the step, then its phases
};

// Phases lie in their step one after the other.
Row checked_row(const base::CsvTable& table, std::size_t row, const std::vector<std::string>& phases)
{
    Row step{table.get<std::int64_t>(row, "rank"), table.get<std::int64_t>(row, "begin_ns"),
             table.get<std::int64_t>(row, "end_ns"), Eigen::RowVectorXd(static_cast<Eigen::Index>(phases.size()) + 1)};
    if (step.end_ns <= step.begin_ns) base::fail(table.place(row, "end_ns"), ": the step ends before it begins");
    const std::int64_t length_ns = base::saturated_difference(step.end_ns, step.begin_ns);
    std::int64_t left_ns = length_ns;
    step.ms[0] = static_cast<double>(length_ns) / 1e6;
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
        const auto ns = table.get<std::int64_t>(row, phases[phase]);
        if (ns < 0) base::fail(table.place(row, phases[phase]), ": a phase of ", ns, " ns");
        if (ns > left_ns)
            base::fail(table.place(row, phases[phase]), ": the phases take longer than the step's ", length_ns, " ns");
        left_ns -= ns;
        step.ms[static_cast<Eigen::Index>(phase) + 1] = static_cast<double>(ns) / 1e6;
    }
    return step;
}

RunSteps from_table(const fs::path& file)
{
    otf2::now_reading(file);
    const base::CsvTable table{file};
    RunSteps run;
    run.names = {"step"};
    std::vector<std::string> columns;
    for (const std::string& column : table.columns()) {
        if (!column.ends_with("_ns") || column == "begin_ns" || column == "end_ns") continue;
        columns.push_back(column);
        run.names.push_back(column.substr(0, column.size() - 3));
    }
    std::map<std::int64_t, std::map<std::int64_t, Row>> steps;  // by number and rank
    std::set<std::int64_t> ranks;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        otf2::getting_on();
        const Row step = checked_row(table, row, columns);
        const auto number = table.get<std::int64_t>(row, "step");
        if (!steps[number].emplace(step.rank, step).second)
            base::fail(table.place(row, "step"), ": step ", number, " of rank ", step.rank, " is there twice");
        ranks.insert(step.rank);
    }
    std::erase_if(steps, [&](const auto& step) { return step.second.size() != ranks.size(); });
    run.ms.resize(static_cast<Eigen::Index>(steps.size()), static_cast<Eigen::Index>(run.names.size()));
    Eigen::Index at = 0;
    for (const auto& [number, rows] : steps) {
        Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(run.ms.cols());
        for (const auto& [rank, row] : rows) sum += row.ms;
        run.ms.row(at++) = sum / static_cast<double>(rows.size());
        run.numbers.push_back(number);
        const Row& lowest = rows.begin()->second;
        if (run.identity.size() < 2 * steps_of_identity)
            run.identity.insert(run.identity.end(), {lowest.begin_ns, lowest.end_ns});
    }
    return run;
}

}  // namespace

fs::path steps_file(const fs::path& run)
{
    if (!fs::exists(run)) base::fail("there is no ", run.string());
    if (!fs::is_directory(run)) return run;
    const fs::path train = base::part::train;
    for (const fs::path& file : {train / base::file::anchor_in_part, fs::path{base::file::anchor_in_part},
                                 fs::path{base::file::anchor}, train / base::file::steps, fs::path{base::file::steps}})
        if (fs::exists(run / file)) return run / file;
    base::fail(run.string(), " holds neither train/trace/traces.otf2 nor train/steps.csv: no run of a training");
}

RunSteps read_run_steps(const fs::path& path)
{
    const fs::path file = steps_file(path);
    RunSteps run = file.extension() == ".csv" ? from_table(file) : from_archive(file);
    run.name = path.string();
    if (run.numbers.empty()) base::fail(path.string(), " holds no complete step");
    return run;
}

bool same_run(const RunSteps& a, const RunSteps& b)
{
    const std::size_t both = std::min(a.identity.size(), b.identity.size());
    return std::equal(a.identity.begin(), a.identity.begin() + static_cast<std::ptrdiff_t>(both), b.identity.begin());
}

}  // namespace analysis
