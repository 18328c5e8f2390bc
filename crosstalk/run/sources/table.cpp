// SPDX-License-Identifier: Apache-2.0
// A job that writes a table of its steps: --steps FILE.
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "crosstalk/run/sources/step_source.hpp"

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

class StepTable : public StepSource {
 public:
    explicit StepTable(MeasuredJob& job) : StepSource{job}
    {
        if (fs::exists(job.request.steps))
            base::fail_usage("--steps ", job.request.steps, " already exists, but the job is to write it");
    }

    std::optional<std::size_t> steps_so_far() const override { return steps_in(job_.request.steps); }

    std::string advice() const override
    {
        return base::join("--steps ", job_.request.steps, " has ", steps_in(job_.request.steps), " rows of rank 0");
    }

    Words finish(const LineKinds&) override
    {
        if (!fs::exists(job_.request.steps)) base::fail("the job wrote no ", job_.request.steps);
        fs::create_directories(part());
        fs::copy_file(job_.request.steps, job_.own_table());
        return {"--steps", job_.own_table().string()};
    }
};

}  // namespace

extern const StepSourceCard table_source{.takes = [](const Request& request) { return !request.steps.empty(); },
                                         .make = make_source<StepTable>};

}  // namespace crosstalk
