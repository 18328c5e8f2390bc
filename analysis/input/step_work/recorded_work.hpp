// What an archive recorded of the work in steps, before it is told apart from waiting.
#pragma once

#include "analysis/input/step_work/work.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace analysis {

struct CallTime {
    std::uint32_t region = 0;
    std::int64_t ns = 0;
};

struct TimeSpan {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
};

struct WorkOfStep {
    std::int64_t number = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::uint64_t signature = 0;       // of the regions that it entered, in their order
    std::vector<std::int64_t> own_ns;  // by column, as many as there were by then
    std::vector<CallTime> calls;       // of MPI
    std::vector<TimeSpan> waits;       // visits of wait_exchange
};

struct RecordedWork {
    std::vector<std::string> columns;
    std::vector<Part> part_of;  // by column
    std::size_t wait_column = SIZE_MAX;
    bool negotiates = false;                            // ranks agree on exchanges before they begin
    std::vector<std::vector<const WorkOfStep*>> ranks;  // [rank][step]
    std::vector<std::vector<TimeSpan>> exchanges;       // [rank], of its other thread
};

// Rules: work_reader.hpp.
Work work_of(const RecordedWork& recorded);

}  // namespace analysis
