// One noise process from the claim of its directory to its last record.
#pragma once

#include "noisegen/limits.hpp"
#include "noisegen/placement.hpp"
#include "noisegen/schedule.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>

namespace noisegen {

struct Request {
    Schedule schedule;
    std::uint64_t seed = 1;
    base::Nanoseconds duration{60'000'000'000};
    Wish wish;
    Avoid avoid;
    base::CpuSet cpus;
    std::vector<Seat> seats;           // where they are
    std::string scheduling = "other";  // class of the noise threads: batch, idle
    std::string memory = "local";      // or NUMA nodes that memory comes from
    std::string on_overlap = "tell";   // or stop: when a process of what is avoided comes to a noise CPU
    Limits limits;
    std::filesystem::path limits_file;  // for rate=60%; empty: the default
    std::filesystem::path out;          // the run's directory
    std::filesystem::path control_run;  // the run whose control file asks the training and tells its steps
    std::set<pid_t> victims = {};       // processes that control.pause stops; none: those in the control file
    bool designed = false;              // refuse a schedule of which interference could make no report
    bool json = false;                  // print the whole record in the end, instead of a line for each dose
    nlohmann::ordered_json record;      // base::run_record()
};

// Returns at the end of the duration, or about a tenth of a second after the program was asked to stop, with the exit
// code: 3 if a rate was not reached, or an overlap ended it. Results go to stdout (rank 0), notes to stderr.
int run(Request request);

}  // namespace noisegen
