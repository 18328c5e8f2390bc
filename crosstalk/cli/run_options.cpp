// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/cli/run_options.hpp"

#include "base/cli/option_checks.hpp"
#include "base/error.hpp"

namespace crosstalk {

void add_step_options(base::Options& options, Request& request)
{
    options.group(
        "Where the steps of a job come from that does not tell them itself, as ddl-train and crosstalk-python do, "
        "and what Score-P traces; without any of these from its MPI calls");
    options.add("step-from", request.step_from, "they last from one call of this to the next: MPI_Allreduce", "CALL");
    options.add("step-every", request.step_every,
                "a step is so many of these calls, or of those that are found, or of the lines", "NUMBER");
    options.add("step-region", request.step_region, "they are the visits of this region of its archive", "NAME");
    options.add("step-line", request.step_line,
                "they last from one line of its output to the next that this regular expression finds something "
                "in; of lines that agree in its group, as 'step ([0-9]+)', the first counts",
                "EXPRESSION");
    options.add("steps", request.steps, "they stand in this table that it writes, see interference exposure", "FILE");
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
    if (length.count() <= 0) base::fail_usage(option, ": must be longer than nothing");
    return length;
}

}  // namespace crosstalk
