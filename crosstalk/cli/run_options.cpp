// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/cli/run_options.hpp"

#include "base/cli/option_checks.hpp"
#include "base/error.hpp"

namespace crosstalk {

void add_step_options(base::Options& options, Request& request)
{
    options.group(
        "Source of steps, for jobs that do not report them (ddl-train, crosstalk-python and Score-P traces do); "
        "default: MPI calls");
    options.add("step-from", request.step_from, "a step lasts from one call of this to the next: MPI_Allreduce",
                "CALL");
    options.add("step-every", request.step_every, "number of calls or lines per step", "NUMBER");
    options.add("step-region", request.step_region, "steps are the visits of this region of the job's archive", "NAME");
    options.add(
        "step-line", request.step_line,
        "a step lasts from one output line that matches this regular expression to the next; of lines with equal "
        "group, as in 'step ([0-9]+)', the first counts",
        "EXPRESSION");
    options.add("steps", request.steps, "table of steps that the job writes, see interference exposure", "FILE");
}

void check_budget(const std::string& text)
{
    if (base::parsed<base::Percent>("--budget", text.ends_with('%') ? text : text + "%").value <= 0.0)
        base::fail_usage("--budget: must be more than 0%");
}

base::Nanoseconds read_time(const char* option, const std::string& text)
{
    const bool bare = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
    const auto length = base::parsed<base::Nanoseconds>(option, bare ? text + "s" : text);
    if (length.count() <= 0) base::fail_usage(option, ": must be more than zero");
    return length;
}

}  // namespace crosstalk
