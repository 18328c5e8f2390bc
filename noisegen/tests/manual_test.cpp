// SPDX-License-Identifier: Apache-2.0
// The program's manual, checked by the programs that read it: man, mandoc, bash.
#include "noisegen/stressors/registry.hpp"
#include "testing/noise_runs.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

namespace {

using testing::Outcome;

using testing::program;

bool installed(const std::string& command)
{
    const bool there = testing::run({"sh", "-c", "command -v " + command}).status == 0;
    if (!there) testing::skip(command + " is not installed");
    return there;
}

struct Page {
    testing::Scratch scratch;
    std::string path = scratch / "noisegen.1";
    Page() { std::ofstream{path} << testing::run({program, "--man"}).out; }
};

// The completions that bash offers after these words, of which the last is incomplete.
std::string offered(const std::string& words)
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "completion"} << testing::run({program, "--completion", "bash"}).out;
    return testing::run({"bash", "-c",
                         "source '" + (scratch / "completion").string() + "'; COMP_WORDS=(" + words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _noisegen; printf '%s\\n' \"${COMPREPLY[@]}\""})
        .out;
}

bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the man page names every option, stressor and option of a stressor")
{
    const std::string page = testing::run({program, "--man"}).out;
    for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "SCHEDULES", "STRESSORS", "EXIT STATUS",
                                "FILES", "EXAMPLES", "SEE ALSO"})
        CHECK(contains(page, std::string{".SH \""} + section + "\"\n"));
    for (const noisegen::StressorCard* card : noisegen::stressors().cards()) {
        CHECK(contains(page, "\\fB" + card->name + "\\fR\n"));
        for (const base::OptionCard& option : card->options) CHECK(contains(page, "\\fB" + option.name + "="));
    }
    const std::string all = testing::run({program, "--help"}).out;
    std::istringstream help{all.substr(0, all.find("Examples:"))};  // examples show options of commands, too
    std::size_t options = 0;
    for (std::string word; help >> word;) {
        if (!word.starts_with("--") || word.size() < 4) continue;
        ++options;
        const std::string name = word.substr(2, word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") - 2);
        std::string dashed;
        for (const char c : name) dashed += c == '-' ? std::string{"\\-"} : std::string{c};
        CHECK_MESSAGE(contains(page, "\\fB\\-\\-" + dashed + "\\fR"), word);
    }
    CHECK(options > 20);
}

TEST_CASE("man and groff have nothing to complain about")
{
    const Page page;
    if (installed("groff")) {
        const Outcome groff = testing::run({"groff", "-man", "-ww", "-z", page.path});
        CHECK(groff.status == 0);
        CHECK(groff.err == "");
    }
    if (installed("man")) {
        const Outcome man = testing::run({"env", "LC_ALL=C.UTF-8", "MANROFFSEQ=", "MANWIDTH=80", "man", "--warnings",
                                          "-E", "UTF-8", "-l", page.path});
        CHECK(man.status == 0);
        CHECK(man.err == "");
        CHECK(contains(man.out, "noisegen - reproducible stress"));
    }
}

TEST_CASE("mandoc has nothing to complain about")
{
    if (!installed("mandoc")) return;
    const Page page;
    const Outcome lint = testing::run({"mandoc", "-Tlint", "-Wwarning", page.path});
    CHECK(lint.out == "");
    CHECK(lint.status == 0);
}

TEST_CASE("bash completes options, choices, stressors and their options")
{
    CHECK(offered("noisegen --sched") == "--schedule\n--sched\n");
    CHECK(offered("noisegen --sched ''") == "other\nbatch\nidle\n");
    CHECK(offered("noisegen --schedule mem").starts_with("memory."));
    CHECK(offered("noisegen --schedule \"'rotation(memory.stream[sh\"") == "rotation(memory.stream[shape=\n");
    CHECK(contains(offered("noisegen --schedule \"'quiet 1s; \""), "quiet 1s; io.write\n"));
    CHECK(contains(offered("noisegen --schedule ''"), "factorial(\n"));
    CHECK(contains(offered("noisegen --out /"), "/tmp\n"));
}

TEST_CASE("bash completes commands, their options and the stressors behind them")
{
    CHECK(offered("noisegen cal") == "calibrate\n");
    CHECK(offered("noisegen calibrate --rou") == "--rounds\n--round\n");
    CHECK(offered("noisegen calibrate --sched") == "\n");
    CHECK(contains(offered("noisegen probe --out /"), "/tmp\n"));
    CHECK(offered("noisegen probe --socket ''") == "any\nsame\nother\n");
    CHECK(offered("noisegen probe placebo mem").starts_with("memory."));
    CHECK(offered("noisegen probe placebo \"'memory.stream[sh\"") == "memory.stream[shape=\n");
    CHECK(!contains(offered("noisegen calibrate ''"), "calibrate"));
    CHECK(offered("noisegen limits --l") == "--limits\n");
}

TEST_CASE("each command has a page, and noisegen's names it")
{
    const std::string page = testing::run({program, "--man"}).out;
    for (const std::string command : {"calibrate", "limits", "probe"}) {
        CHECK(contains(page, "\\fB" + command + "\\fR\n"));
        CHECK(contains(testing::run({program, "--help"}).out, "\n  " + command + "  "));
        const Outcome own = testing::run({program, command, "--man"});
        CHECK(contains(own.out, "noisegen " + command + " \\- "));
        const Outcome completion = testing::run({program, command, "--completion", "bash"});
        CHECK(completion.status == 2);
        CHECK(contains(completion.err, "give it to noisegen, whose completion covers all commands"));
    }
}

TEST_CASE("help fits the eye")
{
    const std::string help = testing::run({program, "--help"}).out;
    std::istringstream lines{help};
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) CHECK_MESSAGE(line.size() <= 110, line);
    CHECK(count < 100);
    for (const char* word :
         {"\nWhat:\n", "\nWhere:\n", "\nHow much:\n", "\nRecords:\n", "\nExit status:\n", "\nExamples:\n"})
        CHECK(contains(help, word));
}
