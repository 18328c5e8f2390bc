// SPDX-License-Identifier: Apache-2.0
// The memory of an analysis does not grow with the number of steps of a run.
#include "testing/interference_runs.hpp"
#include "testing/process_cost.hpp"
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

constexpr double run_s = 60.0;

// Writes rows of two ranks, from the run's start to its end; each step has two phases and a small variation.
void write_steps(const fs::path& file, std::int64_t rows)
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

// Writes the archives of a run of fixed length with as many steps as fit, in another process, whose memory does not
// count.
void write_archives(const fs::path& folder, double step_ms, std::uint64_t seed)
{
    analysis::testing::SyntheticRun run;
    run.run_s = run_s;
    run.step_ms = step_ms;
    run.mpi = true;
    run.seed = seed;
    testing::peak_mb([&] { analysis::testing::write_run(folder, run); });
}

// Peak memory of the program and its children, except gnuplot, whose memory depends on its version.
std::int64_t peak_bytes(std::vector<std::string> words, const fs::path& only_programs)
{
    words.insert(words.begin(), testing::program);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
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

fs::path without_gnuplot(const testing::Scratch& scratch)
{
    fs::create_directory(scratch / "bin");
    fs::create_symlink("/usr/bin/env", scratch / "bin/env");
    return scratch / "bin";
}

// Bytes per additional row of the tables of steps.
double per_row(std::int64_t few, std::int64_t many, std::int64_t rows)
{
    MESSAGE("peaks of ", few, " and ", many, " bytes");
    return static_cast<double>(many - few) / static_cast<double>(rows);
}

}  // namespace

TEST_CASE("an analysis of a million rows of steps takes a few bytes a row more than one of thirty thousand")
{
#if defined(__SANITIZE_ADDRESS__)
    return testing::skip("what the sanitizer keeps is not the program's memory");
#endif
    const testing::Scratch scratch;
    write_archives(scratch / "run", 20.0, 1);
    const fs::path programs = without_gnuplot(scratch);
    const fs::path noise = scratch / "run/noise/here.0/trace/traces.otf2";
    const std::int64_t few = 30'000;
    const std::int64_t many = 1'000'000;
    std::vector<std::int64_t> peaks;
    for (const std::int64_t rows : {few, many}) {
        const fs::path steps = scratch / ("steps-" + std::to_string(rows) + ".csv");
        write_steps(steps, rows);
        peaks.push_back(peak_bytes({"exposure", "--steps", steps, "--noise", noise, "--out",
                                    scratch / ("report-" + std::to_string(rows)), "--draws", "99"},
                                   programs));
    }
    const double a_row = per_row(peaks[0], peaks[1], many - few);
    CHECK(a_row < 8.0);  // two rows are a step of the job: a number and some marks at a time
    CHECK(static_cast<double>(peaks[1]) + a_row * 9'000'000 < 100e6);  // memory for ten million rows
}

TEST_CASE("archives with eight times the steps take a few bytes a step more, also where runs are compared")
{
#if defined(__SANITIZE_ADDRESS__)
    return testing::skip("what the sanitizer keeps is not the program's memory");
#endif
    const testing::Scratch scratch;
    const fs::path programs = without_gnuplot(scratch);
    std::vector<std::int64_t> analysed;
    std::vector<std::int64_t> compared;
    for (const int times : {1, 8}) {
        const fs::path folder = scratch / std::to_string(times);
        std::vector<std::string> runs;
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            runs.push_back(folder / std::to_string(seed));
            write_archives(runs.back(), 12.0 / times, seed);
        }
        analysed.push_back(peak_bytes({"analyse", runs[0], "--draws", "99"}, programs));
        compared.push_back(peak_bytes(
            {"compare", "--quiet", runs[0], runs[1], "--noisy", runs[2], runs[3], "--out", folder / "compared"},
            programs));
    }
    constexpr std::int64_t further_rows = 2 * 7 * 5'000;
    CHECK(per_row(analysed[0], analysed[1], further_rows) < 30.0);
    CHECK(per_row(compared[0], compared[1], 4 * further_rows) < 30.0);
}
