// SPDX-License-Identifier: Apache-2.0
// trace-steps: finds the region of a trace that repeats like the step of a training, and shows what its visits consist
// of.
#include "base/columns/long_order.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"
#include "trace-tools/steps/chosen_steps.hpp"
#include "trace-tools/tools/archive_tool.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>

namespace {

void write_steps(const std::filesystem::path& file, const otf2::StepTable& table)
{
    std::vector<std::string> columns{"rank", "step", "begin_ns", "end_ns"};
    for (const std::string& phase : table.phases) columns.push_back(phase + "_ns");
    base::CsvWriter steps{file, columns, base::CsvWriter::Appear::whole};
    for (const otf2::StepsOfRank& rank : table.ranks)
        for (std::size_t i = 0; i < rank.steps.size(); ++i) {
            const otf2::Step step = rank.steps[i];
            std::vector<std::string> cells{std::to_string(rank.rank), std::to_string(step.number),
                                           std::to_string(step.begin_ns), std::to_string(step.end_ns)};
            for (const auto& phase_ns : rank.phase_ns) cells.push_back(std::to_string(phase_ns[i]));
            steps.write(cells);
        }
    steps.finish();
}

// Times over all steps of all ranks.
struct Times {
    double mean_ms = 0.0;
    double median_ms = 0.0;
};

Times times(const base::LongColumn<double>& ns)
{
    const double sum = std::accumulate(ns.begin(), ns.end(), 0.0);
    return {sum / static_cast<double>(ns.size()) / 1e6, base::median(ns) / 1e6};
}

Times times(const otf2::StepTable& table)
{
    base::LongColumn<double> ns;
    for (const otf2::StepsOfRank& rank : table.ranks)
        for (const otf2::Step step : rank.steps) ns.push_back(static_cast<double>(step.end_ns - step.begin_ns));
    return times(ns);
}

Times times(const otf2::StepTable& table, std::size_t phase)
{
    base::LongColumn<double> all;
    for (const otf2::StepsOfRank& rank : table.ranks)
        for (const std::int64_t ns : rank.phase_ns[phase]) all.push_back(static_cast<double>(ns));
    return times(all);
}

void print(const std::string& region, const otf2::StepTable& table)
{
    std::size_t least = SIZE_MAX;
    std::size_t most = 0;
    double steps_ns = 0.0;
    double run_ns = 0.0;
    for (const otf2::StepsOfRank& rank : table.ranks) {
        least = std::min(least, rank.steps.size());
        most = std::max(most, rank.steps.size());
        run_ns += static_cast<double>(rank.steps.back().end_ns - rank.steps.front().begin_ns);
        for (const otf2::Step step : rank.steps) steps_ns += static_cast<double>(step.end_ns - step.begin_ns);
    }
    const std::string count = least == most ? base::join(most) : base::join(least, " to ", most);
    const Times step = times(table);
    std::printf(
        "step '%s': %s visits on each of %zu %s, %.3f ms each, %.1f %% of the time from the first to the last\n",
        base::printable(region).c_str(), count.c_str(), table.ranks.size(), table.ranks.size() == 1 ? "rank" : "ranks",
        step.mean_ms, run_ns > 0.0 ? 100.0 * steps_ns / run_ns : 100.0);
    std::printf("%-28s %12s %12s %8s\n", "phase", "mean ms", "median ms", "share %");
    for (std::size_t phase = 0; phase < table.phases.size(); ++phase) {
        const Times part = times(table, phase);
        std::printf("%-28s %12.3f %12.3f %8.2f\n", base::printable(table.phases[phase]).c_str(), part.mean_ms,
                    part.median_ms, step.mean_ms > 0.0 ? 100.0 * part.mean_ms / step.mean_ms : 0.0);
    }
    std::printf("%-28s %12.3f %12.3f %8.2f\n", "step", step.mean_ms, step.median_ms, 100.0);
}

// Removes steps that are not completely within the selected part.
void keep(otf2::StepTable& table, const std::string& anchor, const otf2::PartWords& words)
{
    if (!words.any()) return;
    otf2::Reader reader{anchor};  // reads times on the common clock
    const otf2::Part part = otf2::part_of(reader, words);
    const std::uint64_t ticks_per_s = reader.archive().clock.ticks_per_s;
    const std::int64_t tick_ns = ticks_per_s > 0 ? static_cast<std::int64_t>(1'000'000'000 / ticks_per_s) : 0;
    const std::int64_t rounding_ns = 2 * std::max<std::int64_t>(tick_ns, 1);  // a tick at each end of a step
    for (otf2::StepsOfRank& rank : table.ranks) {
        const otf2::Location& location = reader.archive().locations[rank.location];
        otf2::keep_steps(rank, [&](const otf2::Step& step) {
            const std::int64_t begin_ns = otf2::on_common_clock(step.begin_ns, location.clock_offsets);
            const std::int64_t end_ns = otf2::on_common_clock(step.end_ns, location.clock_offsets);
            return part.within(rank.location, begin_ns, end_ns) + rounding_ns >= end_ns - begin_ns;
        });
    }
    std::erase_if(table.ranks, [](const otf2::StepsOfRank& rank) { return rank.steps.empty(); });
}

int find_steps(const ArchiveTool& tool)
{
    const otf2::StepChoice choice{tool.step_region, tool.step_from, tool.step_every};
    choice.check();
    tool.refuse_taken({base::file::steps});
    otf2::Reader reader{tool.anchor, {.undo_clock_offsets = true}};
    std::optional<otf2::ChosenSteps> steps = otf2::chosen_steps(reader, choice);
    if (!steps) {
        base::warn(tool.anchor, ": ", otf2::how_to_choose_steps(reader.archive()));
        return base::exit_promise_not_kept;
    }
    keep(steps->table, tool.anchor, tool.part);
    if (steps->table.ranks.empty()) {
        base::warn(steps->between ? "no step " : "no visit of region ", steps->name, " ends",
                   tool.part.any() ? " within " + tool.part.text() : "");
        return base::exit_promise_not_kept;
    }
    if (const std::filesystem::path out = tool.out(); !out.empty()) {
        const base::MadeDirectories made{out};
        write_steps(out / base::file::steps, steps->table);
    }
    print(steps->name, steps->table);
    return base::exit_fine;
}

}  // namespace

int main(int argc, char** argv)
try {
    ArchiveTool tool{"trace-steps", "finds the region of a trace that is the training step, and its phases",
                     "directory for steps.csv", "steps are the visits of this region (default: found automatically)"};
    tool.options.add(
        "step-from", tool.step_from,
        "a step lasts from the end of one call of this region to the end of the next, for archives without the "
        "program's own regions",
        "NAME");
    tool.options.add("step-every", tool.step_every, "calls of --step-from (or of the call found) per step", "NUMBER");
    tool.options.section(
        {.title = "How the step is found",
         .text =
             "1. The outermost region with an attribute 'step'. 2. Else the outermost region, not of MPI or another "
             "run-time library, that every rank visits equally often, at least 3 times, always directly inside the "
             "same region. Its visits must have similar lengths (half of them, and of their time, within a factor of "
             "4) and cover at least half of the time from first to last event; among equals, the one with the most "
             "time. Only the first location with events counts for each rank. 3. Else from call to call of the MPI "
             "collective that every rank calls equally often, directly inside the same region, over at least half of "
             "the run. Among several, the one called least often if 100 times or more, else the one called most "
             "often."});
    tool.options.section({.title = "Columns of steps.csv",
                          .entries = {
                              {"rank, step", "the step's number, from its attribute 'step' or counted from 0"},
                              {"begin_ns, end_ns", "on the node's own clock"},
                              {"..._ns", "time in each phase, a region directly inside the step"},
                              {"other_ns", "rest of the step"},
                          }});
    tool.options.epilogue(
        "Exit code 3 if nothing repeats. --region, --from and --to select steps that lie completely in that part.");
    tool.options.example("trace-steps train/trace/traces.otf2");
    tool.options.example("trace-steps train/trace/traces.otf2 --from 10s -o steps");
    tool.options.example("trace-steps recorded/traces.otf2 --step-from MPI_Allreduce");
    return tool.run(argc, argv, find_steps);
} catch (...) {
    return base::report_failure("trace-steps");
}
