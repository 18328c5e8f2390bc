// SPDX-License-Identifier: Apache-2.0
// Programs that report their steps by crosstalk_mark.h: the record equals what they did.
#include "base/contract/control_file.hpp"
#include "base/contract/phases.hpp"
#include "base/contract/run_words.hpp"
#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/system/launcher.hpp"
#include "testing/archives/listing.hpp"
#include "testing/child.hpp"
#include "testing/programs.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <sys/wait.h>

namespace {

namespace fs = std::filesystem;

const std::string program = testing::bin / "../tests/mark-program";

// Returns a shell command that runs all ranks simultaneously. The output of rank R goes to the file RUN.out.R.
std::string ranks(int size, const fs::path& run, const std::string& arguments, const std::string& variables = "")
{
    std::string script;
    for (int rank = 0; rank < size; ++rank)
        script += "RANK=" + std::to_string(rank) + " WORLD_SIZE=" + std::to_string(size) +
                  " CROSSTALK_OUT=" + run.string() + " " + variables + " " + program + " " + arguments + " > " +
                  run.string() + ".out." + std::to_string(rank) + " & ";
    return script + "wait";
}

struct Row {
    std::int64_t begin_ns;
    std::int64_t end_ns;
    std::map<std::string, std::int64_t> phase_ns;
};

std::vector<Row> rows_of(const fs::path& run, int rank)
{
    const base::CsvTable table{run / "train/steps.csv"};
    std::vector<Row> rows;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        if (table.get<int>(i, "rank") != rank) continue;
        CHECK(table.get<std::int64_t>(i, "step") == static_cast<std::int64_t>(rows.size()));
        Row row{table.get<std::int64_t>(i, "begin_ns"), table.get<std::int64_t>(i, "end_ns"), {}};
        for (const base::PhaseCard& phase : base::phase_cards) {
            const std::string name{phase.name};
            row.phase_ns[name] = table.get<std::int64_t>(i, name + "_ns");
        }
        rows.push_back(row);
    }
    return rows;
}

void check_sound_run(const fs::path& run)
{
    const testing::Outcome checked =
        testing::run({testing::bin / "trace-info", run / "train/trace/traces.otf2", "--check"});
    CHECK_MESSAGE(checked.status == 0, checked.out, checked.err);
}

void ask(base::ControlPage& page, base::ControlRequest request)
{
    page.request = static_cast<std::uint32_t>(request);
    page.slot_end_ns = INT64_MAX;
    page.on_until_ns = INT64_MAX;
}

}  // namespace

TEST_CASE("outside of a run markers do nothing")
{
    const testing::Scratch scratch;
    const testing::Outcome outcome =
        testing::run({"sh", "-c", "cd " + scratch.path().string() + " && " + program + " 3"});
    CHECK(outcome.status == 0);
    CHECK(outcome.err == "");
    CHECK(fs::is_empty(scratch.path()));
}

