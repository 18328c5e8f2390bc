// Labels as gnuplot takes them, and a plot that is drawn or told about.
#include "base/gnuplot.hpp"

#include "base/files.hpp"
#include "base/testing.hpp"

#include <doctest/doctest.h>

TEST_CASE("gnuplot sees a label as one plain string")
{
    CHECK(base::gnuplot_text("it's\n`id`") == "'it''s `id`'");
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
