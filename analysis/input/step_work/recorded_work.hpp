// SPDX-License-Identifier: Apache-2.0
// Work in steps as an archive records it, before it is separated from waiting.
#pragma once

#include "analysis/input/step_work/work.hpp"
#include "base/columns/long_column.hpp"
#include "base/system/clock.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace analysis {

using base::TimeSpan;

struct CallTime {
    std::uint32_t region = 0;
    std::int64_t ns = 0;
};

struct WorkOfStep {
    std::int64_t number = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::uint64_t signature = 0;       // hash of the regions that the step entered, in order
    std::vector<std::int64_t> own_ns;  // [column], as many as were known when the step ended
    std::vector<CallTime> calls;       // MPI calls
    std::vector<TimeSpan> waits;       // visits of wait_exchange
};

// Steps in the order of recording. They may be more than fit into memory.
class WorkOfSteps {
 public:
    void append(const WorkOfStep& step);
    void read(std::size_t row, WorkOfStep& step) const;  // reuses the memory of `step`, which may hold another step

    std::size_t size() const { return rows_.size(); }
    std::int64_t number(std::size_t row) const { return rows_[row].number; }
    std::uint64_t signature(std::size_t row) const { return rows_[row].signature; }
    bool has_calls(std::size_t row) const { return rows_[row].calls.count > 0; }

 private:
    struct Values {  // range of a column
        std::size_t first = 0;
        std::size_t count = 0;
    };
    struct Row {
        std::int64_t number = 0;
        std::int64_t begin_ns = 0;
        std::int64_t end_ns = 0;
        std::uint64_t signature = 0;
        Values own;
        Values calls;
        Values waits;
    };
    base::LongColumn<Row> rows_;
    base::LongColumn<std::int64_t> own_ns_;
    base::LongColumn<CallTime> calls_;
    base::LongColumn<TimeSpan> waits_;
};

struct WorkOfRank {
    const WorkOfSteps* work = nullptr;
    base::LongColumn<std::size_t> rows;         // [step]: its row in `work`
    base::LongColumn<TimeSpan> exchanges = {};  // exchanges on the rank's other threads, by start
};

struct RecordedWork {
    std::vector<std::string> columns;
    std::vector<Part> part_of;  // [column]
    std::size_t wait_column = SIZE_MAX;
    bool negotiates = false;  // ranks agree on exchanges before they begin
    std::vector<WorkOfRank> ranks;
};

// Separates own work from waiting by the rules in work_reader.hpp.
Work work_of(const RecordedWork& recorded);

}  // namespace analysis