TEST_CASE("the steps of a C program are recorded when it says, on all ranks")
{
    const testing::Scratch scratch;
    const fs::path run = scratch / "run";
    const testing::Outcome outcome = testing::run({"sh", "-c", ranks(2, run, "8")});
    CHECK(outcome.err == "");
    for (const int rank : {0, 1}) {
        std::istringstream said{base::read_whole(run.string() + ".out." + std::to_string(rank))};
        const std::vector<Row> rows = rows_of(run, rank);
        REQUIRE(rows.size() == 8);
        for (const Row& row : rows) {
            std::int64_t before = 0;
            std::int64_t after = 0;
            said >> before >> after;
            CHECK(row.begin_ns >= before);
            CHECK(row.begin_ns <= after);
            std::int64_t sum = 0;
            for (const auto& [phase, ns] : row.phase_ns) sum += ns;
            CHECK(sum == row.end_ns - row.begin_ns);
            CHECK(row.phase_ns.at("load") >= 1'000'000);
            CHECK(row.phase_ns.at("forward") >= 2'000'000);
            CHECK(row.phase_ns.at("other") >= 500'000);  // the halo exchange is not a training phase
            CHECK(row.phase_ns.at("backward") == 0);
        }
    }
    check_sound_run(run);
    otf2::Reader reader{run / "train/trace/traces.otf2"};
    CHECK(reader.archive().processes.size() == 2);
    otf2::Listing listing{reader.archive()};
    reader.read_by_location(listing);
    const auto halos = std::count_if(listing.lines.begin(), listing.lines.end(),
                                     [](const std::string& line) { return line.find("halo") != std::string::npos; });
    CHECK(halos == 2 * 2 * 8);                          // ranks x (enter, leave) x steps
    fs::remove(run / "log" / base::file::marks_steps);  // made by each process that found the directory
    CHECK(fs::is_empty(run / "log"));
}

TEST_CASE("a program that SIGTERM ends has its archive up to there")
{
    const testing::Scratch scratch;
    const fs::path run = scratch / "run";
    testing::Child child{{"sh", "-c",
                          "CROSSTALK_OUT=" + run.string() + " exec " + program + " 5 wait " +
                              (scratch / "ready").string() + " > /dev/null"}};
    REQUIRE(testing::eventually([&] { return fs::exists(scratch / "ready"); }));
    ::kill(child.pid(), SIGTERM);
    CHECK(child.wait() == 128 + SIGTERM);
    CHECK(rows_of(run, 0).size() == 4);  // the fifth step had not ended
    check_sound_run(run);
}

TEST_CASE("a step that a program does not finish is none, in the table and in the archive")
{
    const testing::Scratch scratch;
    const fs::path run = scratch / "run";
    CHECK(testing::run({"sh", "-c", ranks(1, run, "4 drop")}).status == 0);
    const std::vector<Row> rows = rows_of(run, 0);
    REQUIRE(rows.size() == 4);
    check_sound_run(run);
    const testing::Outcome steps = testing::run(
        {testing::bin / "trace-steps", run / "train/trace/traces.otf2", "-o", (scratch / "steps").string()});
    CHECK_MESSAGE(steps.status == 0, steps.err);
    const base::CsvTable archive{scratch / "steps/steps.csv"};
    REQUIRE(archive.rows() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        CHECK(archive.get<std::int64_t>(i, "end_ns") - archive.get<std::int64_t>(i, "begin_ns") ==
              rows[i].end_ns - rows[i].begin_ns);
}

TEST_CASE("a child that a program forks records nothing")
{
    const testing::Scratch scratch;
    const fs::path run = scratch / "run";
    const std::string variables = "ASAN_OPTIONS=detect_leaks=0";  // it looks for threads that fork() dropped
    const testing::Outcome outcome = testing::run({"sh", "-c", ranks(1, run, "4 fork", variables)});
    CHECK(outcome.status == 0);
    CHECK(outcome.err == "");
    CHECK(rows_of(run, 0).size() == 4);
    check_sound_run(run);
}

TEST_CASE("what a killed job left where ranks meet is in nobody's way")
{
    const testing::Scratch scratch;
    const fs::path run = scratch / "run";
    const fs::path meeting = run / "log/ranks";
    fs::create_directories(meeting / "42");
    base::write_whole(meeting / "hello.1", "17");
    base::write_whole(meeting / "answer.1", "17 42");
    base::write_whole(meeting / "42/broadcast0", "old");
    CHECK(testing::run({"sh", "-c", ranks(2, run, "4")}).err == "");
    for (const int rank : {0, 1}) CHECK(rows_of(run, rank).size() == 4);
    fs::remove(run / "log" / base::file::marks_steps);  // made by each process that found the directory
    CHECK(fs::is_empty(run / "log"));
}

TEST_CASE("a run that another program has recorded into is left alone, and the program runs")
{
    const testing::Scratch scratch;
    const fs::path run = scratch / "run";
    fs::create_directories(run / "train");
    const testing::Outcome outcome = testing::run({"sh", "-c", ranks(2, run, "3")});
    CHECK(outcome.status == 0);
    CHECK(outcome.err.find("already there") != std::string::npos);
    CHECK(fs::is_empty(run / "train"));
}

TEST_CASE("a full disk ends the record in a line, and not the program")
{
    if (testing::run({"unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"}).status != 0)
        return testing::skip("cannot mount a small disk");
    const testing::Scratch scratch;
    const fs::path small = scratch / "small";
    fs::create_directory(small);
    const std::string script = "mount -t tmpfs -o size=32k none " + small.string() +
                               " && CROSSTALK_OUT=" + (small / "run").string() + " " + program +
                               " 500 > /dev/null && wc -l < " + (small / "run/train/steps.csv").string();
    const testing::Outcome outcome = testing::run({"unshare", "--mount", "sh", "-c", script});
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(std::stoi(outcome.out) > 50);
    CHECK(std::stoi(outcome.out) < 500);
    const std::size_t line = outcome.err.find("the disk is full; no further steps are recorded");
    REQUIRE(line != std::string::npos);
    CHECK(outcome.err.find("no further steps", line + 40) == std::string::npos);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') <= 2);  // the other line is about the archive
}

TEST_CASE("all ranks make the delay that is asked for, which rank 0 takes, between barriers")
{
    const testing::Scratch scratch;
    const fs::path run = scratch / "run";
    base::ControlFile control = base::ControlFile::open(run, base::host_name());
    const std::string exchange = "20 exchange " + (scratch / "arrived").string();
    ask(control.page(), base::ControlRequest::delay);
    const testing::Outcome outcome = testing::run({"sh", "-c", ranks(2, run, exchange, "CROSSTALK_CONTROL_DELAY=5ms")});
    CHECK(outcome.err == "");
    CHECK(control.page().acknowledged == 20);
    CHECK(control.page().controlled == 18);  // steps 2 to 19: planned one step ahead, once a step's length is known
    const std::vector<Row> zero = rows_of(run, 0);
    const std::vector<Row> one = rows_of(run, 1);
    REQUIRE(zero.size() == 20);
    REQUIRE(one.size() == 20);
    for (std::size_t step = 0; step < 20; ++step) {
        CHECK((zero[step].phase_ns.at("control_delay") >= 5'000'000) == (step >= 2));
        CHECK(one[step].phase_ns.at("control_delay") == 0);
        const std::int64_t rank0_waits_ns = base::control_settle_ns + 5'000'000;  // rest and delay
        CHECK((one[step].phase_ns.at("control_settle") >= rank0_waits_ns) == (step >= 2));
    }
}

TEST_CASE("a delay may be a share of a quiet step, and a sham has none")
{
    const testing::Scratch scratch;
    const fs::path run = scratch / "run";
    base::ControlFile control = base::ControlFile::open(run, base::host_name());
    ask(control.page(), base::ControlRequest::sham);
    CHECK(testing::run({"sh", "-c", ranks(1, run, "16", "CROSSTALK_CONTROL_DELAY=50%")}).err == "");
    const std::vector<Row> rows = rows_of(run, 0);
    REQUIRE(rows.size() == 16);
    for (std::size_t step = 0; step < 16; ++step) {
        CHECK(rows[step].phase_ns.at("control_delay") == 0);
        CHECK((rows[step].phase_ns.at("control_settle") >= base::control_settle_ns) ==
              (step >= 11));  // steps 3 to 9 are quiet
    }
    otf2::Reader reader{run / "train/trace/traces.otf2"};
    const std::int64_t delay_ns = std::stoll(reader.archive().property("crosstalk::control_delay_ns").value_or("0"));
    CHECK(delay_ns >= 1'700'000);  // half of a step of 3.5 ms; more on a slow machine
}

TEST_CASE("a program learns once a slot that a checkpoint is wanted, and of which kind")
{
    using Asked = std::tuple<base::ControlRequest, std::string, std::string>;
    for (const auto& [request, mode, answer] :
         {Asked{base::ControlRequest::checkpoint, "checkpoint", "checkpoint 1 1"},
          Asked{base::ControlRequest::checkpoint_async, "checkpoint", "checkpoint 1 2"},
          Asked{base::ControlRequest::checkpoint_async, "checkpoint-between", "checkpoint 1 2"}}) {
        const testing::Scratch scratch;
        const fs::path run = scratch / "run";
        base::ControlFile control = base::ControlFile::open(run, base::host_name());
        ask(control.page(), request);
        const testing::Outcome outcome =
            testing::run({"sh", "-c", ranks(1, run, "6 " + mode, "CROSSTALK_CONTROL_DELAY=5%")});
        CHECK(outcome.err == "");
        const std::string printed = base::read_whole(run.string() + ".out.0");
        const std::size_t found = printed.find(answer);
        REQUIRE(found != std::string::npos);
        CHECK(printed.find("checkpoint", found + 1) == std::string::npos);
        CHECK(control.page().served == 1);
        CHECK(control.page().controlled == 0);
    }
}

TEST_CASE("ranks whose page is cut off lose the control, and go on")
{
    const testing::Scratch scratch;
    const fs::path run = scratch / "run";
    base::ControlFile control = base::ControlFile::open(run, base::host_name());
    ask(control.page(), base::ControlRequest::delay);
    const std::string exchange = "400 exchange " + (scratch / "arrived").string();
    testing::Child child{{"sh", "-c", ranks(2, run, exchange, "CROSSTALK_CONTROL_DELAY=1ms")}};
    const fs::path page = run / "control" / (base::host_name() + ".ranks");
    REQUIRE(testing::eventually([&] { return control.page().controlled.load() > 5; }));
    fs::resize_file(page, 0);
    CHECK(child.wait() == 0);
    for (const int rank : {0, 1}) CHECK(rows_of(run, rank).size() == 400);
    CHECK(control.page().controlled.load() < 390);
}

TEST_CASE("where a rank does not come to the barrier no step is delayed any more, and the program goes on")
{
    const testing::Scratch scratch;
    const fs::path run = scratch / "run";
    base::ControlFile control = base::ControlFile::open(run, base::host_name());
    ask(control.page(), base::ControlRequest::delay);
    const testing::Outcome outcome =
        testing::run({"sh", "-c", ranks(2, run, "12 short", "CROSSTALK_CONTROL_DELAY=1ms")});
    CHECK(outcome.status == 0);
    CHECK(outcome.err.find("not all ranks reached the barrier of the control") != std::string::npos);
    CHECK(rows_of(run, 0).size() == 12);
    CHECK(rows_of(run, 1).size() == 3);
    check_sound_run(run);
}
