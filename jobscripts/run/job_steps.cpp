// Where the steps of a job are, while it runs and when it has ended.
#include "base/contract/run_directory.hpp"
#include "base/contract/run_words.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/words.hpp"
#include "jobscripts/run/job.hpp"

#include <cstdlib>
#include <fstream>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t least_lines = 20;  // of a kind, or it tells of no steps

// Rows that a table of steps has so far for rank 0.
std::size_t steps_in(const fs::path& table)
{
    std::size_t steps = 0;
    std::ifstream in{table};
    for (std::string line; std::getline(in, line);) steps += line.starts_with("0,") ? 1 : 0;
    return steps;
}

// The first, and every so-many-th after it.
LineTimes each(const LineTimes& at_ns, std::size_t every)
{
    LineTimes kept;
    for (std::size_t i = 0; i < at_ns.size(); i += every) kept.push_back(at_ns[i]);
    return kept;
}

}  // namespace

// Throws filesystem_error where there is something in the way.
void Job::take_record_of_calls()
{
    const fs::path train = request_.out / base::part::train;
    if (part_ == train) return;
    fs::rename(part_, train);
    part_ = train;
}

void Job::look_for_marks()
{
    if (source_ != StepSource::calls || !request_.step_region.empty() || !request_.step_from.empty()) return;
    if (!fs::exists(request_.out / base::part::log / base::file::tells_steps)) return;
    source_ = StepSource::marks;
    part_ = request_.out / base::part::train;
}

std::optional<std::size_t> Job::steps_so_far() const
{
    switch (source_) {
        case StepSource::ddl_train:
        case StepSource::marks:
            return steps_in(own_table());
        case StepSource::table:
            return steps_in(request_.steps);
        case StepSource::lines:
            return output_->most_lines();
        case StepSource::scorep:
        case StepSource::calls:
            break;
    }
    return {};
}

bool Job::may_have_steps() const
{
    constexpr std::size_t least = 5;
    if (source_ != StepSource::calls) return true;
    return output_->most_lines() >= least || records_calls() || started_scorep(request_.folder, began_);
}

bool Job::records_calls() const
{
    return source_ == StepSource::calls && fs::exists(own_trace().string() + ".tmp");
}

Output::Seen Job::output() const
{
    return output_ ? output_->seen() : Output::Seen{};
}

std::vector<std::string> Job::finish()
{
    const LineKinds kinds = output_ ? output_->finish() : LineKinds{};
    switch (source_) {
        case StepSource::ddl_train:
            return {};
        case StepSource::marks:
            return steps_of_marks();
        case StepSource::table:
            if (!fs::exists(request_.steps)) base::fail("the job wrote no ", request_.steps);
            fs::create_directories(own_table().parent_path());
            fs::copy_file(request_.steps, own_table());
            return {"--steps", own_table().string()};
        case StepSource::scorep:
            return steps_of_scorep();
        case StepSource::lines:
            return steps_of_lines(kinds);
        case StepSource::calls:
            break;
    }
    if (fs::exists(own_table())) {  // of a program that told them later than noise could wait for
        part_ = request_.out / base::part::train;
        return steps_of_marks();
    }
    take_record_of_calls();
    if (scorep_directory(request_.folder, began_)) return steps_of_scorep();
    return has_own_trace() ? steps_of_archive() : steps_of_lines(kinds);
}

std::vector<std::string> Job::steps_of_marks() const
{
    if (has_own_trace()) return {"--step-is", "a step as the job marks it"};
    const std::size_t steps = fs::exists(own_table()) ? steps_in(own_table()) : 0;
    if (steps < least_lines) base::fail("the job recorded no steps of its own: see ", log().string());
    base::warn("the job ended before its archive was whole; its ", steps, " steps are those of ", own_table().string());
    return {"--steps", own_table().string(), "--step-is", "a step as the job marks it"};
}

std::vector<std::string> Job::steps_of_archive() const
{
    if (!request_.step_region.empty()) return {"--step-region", request_.step_region};
    std::vector<std::string> reading;
    if (!request_.step_from.empty()) reading = {"--step-from", request_.step_from};
    if (request_.step_every > 1) reading.insert(reading.end(), {"--step-every", std::to_string(request_.step_every)});
    return reading;
}

// Leaves a link to an archive that is elsewhere, where an archive of the job's steps is looked for.
void Job::take_archive_of_scorep() const
{
    if (source_ == StepSource::scorep && has_own_trace()) return;
    const std::optional<fs::path> directory = scorep_directory(request_.folder, began_);
    if (!directory)
        base::fail("Score-P wrote no archive: it does so where the job ends by itself; see ", log().string());
    if (fs::exists(own_trace())) fs::rename(own_trace(), own_trace().string() + "-of-calls");
    fs::create_directory_symlink(fs::canonical(*directory), own_trace());
    base::warn("steps are those of Score-P's archive ", (*directory / base::file::anchor).string());
}

std::vector<std::string> Job::steps_of_scorep() const
{
    constexpr std::int64_t steady_ns = 5'000'000;
    JobTimes times = times_;
    times.end_ns = base::now_ns();
    const std::int64_t set_ns = base::realtime_offset_ns() - times.realtime_ahead_ns;
    if (std::abs(set_ns) > steady_ns)
        base::fail("the real-time clock was set by ", set_ns,
                   " ns meanwhile, and Score-P's archive may be on it: run again");
    take_archive_of_scorep();
    const ArchiveTimes archive =
        archive_times(own_trace() / base::file::anchor, request_.out / base::part::log / "scorep.json");
    std::vector<std::string> reading = steps_of_archive();
    reading.insert(reading.end(), {"--clock-offset", base::join(clock_ahead_ns(archive, times), "ns")});
    return reading;
}

std::vector<std::string> Job::steps_of_lines(const LineKinds& kinds) const
{
    const auto kind = kinds.most_frequent(least_lines);
    if (!kind && source_ == StepSource::lines)
        base::fail("fewer than ", least_lines, " lines of the job match --step-line '", request_.step_line, "': see ",
                   log().string());
    if (!kind && (fs::exists(own_trace()) || fs::exists(own_trace().string() + ".tmp")))
        base::fail("the job was killed before the archive of its MPI calls was whole: a rank died, or what starts it ",
                   "gives it too little time to end after SIGTERM; see ", log().string());
    if (!kind)
        base::fail("the job shows no steps: no MPI calls that could be recorded, no line that repeats; ",
                   "--step-line EXPRESSION names one, --steps FILE a table that it writes");
    const std::string is =
        base::join("a step lasts from one line '", base::shortened(base::printable(kind->name), 60), "' to the ",
                   request_.step_every > 1 ? base::join(request_.step_every, ". after it") : "next");
    if (source_ == StepSource::calls) base::warn(is, " (--step-line chooses another)");
    write_steps(own_table(), each(kind->at_ns, static_cast<std::size_t>(request_.step_every)));
    return {"--steps", own_table().string(), "--step-is", is};
}

}  // namespace crosstalk
