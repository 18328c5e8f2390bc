// SPDX-License-Identifier: Apache-2.0
// Runs that are damaged, forged or given twice are refused in one line, or distrusted with a reason.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/interference_runs.hpp"
#include "testing/synthetic_run.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>

using analysis::testing::SyntheticRun;

namespace {

namespace fs = std::filesystem;

testing::Outcome analyse_quickly(const fs::path& run)
{
    return testing::run({testing::program, "analyse", run.string(), "--draws", "99"});
}

bool refused_in_one_line(const testing::Outcome& outcome, const std::string& because)
{
    INFO(outcome.err);
    return outcome.status == 1 && std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1 &&
           outcome.err.find(because) != std::string::npos;
}

// Positions of the time stamps in an event file: a byte 5, then nanoseconds, little-endian.
std::vector<std::size_t> times_in(const std::string& events)
{
    constexpr std::int64_t begin_ns = analysis::testing::detail::start_ns;
    std::vector<std::size_t> found;
    for (std::size_t at = 0; at + 9 <= events.size(); ++at) {
        std::int64_t ns = 0;
        std::memcpy(&ns, events.data() + at + 1, sizeof ns);
        if (events[at] == 5 && ns >= begin_ns && ns < begin_ns + 60'000'000'000) found.push_back(at + 1);
    }
    return found;
}

// Moves the time stamp of an event file that `which` selects.
template <class Which>
void move_time(const fs::path& file, const Which& which, std::int64_t by_ns)
{
    std::string events = base::read_whole(file);
    const std::vector<std::size_t> times = times_in(events);
    REQUIRE(times.size() > 10);
    const std::size_t at = times[which(times.size())];
    std::int64_t ns = 0;
    std::memcpy(&ns, events.data() + at, sizeof ns);
    ns += by_ns;
    std::memcpy(events.data() + at, &ns, sizeof ns);
    fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
    base::write_whole(file, events);
}

std::size_t in_the_middle(std::size_t count)
{
    return count / 2;
}

std::size_t last(std::size_t count)
{
    return count - 1;
}

// Path of an event file. The locations of a synthetic run are numbered as they were made: schedule, then cpu 3; main,
// then transport.
fs::path events_of(const fs::path& archive)
{
    return archive / "traces" / "0.evt";
}

void write_short_run(const fs::path& run, const SyntheticRun& more = {})
{
    SyntheticRun synthetic = more;
    synthetic.run_s = 6.0;
    analysis::testing::write_run(run, synthetic);
}

}  // namespace

TEST_CASE("archives in which time runs backwards are refused")
{
    for (const char* part : {"train", "noise/here.0"}) {
        const testing::Scratch scratch;
        write_short_run(scratch / "run");
        move_time(events_of(scratch / "run" / part / "trace"), in_the_middle, -1'000'000'000);
        CHECK(refused_in_one_line(analyse_quickly(scratch / "run"), (scratch / "run" / part / "trace").string()));
        CHECK_FALSE(fs::exists(scratch / "run/report"));
    }
}

TEST_CASE("a schedule that ends long after its last slot was designed to end is refused")
{
    const testing::Scratch scratch;
    write_short_run(scratch / "run", {.noise_until_s = 3.0});
    move_time(events_of(scratch / "run/noise/here.0/trace"), last, 8'000'000'000);
    CHECK(refused_in_one_line(analyse_quickly(scratch / "run"), "noise/here.0/trace/traces.otf2"));
}

TEST_CASE("a slot of another length than the others of its design is refused")
{
    for (const char* design : {"rotation", "sequence"}) {
        const testing::Scratch scratch;
        write_short_run(scratch / "run", {.design = design});
        move_time(events_of(scratch / "run/noise/here.0/trace"), in_the_middle, 50'000'000);
        CHECK(refused_in_one_line(analyse_quickly(scratch / "run"), "slots must have equal length"));
    }
}

TEST_CASE("noise that runs on while none is assigned is said and not trusted")
{
    const testing::Scratch scratch;
    // Noise continues for 0.8 slots after its own slot. Five of six slots are quiet or controls, so it disturbs 16 % of
    // that time.
    write_short_run(scratch / "run", {.achieved = 1.8});
    const testing::Outcome outcome = analyse_quickly(scratch / "run");
    CHECK(outcome.status == 3);
    CHECK(outcome.out.find("of the time in which none was assigned") != std::string::npos);
}

TEST_CASE("a record beside an archive that is too deep, too large or a pipe is left out and the report says so")
{
    const testing::Scratch scratch;
    write_short_run(scratch / "run");
    const fs::path record = scratch / "run/train/run.json";
    const fs::path report = scratch / "run/report";

    base::write_whole(record, "{\"host\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}");
    const testing::Outcome deep = analyse_quickly(scratch / "run");
    CHECK(deep.status == 0);
    CHECK(base::read_whole(report / "index.html").find("nested deeper than 64 levels") != std::string::npos);
    fs::remove_all(report);

    fs::resize_file(record, std::uintmax_t{3} << 30U);
    CHECK(analyse_quickly(scratch / "run").status == 0);
    CHECK(base::read_whole(report / "index.html").find("is longer than 16MiB") != std::string::npos);
    fs::remove_all(report);

    fs::remove(record);
    REQUIRE(::mkfifo(record.c_str(), 0600) == 0);
    CHECK(analyse_quickly(scratch / "run").status == 0);
}

TEST_CASE("what a killed analysis left behind does not stop the next one")
{
    const testing::Scratch scratch;
    write_short_run(scratch / "run");
    fs::create_directories(scratch / "run/report.tmp1");
    base::write_whole(scratch / "run/report.tmp1/effects.csv", "half");
    CHECK(analyse_quickly(scratch / "run").status == 0);
    CHECK(fs::exists(scratch / "run/report/verdict.json"));
}

TEST_CASE("one run counts once however it is named or copied")
{
    const testing::Scratch scratch;
    write_short_run(scratch / "run");
    write_short_run(scratch / "other", {.seed = 2});
    write_short_run(scratch / "third", {.seed = 3});
    fs::copy(scratch / "run", scratch / "copy", fs::copy_options::recursive);
    const std::string steps_program = std::string{CROSSTALK_BIN} + "/trace-steps";
    std::vector<fs::path> names{scratch / "copy", scratch / "run/train/trace/traces.otf2", scratch / "run/train/trace"};
    if (fs::exists(steps_program)) {
        REQUIRE(testing::run({steps_program, names[1], "--out", scratch / "steps"}).status == 0);
        names.push_back(scratch / "steps/steps.csv");
    }
    for (const fs::path& name : names) {
        const testing::Outcome twice =
            testing::run({testing::program, "compare", "--quiet", scratch / "run", name, "--noisy", scratch / "other",
                          scratch / "third", "--out", scratch / "out"});
        INFO(twice.err);
        CHECK(twice.status == 2);
        CHECK(twice.err.find(name.string()) != std::string::npos);
        CHECK(twice.err.find("are the same run") != std::string::npos);
    }
}

TEST_CASE("tables of steps that cannot have been are refused with line and column")
{
    struct Wrong {
        const char* row;
        const char* where;
    };
    const std::vector<Wrong> wrong{
        {"0,1,100,200,-5", "line 3 column load_ns: a phase of -5 ns"},
        {"0,1,100,200,1000000000000000000", "line 3 column load_ns: the phases take longer than the step's 100 ns"},
        {"0,1,100,1e308,5", "line 3 column end_ns"},
        {"0,1,100,90,5", "line 3 column end_ns: the step ends before it begins"},
        {"0,0,100,200,5", "line 3 column step: step 0 of rank 0 occurs twice"},
        {"0,-1,100,200000,5", ": step 0 of rank 0 begins before step -1 ends"},
        {"0,1,-9223372036854775808,9223372036854775807,nan", "line 3 column load_ns"},
    };
    for (const Wrong& one : wrong) {
        const testing::Scratch scratch;
        const fs::path file = scratch / "steps.csv";
        base::write_whole(file, std::string{"rank,step,begin_ns,end_ns,load_ns\n0,0,0,100,5\n"} + one.row + "\n");
        const testing::Outcome outcome = testing::run(
            {testing::program, "compare", "--quiet", file, file, "--noisy", file, file, "--out", scratch / "out"});
        CHECK(refused_in_one_line(outcome, file.string() + (*one.where == ':' ? "" : " ") + one.where));
    }
}
