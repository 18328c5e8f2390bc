// The memory of an analysis does not grow with the steps of a run.
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <array>
#include <fstream>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace {

// So many rows of two ranks, from the run's begin to its end; each step has two phases, and wobbles.
void write_steps(const fs::path& file, std::int64_t rows, double run_s)
{
    std::ofstream out{file};
    out << "rank,step,begin_ns,end_ns,backward_ns,wait_exchange_ns\n";
    const auto step_ns = static_cast<std::int64_t>(run_s * 2e9) / rows;
    for (std::int64_t step = 0; step < rows / 2; ++step)
        for (int rank = 0; rank < 2; ++rank) {
            const std::int64_t begin_ns = analysis::testing::detail::start_ns + step * step_ns;
            const std::int64_t wobble = (step * 7919 + rank * 31) % 100;
            out << rank << ',' << step << ',' << begin_ns << ',' << begin_ns + step_ns * (900 + wobble) / 1000 << ','
                << step_ns / 2 + wobble << ',' << step_ns / 10 << '\n';
        }
}

// The most memory that the program, or what it started, had; without gnuplot, whose memory is its own.
std::int64_t peak_bytes(const std::vector<std::string>& words, const fs::path& only_programs)
{
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    std::string path = "PATH=" + only_programs.string();
    const ::pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::array<char*, 2> environment{path.data(), nullptr};
        ::execve(arguments[0], arguments.data(), environment.data());
        ::_exit(127);
    }
    int status = -1;
    struct rusage used {};
    REQUIRE(::wait4(child, &status, 0, &used) == child);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 0);
    return static_cast<std::int64_t>(used.ru_maxrss) * 1024;
}

}  // namespace

TEST_CASE("an analysis of a million rows of steps takes a few bytes a row more than one of thirty thousand")
{
#if defined(__SANITIZE_ADDRESS__)
    return testing::skip("what the sanitizer keeps is not the program's memory");
#endif
    const testing::Scratch scratch;
    analysis::testing::SyntheticRun run;
    run.run_s = 60.0;
    analysis::testing::write_run(scratch / "run", run);
    fs::create_directory(scratch / "bin");
    fs::create_symlink("/usr/bin/env", scratch / "bin/env");
    const fs::path noise = scratch / "run/noise/here.0/trace/traces.otf2";
    const std::int64_t few = 30'000;
    const std::int64_t many = 1'000'000;
    std::vector<std::int64_t> peaks;
    for (const std::int64_t rows : {few, many}) {
        const fs::path steps = scratch / ("steps-" + std::to_string(rows) + ".csv");
        write_steps(steps, rows, run.run_s);
        peaks.push_back(peak_bytes({testing::program, "exposure", "--steps", steps, "--noise", noise, "--out",
                                    scratch / ("report-" + std::to_string(rows)), "--draws", "99"},
                                   scratch / "bin"));
    }
    const double per_row = static_cast<double>(peaks[1] - peaks[0]) / static_cast<double>(many - few);
    MESSAGE("peaks of ", peaks[0], " and ", peaks[1], " bytes: ", per_row, " bytes a row");
    CHECK(per_row < 5.0);
    CHECK(peaks[1] < 64'000'000);
}
