// SPDX-License-Identifier: Apache-2.0
// Reading whole files, and refusing files that would take all memory or block forever.
#include "base/files.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <csignal>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

TEST_CASE("a file that is longer than it may be is refused before it is read")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "long", "");
    fs::resize_file(scratch / "long", std::uintmax_t{3} << 30U);
    CHECK_THROWS_WITH_AS(base::read_json(scratch / "long"),
                         ((scratch / "long").string() + " is longer than 16MiB").c_str(), base::Error);
}

TEST_CASE("a directory appears whole or not at all")
{
    const testing::Scratch scratch;
    const fs::path wanted = scratch / "a/report";
    {
        base::WholeDirectory directory{wanted};
        base::write_whole(directory.path() / "half", "");
        CHECK_FALSE(fs::exists(wanted));
    }
    CHECK(fs::is_empty(scratch / "a"));

    const fs::path left_over = wanted.string() + ".tmp" + std::to_string(::getpid());
    fs::create_directory(left_over);
    base::write_whole(left_over / "stale", "of a process that was killed");
    base::WholeDirectory directory{wanted};
    base::write_whole(directory.path() / "page", "whole");
    directory.finish();
    CHECK(base::read_whole(wanted / "page") == "whole");
    CHECK_FALSE(fs::exists(wanted / "stale"));
    CHECK_FALSE(fs::exists(left_over));
    CHECK_THROWS_AS(base::WholeDirectory{wanted}, base::UsageError);
}

TEST_CASE("a directory takes away what a killed process left beside it and nothing else")
{
    const testing::Scratch scratch;
    const pid_t killed = ::fork();
    if (killed == 0) {
        const base::WholeDirectory directory{scratch / "report"};
        base::write_whole(directory.path() / "page", "half");
        ::raise(SIGKILL);
    }
    ::waitpid(killed, nullptr, 0);
    const fs::path left = scratch / ("report.tmp" + std::to_string(killed));
    CHECK(fs::exists(left / "page"));
    const fs::path of_init = scratch / "report.tmp1";
    for (const fs::path& other :
         {of_init, scratch / "report.tmp", scratch / "report.tmp4x", scratch / "reports.tmp999999"})
        fs::create_directory(other);

    const fs::path of_another_host = scratch / "report.tmp999999999";
    fs::create_directory(of_another_host);
    const base::Descriptor held = ::open(of_another_host.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(::flock(held, LOCK_EX) == 0);

    const base::WholeDirectory directory{scratch / "report"};
    CHECK_FALSE(fs::exists(left));
    for (const fs::path& other :
         {of_init, scratch / "report.tmp", scratch / "report.tmp4x", scratch / "reports.tmp999999"})
        CHECK(fs::exists(other));
    CHECK(fs::exists(of_another_host));
}

TEST_CASE("of two directories under one name the first that is whole stays")
{
    const testing::Scratch scratch;
    base::WholeDirectory directory{scratch / "report/"};
    base::write_whole(directory.path() / "page", "second");
    fs::create_directory(scratch / "report");
    base::write_whole(scratch / "report/page", "first");
    CHECK_THROWS_AS(directory.finish(), base::UsageError);
    CHECK(base::read_whole(scratch / "report/page") == "first");
}

TEST_CASE("JSON is bounded in depth and in the members of an object")
{
    const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
    CHECK(base::parse_json(nested(64), "text").dump() == nested(64));
    CHECK_THROWS_WITH_AS(base::parse_json(nested(65), "text"), "text is nested deeper than 64 levels", base::Error);
    CHECK_THROWS_AS(base::parse_json(std::string(100'000, '['), "text"), base::Error);

    const auto with_members = [](int members) {
        std::string text = "[{\"a\": {\"b\": 1}";
        for (int i = 1; i < members; ++i) text += ", \"" + std::to_string(i) + "\": {\"c\": 1}";
        return text + "}, {\"d\": 2}]";
    };
    CHECK(base::parse_json("[{\"x\": 1}, {\"x\": 2}]", "text").size() == 2);
    CHECK_NOTHROW(base::parse_json(with_members(10'000), "text"));
    CHECK_THROWS_WITH_AS(base::parse_json(with_members(10'001), "text"),
                         "text has an object of more than 10000 members", base::Error);
    CHECK_THROWS_AS(base::parse_json("{\"half\": ", "text"), nlohmann::json::parse_error);
}

TEST_CASE("a pipe and a device and a directory are no regular files and what is missing is for others to say")
{
    const testing::Scratch scratch;
    REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
    CHECK_THROWS_AS(base::refuse_irregular(scratch / "pipe"), base::Error);
    CHECK_THROWS_AS(base::refuse_irregular("/dev/null"), base::Error);
    CHECK_THROWS_AS(base::refuse_irregular(scratch.path()), base::Error);
    CHECK_NOTHROW(base::refuse_irregular(scratch / "missing"));
    base::write_whole(scratch / "file", "text");
    CHECK_NOTHROW(base::refuse_irregular(scratch / "file"));
}

TEST_CASE("a tree is removed with what is in it and no link is followed")
{
    const testing::Scratch scratch;
    std::filesystem::create_directories(scratch / "tree/a/b");
    base::write_whole(scratch / "kept", "text");
    base::write_whole(scratch / "tree/a/b/file", "text");
    std::filesystem::create_symlink(scratch / "kept", scratch / "tree/a/link");
    std::filesystem::create_directory_symlink(scratch.path(), scratch / "tree/above");
    base::remove_tree(scratch / "tree");
    CHECK(!std::filesystem::exists(scratch / "tree"));
    CHECK(base::read_whole(scratch / "kept") == "text");
    CHECK_NOTHROW(base::remove_tree(scratch / "tree"));
    std::filesystem::create_symlink(scratch.path(), scratch / "link");
    base::remove_tree(scratch / "link");
    CHECK(base::read_whole(scratch / "kept") == "text");
}

TEST_CASE("a directory takes the name of an earlier one")
{
    const testing::Scratch scratch;
    for (const std::string content : {"old", "new"}) {
        std::filesystem::create_directory(scratch / "fresh");
        base::write_whole(scratch / "fresh/file", content);
        base::replace_directory(scratch / "fresh", scratch / "wanted");
        CHECK(base::read_whole(scratch / "wanted/file") == content);
        CHECK(!std::filesystem::exists(scratch / "fresh"));
    }
}

TEST_CASE("a private file is for its user alone and a record of what is no UTF-8 can be written")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "private", "", base::for_this_user);
    CHECK((std::filesystem::status(scratch / "private").permissions() & std::filesystem::perms::mask) ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    CHECK(base::json_text(nlohmann::ordered_json("caf\xe9"), base::one_line) == "\"caf\xef\xbf\xbd\"");
    CHECK(base::is_utf8("caf\xc3\xa9"));
    CHECK(!base::is_utf8("caf\xe9"));
}
