// Labels as gnuplot takes them, and a plot that is drawn or reported.
#include "base/system/gnuplot.hpp"

#include "base/files.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

TEST_CASE("gnuplot sees a label as one plain string")
{
    CHECK(base::gnuplot_text("it's\n`id`") == "'it''s `id`'");
}

TEST_CASE("percent signs in a tic's label stay percent signs")
{
    CHECK(base::gnuplot_text("duty=30%") == "'duty=30%'");
    CHECK(base::gnuplot_tic("duty=30%") == "'duty=30%%'");
}

TEST_CASE("a gnuplot that hangs is killed and its half picture removed")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "line.gp", "");
    base::write_whole(scratch / "gnuplot", "#!/bin/sh\necho half >line.svg\nexec sleep 60\n");
    std::filesystem::permissions(scratch / "gnuplot", std::filesystem::perms::owner_all);
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", (scratch.path().string() + ":" + path).c_str(), 1);
    CHECK_FALSE(base::run_gnuplot("test", scratch.path(), "line", std::chrono::milliseconds{300}));
    ::setenv("PATH", path.c_str(), 1);
    CHECK_FALSE(std::filesystem::exists(scratch / "line.svg"));
}

TEST_CASE("a plot is drawn by its script and a script that draws nothing is a failure")
{
    if (testing::run({"sh", "-c", "command -v gnuplot"}).status != 0) {
        testing::skip("gnuplot is not installed");
        return;
    }
    const testing::Scratch scratch;
    base::write_whole(scratch / "line.gp", "set terminal svg\nset output 'line.svg'\nplot x\n");
    base::write_whole(scratch / "none.gp", "set terminal svg\n");
    CHECK(base::run_gnuplot("test", scratch.path(), "line"));
    CHECK(std::filesystem::file_size(scratch / "line.svg") > 0);
    CHECK(!base::run_gnuplot("test", scratch.path(), "none"));
}
