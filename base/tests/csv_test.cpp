// SPDX-License-Identifier: Apache-2.0
// CSV files, written and read, including cut-off files.
#include "base/csv.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/random.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>
#include <functional>

#include <sys/resource.h>

namespace fs = std::filesystem;
using namespace base;

TEST_CASE("rows come back as they were written")
{
    const testing::Scratch scratch;
    {
        CsvWriter csv{scratch / "t.csv", {"name", "count", "share"}};
        csv.row("with, comma and \"quotes\"", 7, 0.25);
        csv.row("two\nlines", -1, 1e-9);
    }
    const CsvTable table{scratch / "t.csv"};
    REQUIRE(table.rows() == 2);
    CHECK(table.text(0, "name") == "with, comma and \"quotes\"");
    CHECK(table.get<std::int64_t>(1, "count") == -1);
    CHECK(table.get<double>(1, "share") == 1e-9);
    CHECK_FALSE(table.cut_off());
}

TEST_CASE("a table that a spreadsheet wrote is read without its mark and its carriage returns")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "t.csv", "\xEF\xBB\xBFrank,step\r\n1,2\r\n");
    CHECK(CsvTable{scratch / "t.csv"}.get<std::int64_t>(0, "rank") == 1);
    std::int64_t ranks = 0;
    read_rows(scratch / "t.csv", [&](const CsvRow& row) { ranks += row.get<std::int64_t>("rank"); });
    CHECK(ranks == 1);
}

TEST_CASE("every row is on disk as soon as it is written")
{
    const testing::Scratch scratch;
    CsvWriter csv{scratch / "t.csv", {"a"}};
    csv.row(1);
    CHECK(read_whole(scratch / "t.csv") == "a\n1\n");
}

TEST_CASE("a whole table appears when it is finished and leaves nothing when it is not")
{
    const testing::Scratch scratch;
    const fs::path path = scratch / "tables/t.csv";
    fs::create_directory(path.parent_path());
    {
        CsvWriter given_up{path, {"a", "b"}, CsvWriter::Appear::whole};
        for (int i = 0; i < 10'000; ++i) given_up.row(i, "some text");
        CHECK_FALSE(fs::exists(path));
    }
    CHECK(fs::is_empty(path.parent_path()));
    CsvWriter finished{path, {"a", "b"}, CsvWriter::Appear::whole};
    for (int i = 0; i < 10'000; ++i) finished.row(i, "some text");
    finished.finish();
    CHECK(CsvTable{path}.rows() == 10'000);
    CHECK_THROWS_AS(CsvWriter(path, {"a"}, CsvWriter::Appear::whole), base::UsageError);

    CsvWriter late{scratch / "u.csv", {"a"}, CsvWriter::Appear::whole};
    std::ofstream{scratch / "u.csv"} << "precious";
    CHECK_THROWS_AS(late.finish(), std::system_error);
    CHECK(read_whole(scratch / "u.csv") == "precious");
}

namespace {

// The error message of `writing` when files may have at most `bytes` bytes (RLIMIT_FSIZE).
std::string complaint_with_room_for(rlim_t bytes, const std::function<void()>& writing)
{
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{.rlim_cur = bytes, .rlim_max = before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    std::string complaint;
    try {
        writing();
    } catch (const Error& error) {
        complaint = error.what();
    }
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, old_handler);
    return complaint;
}

}  // namespace

TEST_CASE("a row that does not fit is reported and leaves those before it")
{
    const testing::Scratch scratch;
    const std::string full = "cannot write " + (scratch / "t.csv").string() + ": the disk is full";
    CHECK(complaint_with_room_for(4, [&] { CsvWriter{scratch / "t.csv", {"a long header"}}; }) == full);
    CHECK(!std::filesystem::exists(scratch / "t.csv"));
    CsvWriter csv{scratch / "t.csv", {"a"}};
    CHECK(complaint_with_room_for(20, [&] { csv.row("as long as a row that the file has no room for"); }) == full);
    CHECK(read_whole(scratch / "t.csv") == "a\n");
}

TEST_CASE("a last line without its end is dropped and remembered")
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "t.csv"} << "a,b\n1,2\n3,";
    const CsvTable table{scratch / "t.csv"};
    CHECK(table.rows() == 1);
    CHECK(table.cut_off());
}

TEST_CASE("damaged tables are refused with file line and column")
{
    const testing::Scratch scratch;
    const auto complaint = [&](const std::string& text) -> std::string {
        std::ofstream{scratch / "t.csv"} << text;
        try {
            const CsvTable table{scratch / "t.csv"};
            for (std::size_t row = 0; row < table.rows(); ++row) table.get<std::int64_t>(row, "a");
        } catch (const Error& error) {
            const std::string what = error.what();
            return what.substr(what.find("t.csv"));
        }
        return "none";
    };
    CHECK(complaint("") == "t.csv has no header");
    CHECK(complaint("a,b\n1\n") == "t.csv line 2 has 1 cells, not 2");
    CHECK(complaint("b\n1\n") == "t.csv has no column 'a'");
    CHECK(complaint("a,a\n") == "t.csv has two columns 'a'");
    CHECK(complaint("a\n1\nx\n") == "t.csv line 3 column a: 'x' is not a whole number");
}

TEST_CASE("an existing file is never overwritten by a new table")
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "t.csv"} << "precious";
    CHECK_THROWS_AS(CsvWriter(scratch / "t.csv", {"a"}), base::UsageError);
    CHECK(read_whole(scratch / "t.csv") == "precious");
}

