// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/first_steps.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/processes.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <fstream>
#include <map>

namespace crosstalk {

namespace {

constexpr std::int64_t start_up_ns = 5'000'000'000;  // start-up time of a job whose steps are known only at its end

bool has_first_steps(Job& job, std::int64_t waited_ns)
{
    job.find_source();
    const StepSource& source = job.source();
    if (const std::optional<std::size_t> steps = source.steps_so_far()) return *steps >= source.first_steps();
    return waited_ns >= start_up_ns && source.may_have_steps();
}

// Names of a job's processes: "python3 (3), sh".
std::string names_of_processes(pid_t job)
{
    const std::map<pid_t, base::Process> all = base::processes();
    std::map<std::string, int> names;
    for (const pid_t pid : base::with_descendants({job}, all))
        if (const auto found = all.find(pid); found != all.end()) ++names[found->second.name];
    std::vector<std::string> words;
    for (const auto& [name, count] : names) words.push_back(count == 1 ? name : base::join(name, " (", count, ")"));
    return base::join_words(words, ", ");
}

// The last line that Crosstalk's own parts of the job printed.
std::string own_words(const std::filesystem::path& log)
{
    std::string last;
    std::ifstream in{log};
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("crosstalk") || line.starts_with("libcrosstalk")) last = line;
    return std::string{base::trim(last)};
}

std::string seen_of(const Job& job)
{
    const Output::Seen output = job.output();
    std::vector<std::string> parts;
    if (output.lines > 0)
        parts.push_back(base::join(output.lines, output.lines == 1 ? " line of output" : " lines of output"));
    if (output.most)
        parts.back() +=
            base::join(", ", output.most->at_ns.size(), " of them '", base::shortened(output.most->name, 40), "'");
    if (job.source().records_calls()) parts.emplace_back("MPI calls");
    parts.push_back("processes: " + names_of_processes(job.pid()));
    return base::join_words(parts, "; ");
}

}  // namespace

Ended ended_by_itself(const Job& job, const std::string& when)
{
    const int code = job.exit_code();
    if (code == 0)
        return {base::exit_promise_not_kept,
                base::join("the job ended ", when, ": it must run for more than a few seconds")};
    for (const std::string& line : job.last_words()) base::warn(line);
    return {code == base::exit_usage ? base::exit_usage : base::exit_failed,
            base::join("the job failed ", when, " (", code, "): see ", job.log().string())};
}

void wait_for_first_steps(Job& job, const Request& request)
{
    const std::int64_t begin_ns = base::now_ns();
    std::int64_t next_line_ns = line_every_ns;
    while (true) {
        const std::int64_t waited_ns = base::now_ns() - begin_ns;
        if (has_first_steps(job, waited_ns)) return;
        if (!job.running()) throw ended_by_itself(job, "before noise could begin");
        if (waited_ns >= next_line_ns) {
            next_line_ns += line_every_ns;
            base::warn("no step after ", waited_ns / 1'000'000'000, " s: ", seen_of(job), "; ", job.source().advice());
            if (const std::string words = own_words(job.log()); !words.empty()) base::warn("the job's log: ", words);
        }
        if (waited_ns >= request.first_steps_within.count())
            throw Ended{base::exit_failed, base::join("no step within ", base::format(request.first_steps_within),
                                                      " (--first-step): ", job.source().advice())};
        base::end_if_stopped();
        base::sleep_until_ns(base::now_ns() + look_again_ns);
    }
}

}  // namespace crosstalk
