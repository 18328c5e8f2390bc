// SPDX-License-Identifier: Apache-2.0
// A job that prints one line per step: those that --step-line finds, or, if nothing else shows steps, repeated lines.
#include "base/error.hpp"
#include "base/words.hpp"
#include "crosstalk/run/sources/step_source.hpp"

namespace crosstalk {

namespace {

// Every `every`-th time, beginning with the first.
LineTimes each(const LineTimes& at_ns, std::size_t every)
{
    LineTimes kept;
    for (std::size_t i = 0; i < at_ns.size(); i += every) kept.push_back(at_ns[i]);
    return kept;
}

class StepLines : public StepSource {
 public:
    explicit StepLines(MeasuredJob& job) : StepSource{job}
    {
        if (!job.request.step_line.empty()) LineKinds{job.request.step_line};  // throws for an invalid expression
    }

    std::optional<std::size_t> steps_so_far() const override { return job_.output->most_lines(); }

    std::string advice() const override
    {
        const std::string others = job_.option_for_lines();
        return base::join(job_.output->most_lines(), " lines match --step-line ",
                          base::shell_word(job_.request.step_line),
                          others.ends_with("EXPRESSION") ? "" : "; " + others + " would match others");
    }

    Words finish(const LineKinds& kinds) override
    {
        const auto kind = kinds.most_frequent(least_steps);
        if (!kind)
            base::fail("fewer than ", least_steps, " lines of the job match --step-line '", job_.request.step_line,
                       "': see ", job_.log().string());
        const int every = job_.request.step_every;
        const std::string is =
            base::join("a step lasts from one line '", base::shortened(base::printable(kind->name), 60), "' to the ",
                       every > 1 ? base::join(every, ". after it") : "next");
        if (job_.request.step_line.empty()) base::warn(is, " (give another with --step-line)");
        write_steps(job_.own_table(), each(kind->at_ns, static_cast<std::size_t>(every)));
        return {"--steps", job_.own_table().string(), "--step-is", is};
    }
};

}  // namespace

extern const StepSourceCard lines_source{.takes = [](const Request& request) { return !request.step_line.empty(); },
                                         .make = make_source<StepLines>};

}  // namespace crosstalk
