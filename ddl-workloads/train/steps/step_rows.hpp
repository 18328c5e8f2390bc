// train/steps.csv: a row for each rank and step, flushed one by one; after a kill it is the record.
#pragma once

#include "base/csv.hpp"
#include "ddl-workloads/instruments/phases.hpp"

#include <filesystem>

namespace ddl {

class StepRows {
 public:
    // The file must not exist yet.
    explicit StepRows(const std::filesystem::path& file);
    void add(int rank, const StepTimes& times);

 private:
    base::CsvWriter file_;
};

}  // namespace ddl
