// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/trials/outcome_file.hpp"

#include "base/error.hpp"
#include "base/files.hpp"

#include <utility>

namespace ddl {

namespace fs = std::filesystem;

namespace {

// Drops an incomplete last row, left by a process that was killed.
void drop_half_a_row(const fs::path& file)
{
    const std::string content = base::read_whole(file);
    const std::size_t end = content.rfind('\n');
    if (end != std::string::npos && end + 1 != content.size()) fs::resize_file(file, end + 1);
}

}  // namespace

OutcomeFile::OutcomeFile(fs::path directory, const std::vector<base::Trial>& trials, std::string strategy)
    : directory_{std::move(directory)}
{
    const fs::path file = directory_ / base::file::outcomes;
    const bool there = fs::exists(file);
    if (there) {
        if (base::CsvTable{file}.columns() != base::outcome_columns())
            base::fail(file.string(), ": written by an earlier version with other columns; give another --out DIR");
        drop_half_a_row(file);
        for (const base::Outcome& outcome : base::read_outcomes(file)) {
            if (ended_ == trials.size() || outcome.trial != trials[ended_].name)
                base::fail(file.string(), ": row ", ended_ + 1, " is not an outcome of trial ", ended_ + 1);
            crashed_ += outcome.what == base::outcome_class::crashed ? 1 : 0;
            ++ended_;
        }
    }
    rows_.emplace(file, base::outcome_columns(),
                  there ? base::CsvWriter::Appear::more_rows : base::CsvWriter::Appear::rows);
    const fs::path mark = directory_ / base::file::trial_begun;
    if (ended_ == trials.size() || !fs::exists(mark)) return;
    const base::Trial& next = trials[ended_];
    if (base::read_whole(mark) != next.name) return;
    base::warn("trial ", next.name, " crashed the training; continuing with the next one");
    end({.trial = next.name,
         .kind = next.kind,
         .strategy = std::move(strategy),
         .rank = next.rank,
         .step = next.step,
         .guard = next.guard,
         .what = base::outcome_class::crashed,
         .steps = next.steps});
    ++crashed_;
}

void OutcomeFile::begin(const base::Trial& trial)
{
    base::write_whole(directory_ / base::file::trial_begun, trial.name);
}

void OutcomeFile::end(const base::Outcome& outcome)
{
    rows_->write(base::cells(outcome));
    ++ended_;
}

}  // namespace ddl
