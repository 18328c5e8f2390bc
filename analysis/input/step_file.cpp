#include "analysis/input/step_file.hpp"

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/saturating.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <algorithm>
#include <map>

namespace analysis {

namespace {

constexpr const char* host_column = "host";
constexpr const char* other_column = "other_ns";

struct StepsOfRank {
    std::map<std::int64_t, otf2::Step> steps;  // by number
    std::string host;
};

// Every phase but `other`, which is what these leave.
std::vector<std::string> phase_columns(const base::CsvTable& table)
{
    std::vector<std::string> columns;
    for (const std::string& column : table.columns())
        if (column.ends_with("_ns") && column != "begin_ns" && column != "end_ns" && column != other_column)
            columns.push_back(column);
    return columns;
}

// Phases lie in their step one after the other.
otf2::Step checked_step(const base::CsvTable& table, std::size_t row, const std::vector<std::string>& phases)
{
    otf2::Step step{table.get<std::int64_t>(row, "step"),
                    table.get<std::int64_t>(row, "begin_ns"),
                    table.get<std::int64_t>(row, "end_ns"),
                    {}};
    if (step.end_ns <= step.begin_ns) base::fail(table.place(row, "end_ns"), ": the step ends before it begins");
    const std::int64_t length_ns = base::saturated_difference(step.end_ns, step.begin_ns);
    std::int64_t left_ns = length_ns;
    for (const std::string& phase : phases) {
        const auto ns = table.get<std::int64_t>(row, phase);
        if (ns < 0) base::fail(table.place(row, phase), ": a phase of ", ns, " ns");
        if (ns > left_ns)
            base::fail(table.place(row, phase), ": the phases take longer than the step's ", length_ns, " ns");
        left_ns -= ns;
        step.phase_ns.push_back(ns);
    }
    step.phase_ns.push_back(left_ns);
    return step;
}

}  // namespace

StepFile read_step_file(const std::filesystem::path& file)
{
    otf2::now_reading(file);
    const base::CsvTable table{file};
    const std::vector<std::string> phases = phase_columns(table);
    const bool has_hosts = table.has(host_column);
    std::map<std::int64_t, StepsOfRank> ranks;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        otf2::getting_on();
        const auto number = table.get<std::int64_t>(row, "rank");
        const otf2::Step step = checked_step(table, row, phases);
        StepsOfRank& rank = ranks[number];
        if (!rank.steps.emplace(step.number, step).second)
            base::fail(table.place(row, "step"), ": step ", step.number, " of rank ", number, " is there twice");
        if (!has_hosts) continue;
        const std::string& host = table.text(row, host_column);
        if (rank.host.empty()) rank.host = host;
        if (rank.host != host)
            base::fail(table.place(row, host_column), ": rank ", number, " on ", host, ", but before on ", rank.host);
    }
    if (ranks.empty()) base::fail(file.string(), " holds no complete step");
    StepFile read;
    for (const std::string& phase : phases) read.table.phases.push_back(phase.substr(0, phase.size() - 3));
    read.table.phases.emplace_back("other");
    for (const auto& [number, rank] : ranks) {
        otf2::StepsOfRank& steps = read.table.ranks.emplace_back();
        steps.rank = number;
        for (const auto& [step_number, step] : rank.steps) steps.steps.push_back(step);
        read.host.push_back(rank.host);
    }
    return read;
}

}  // namespace analysis
