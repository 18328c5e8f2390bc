// SPDX-License-Identifier: Apache-2.0
// train/steps.csv: a row for each rank and step. Each row is flushed, so that the file is complete after a kill.
#pragma once

#include "base/csv.hpp"
#include "trace-tools/training/phase_clock.hpp"

#include <filesystem>

namespace training {

class StepRows {
 public:
    // The file must not exist yet; with `more_rows` it must exist, and several processes may append to it.
    explicit StepRows(const std::filesystem::path& file,
                      base::CsvWriter::Appear appear = base::CsvWriter::Appear::rows);
    void add(int rank, const StepTimes& times);

 private:
    base::CsvWriter file_;
};

}  // namespace training
