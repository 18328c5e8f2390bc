// SPDX-License-Identifier: Apache-2.0
// Labels in gnuplot's syntax, and plots that are drawn or whose failure is reported.
#include "base/programs/gnuplot.hpp"

#include "base/files.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace {

// Does draw() succeed with this shell script in place of gnuplot?
bool draws(const testing::Scratch& scratch, const std::string& script, base::Nanoseconds patience)
{
    base::write_whole(scratch / "line.gp", "");
    base::write_whole(scratch / "gnuplot", "#!/bin/sh\n" + script);
    std::filesystem::permissions(scratch / "gnuplot", std::filesystem::perms::owner_all);
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", (scratch.path().string() + ":" + path).c_str(), 1);
    const bool drawn = base::run_gnuplot("test", scratch.path(), "line", patience);
    ::setenv("PATH", path.c_str(), 1);
    return drawn;
}

}  // namespace

TEST_CASE("a script's variables are numbers and arrays of numbers or of plain strings")
{
    base::GnuplotVariables variables;
    variables.set("low", 0.5);
    variables.set("rows", 3);
    variables.set("places", std::vector<double>{1.5, -2});
    variables.set("names", std::vector<std::string>{"it's\n`id`", "duty=30%"});
    variables.set("none", std::vector<double>{});
    CHECK(variables.text() ==
          "low = 0.5\nrows = 3\narray places[2] = [1.5, -2]\narray names[2] = ['it''s `id`', 'duty=30%']\n"
          "array none[1] = []\n");
}

TEST_CASE("percent signs in a tic's label stay percent signs")
{
    CHECK(base::gnuplot_tic("duty=30%") == "duty=30%%");
}

TEST_CASE("a gnuplot that hangs is killed and its half picture removed")
{
    const testing::Scratch scratch;
    CHECK_FALSE(draws(scratch, "echo half >line.svg\nexec sleep 60\n", std::chrono::milliseconds{300}));
    CHECK_FALSE(std::filesystem::exists(scratch / "line.svg"));
}

TEST_CASE("labels are UTF-8 whatever the locale is")
{
    const testing::Scratch scratch;
    CHECK(draws(scratch, "echo $LC_ALL >line.svg\n", std::chrono::seconds{10}));
    CHECK(base::read_whole(scratch / "line.svg") == "C.UTF-8\n");
}

TEST_CASE("a plot is drawn by its script and a script that draws nothing is a failure")
{
    if (testing::run({"sh", "-c", "command -v gnuplot"}).status != 0) {
        testing::skip("gnuplot is not installed");
        return;
    }
    const testing::Scratch scratch;
    base::GnuplotVariables variables;
    variables.set("names", std::vector<std::string>{"it's", "100%"});
    variables.set("none", std::vector<std::string>{});
    CHECK(base::draw("test", scratch.path(), "line", variables,
                     "set terminal svg\nset output 'line.svg'\nplot x title names[2] . names[1]\n"));
    CHECK(base::read_whole(scratch / "line.svg").find("100%it's") != std::string::npos);
    CHECK(!base::draw("test", scratch.path(), "none", variables, "set terminal svg\n"));
}

TEST_CASE("a plot is well-formed XML whatever its labels are")
{
    if (testing::run({"sh", "-c", "command -v gnuplot"}).status != 0) {
        testing::skip("gnuplot is not installed");
        return;
    }
    const testing::Scratch scratch;
    base::GnuplotVariables variables;
    variables.set("names", std::vector<std::string>{"a ]]> b", "&#x1b;]0;x", "<c> & \x1b\x07 &amp; \"d\""});
    CHECK(base::draw("test", scratch.path(), "line", variables,
                     "set terminal svg noenhanced\nset output 'line.svg'\n"
                     "plot x title names[1], x title names[2], x title names[3]\n"));
    const std::string reads = "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])";
    const auto read = testing::run({"python3", "-c", reads, (scratch / "line.svg").string()});
    CHECK_MESSAGE(read.status == 0, read.err);
}
