// SPDX-License-Identifier: Apache-2.0
// A job that Score-P traces into an archive of its own.
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "crosstalk/programs/programs.hpp"
#include "crosstalk/run/sources/program_text.hpp"
#include "crosstalk/run/sources/step_source.hpp"

#include <cstdlib>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

// An instrumented program contains names of Score-P's functions or libraries.
bool is_instrumented(const std::string& word)
{
    const std::string text = text_of(word);
    return is_program(text) &&
           (text.find("SCOREP_") != std::string::npos || text.find("libscorep_") != std::string::npos);
}

// Is one of the words a program that Score-P traces? Words after an interpreter or a script are arguments, and not
// looked up on PATH. Crosstalk's programs contain Score-P's names without being traced.
bool is_traced_program(const Words& command)
{
    bool may_be_on_path = true;
    for (const std::string& word : command) {
        const bool by_path = word.find('/') != std::string::npos;
        const std::optional<fs::path> file = found_on_path(word);
        std::error_code unknown;
        const bool ours =
            file && fs::equivalent(fs::absolute(*file).parent_path(), path_of_program("").parent_path(), unknown);
        if ((by_path || may_be_on_path) && !ours && is_instrumented(word)) return true;
        if (is_script(word) || fs::path{word}.filename().string().starts_with("python")) may_be_on_path = false;
    }
    return false;
}

class Scorep : public StepSource {
 public:
    using StepSource::StepSource;

    Words words() const override
    {
        Words words = scorep_words(own_trace());
        words.insert(words.end(), job_.request.command.begin(), job_.request.command.end());
        return words;
    }

    bool ends_by_its_processes() const override { return true; }
    bool writes_archive_at_its_end() const override { return true; }
    bool reads_output() const override { return false; }

    std::string advice() const override { return "steps come from Score-P's archive, written when the job ends"; }

    Words finish(const LineKinds&) override
    {
        constexpr std::int64_t steady_ns = 5'000'000;
        JobTimes times = job_.times;
        times.end_ns = base::now_ns();
        const std::int64_t set_ns = base::realtime_offset_ns() - times.realtime_ahead_ns;
        if (std::abs(set_ns) > steady_ns)
            base::fail("the real-time clock was adjusted by ", set_ns,
                       " ns during the run, and Score-P's time stamps may depend on it: run again");
        take_archive();
        const ArchiveTimes archive =
            archive_times(own_trace() / base::file::anchor, job_.request.out / base::part::log / "scorep.json");
        Words reading = words_for_archive();
        reading.insert(reading.end(), {"--clock-offset", base::join(clock_ahead_ns(archive, times), "ns")});
        return reading;
    }

 private:
    // If the archive is elsewhere, makes a link to it in the place where archives of the job's steps are expected.
    void take_archive() const
    {
        if (has_own_trace()) return;
        const std::optional<fs::path> directory = scorep_directory(job_.request.folder, job_.began);
        if (!directory)
            base::fail("Score-P wrote no archive, since the job did not end normally; see ", job_.log().string());
        fs::create_directory_symlink(fs::canonical(*directory), own_trace());
        base::warn("steps are those of Score-P's archive ", (*directory / base::file::anchor).string());
    }
};

bool is_traced_by_scorep(const Request& request)
{
    if (const std::optional<bool> asked = scorep_tracing_is_asked_for()) return *asked;
    return runs_module(request.command, "scorep") || is_traced_program(request.command);
}

}  // namespace

extern const StepSourceCard scorep_source{.takes = is_traced_by_scorep, .make = make_source<Scorep>};

}  // namespace crosstalk
