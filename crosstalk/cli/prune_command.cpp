// SPDX-License-Identifier: Apache-2.0
#include "base/cli/option_checks.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/words.hpp"
#include "crosstalk/cli/commands.hpp"
#include "crosstalk/prune/prune.hpp"

#include <iostream>

namespace crosstalk {

namespace {

// Parses "30d", or a time in the form that all options accept.
base::Nanoseconds read_age(const std::string& text)
{
    constexpr double most_days = 36'500.0;
    if (!text.ends_with('d')) return base::parsed<base::Nanoseconds>("--older-than", text);
    const auto days = base::parsed<double>("--older-than", text.substr(0, text.size() - 1));
    if (!(days >= 0.0 && days <= most_days)) base::fail_usage("--older-than must be from 0d to ", most_days, "d");
    return std::chrono::duration_cast<base::Nanoseconds>(std::chrono::duration<double, std::ratio<86400>>{days});
}

std::uint64_t bytes_of(const std::vector<Loss>& losses)
{
    std::uint64_t bytes = 0;
    for (const Loss& loss : losses) bytes += loss.bytes;
    return bytes;
}

std::string size_text(std::uint64_t bytes)
{
    return base::bytes_text(static_cast<double>(bytes));
}

void print(std::ostream& out, const PrunableRun& run, bool dry_run)
{
    const std::string name = run.directory.string();
    if (!run.kept_because.empty()) {
        out << name << ": left alone: " << run.kept_because << "\n";
        return;
    }
    if (run.losses.empty()) {
        out << name << ": nothing to remove\n";
        return;
    }
    const std::uint64_t gone = bytes_of(run.losses);
    out << name << ": " << size_text(gone) << " of " << size_text(run.bytes)
        << (dry_run ? " would go\n" : " removed\n");
    std::vector<std::vector<std::string>> lines;
    for (const Loss& loss : run.losses) lines.push_back({"  " + loss.path, size_text(loss.bytes), loss.what});
    out << base::table_text(lines, 3);
}

}  // namespace

PruneCommand::PruneCommand()
    : Command{"crosstalk prune", "removes from finished runs what their reports do not need: traces, data, logs"}
{
    options.add_positional("DIR", directories_, "a run, a set of runs, or a campaign");
    options.add("older-than", older_than_, "only runs whose report is at least that old: 30d, 12h", "TIME");
    options.add_switch("checkpoints", checkpoints_, "also checkpoints that ddl-train wrote");
    options.add_switch("dry-run", dry_run_,
                       "print what would be removed, its size and what then no longer works, and exit");
    options.example("crosstalk prune --dry-run DIR");
    options.example("crosstalk prune --older-than 30d runs/*");
    options.epilogue(
        "Reports, records, steps.csv and everything that the noise recorded are kept, so interference analyse still "
        "finds the same effects. If only the archive has the steps, trace-steps first writes steps.csv. Links, and "
        "runs that are being written, have not ended or have no report, are skipped. DIR/pruned.json lists what was "
        "removed, and when. Exit codes: 0 fine, 1 failed, 2 wrong usage, or a directory that holds no run.");
    options.see_also("interference-analyse(1), trace-steps(1)");
}

int PruneCommand::run()
{
    PruneRules rules{.older_than = {}, .checkpoints = checkpoints_};
    if (!older_than_.empty()) rules.older_than = read_age(older_than_);
    std::vector<PrunableRun> runs;
    for (const std::string& directory : directories_)
        for (const PrunableRun& run : prunable_runs(directory, rules)) runs.push_back(run);
    std::uint64_t bytes = 0;
    for (const PrunableRun& run : runs) {
        if (!dry_run_ && run.kept_because.empty()) prune(run);
        base::print_lines(std::cout, [&](std::ostream& out) { print(out, run, dry_run_); });
        bytes += bytes_of(run.losses);
    }
    std::cout << (dry_run_ ? "nothing was removed (--dry-run): " : "") << size_text(bytes)
              << (dry_run_ ? " would go\n" : " removed\n");
    base::flush_stdout();
    return base::exit_fine;
}

}  // namespace crosstalk