TEST_CASE("a time in seconds is written as the number of seconds is, a text as its quoted self")
{
    const testing::Scratch scratch;
    Random random{7};
    std::vector<std::int64_t> times{0,
                                    1,
                                    -1,
                                    10,
                                    999,
                                    1'200,
                                    12'000,
                                    100'000'000'000'000,
                                    999'999'999'999'999,
                                    1'000'000'000'000'000,
                                    INT64_MAX,
                                    INT64_MIN,
                                    -1'000'000'000,
                                    1'000'000'000};
    for (std::int64_t power = 1; power < 1'000'000'000'000'000; power *= 10)
        for (int i = 0; i < 500; ++i)
            times.push_back(static_cast<std::int64_t>(draw_below(random, 1000)) * power / (i % 2 == 0 ? 1 : 7));
    {
        CsvWriter ours{scratch / "ours.csv", {"text", "seconds"}, CsvWriter::Appear::whole};
        CsvWriter plain{scratch / "plain.csv", {"text", "seconds"}, CsvWriter::Appear::whole};
        for (const char* text : {"plain", "with, comma", "\"quoted\""}) {
            const CsvText quoted{text};
            for (const std::int64_t ns : times) {
                ours.row(quoted, CsvSeconds{ns});
                plain.row(text, static_cast<double>(ns) / 1e9);
            }
        }
        ours.finish();
        plain.finish();
    }
    CHECK(read_whole(scratch / "ours.csv") == read_whole(scratch / "plain.csv"));
}

TEST_CASE("a table that ends in the middle of a row says so, whole or row by row")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "cut.csv", "a,b\n1,2\n3,");
    std::size_t rows = 0;
    CHECK(!base::read_rows(scratch / "cut.csv", [&](const base::CsvRow&) { ++rows; }));
    CHECK(rows == 1);
    CHECK_THROWS_WITH_AS(base::CsvTable{scratch / "cut.csv"}.refuse_cut_off(),
                         doctest::Contains("its last line "
                                           "does not end"),
                         base::Error);
    base::write_whole(scratch / "whole.csv", "a,b\n1,2\n");
    CHECK(base::read_rows(scratch / "whole.csv", [](const base::CsvRow&) {}));
    CHECK_NOTHROW(base::CsvTable{scratch / "whole.csv"}.refuse_cut_off());
}
