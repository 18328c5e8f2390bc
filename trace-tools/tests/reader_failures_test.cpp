// SPDX-License-Identifier: Apache-2.0
// Archives that are damaged, truncated or missing.
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/archives/listing.hpp"
#include "testing/archives/small_archives.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/profile/profile.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include <sys/stat.h>

// OTF2 allocates as much memory as a damaged archive states, and handles a failed allocation.
extern "C" const char* __asan_default_options()
{
    return "allocator_may_return_null=1:max_allocation_size_mb=1024";
}

namespace fs = std::filesystem;
using testing::small_archive;

namespace {

void cut(const fs::path& file)
{
    fs::resize_file(file, fs::file_size(file) * 2 / 3);
}

// Returns the reader's error message, or "fine".
std::string complaint(const fs::path& anchor)
{
    try {
        otf2::Reader reader{anchor};
        otf2::Visitor nothing;
        reader.read(nothing);
        otf2::Visitor nothing_again;
        reader.read_by_location(nothing_again);
        return "fine";
    } catch (const base::Error& error) {
        return error.what();
    }
}

bool one_line_about(const std::string& text, const fs::path& anchor)
{
    return text.find("cannot read trace " + anchor.string() + ": ") == 0 && text.find('\n') == std::string::npos;
}

}  // namespace

TEST_CASE("where events cannot be put aside one line says so")
{
    const testing::Scratch scratch;
    const fs::path directory = small_archive(scratch);
    const std::string before = [] {
        const char* set = std::getenv("TMPDIR");
        return std::string{set == nullptr ? "" : set};
    }();
    ::setenv("TMPDIR", (scratch / "nowhere").c_str(), 1);
    otf2::Reader reader{directory / "traces.otf2", {.most_open_bytes = 0}};
    otf2::Listing listing{reader.archive()};
    CHECK_THROWS_WITH_AS(reader.read(listing),
                         ("cannot read trace " + (directory / "traces.otf2").string() +
                          ": no directory for temporary files (TMPDIR): No such file or directory")
                             .c_str(),
                         base::Error);
    before.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before.c_str(), 1);
}

TEST_CASE("what is no archive gives one clear line")
{
    const testing::Scratch scratch;
    const fs::path anchor = scratch / "traces.otf2";
    CHECK(complaint(anchor) == "cannot read trace " + anchor.string() + ": no such file");
    CHECK(one_line_about(complaint(scratch.path()), scratch.path()));
    base::write_whole(anchor, "");
    CHECK(one_line_about(complaint(anchor), anchor));
    base::write_whole(anchor, "not an archive at all\n");
    CHECK(one_line_about(complaint(anchor), anchor));
    base::write_whole(anchor, std::string(5000, '\xff'));
    CHECK(one_line_about(complaint(anchor), anchor));
}

TEST_CASE("a directory is refused with the archive that is in it")
{
    const testing::Scratch scratch;
    for (const char* anchor : {"train/trace/traces.otf2", "trace/traces.otf2", "traces.otf2"}) {
        fs::create_directories((scratch / anchor).parent_path());
        base::write_whole(scratch / anchor, "");
        CHECK(complaint(scratch.path()) ==
              "cannot read trace " + scratch.path().string() + ": a directory; give " + (scratch / anchor).string());
    }
}

TEST_CASE("a pipe in the place of a file is refused, not waited for")
{
    for (const char* file : {"traces.otf2", "traces.def", "traces/0.evt", "traces/0.def"}) {
        const testing::Scratch scratch;
        const fs::path directory = small_archive(scratch);
        fs::remove(directory / file);
        REQUIRE(::mkfifo((directory / file).c_str(), 0600) == 0);
        const std::string reported = complaint(directory / "traces.otf2");
        CHECK(one_line_about(reported, directory / "traces.otf2"));
        CHECK(reported.ends_with(" is not a regular file"));
    }
}

TEST_CASE("an archive that is cut off anywhere gives one clear line")
{
    for (const char* file : {"traces.otf2", "traces.def", "traces/0.evt", "traces/0.def"}) {
        CAPTURE(file);
        const testing::Scratch scratch;
        const fs::path directory = small_archive(scratch);
        CHECK(complaint(directory / "traces.otf2") == "fine");
        cut(directory / file);
        CHECK(one_line_about(complaint(directory / "traces.otf2"), directory / "traces.otf2"));
    }
}

TEST_CASE("a long event file that is cut off ends and gives one clear line")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    const otf2::RegionRef region = recorder.region("work");
    otf2::LocationRecorder& location = recorder.location("one");
    for (int i = 0; i < 50'000; ++i) {
        location.enter(region);
        location.leave(region);
    }
    recorder.finish();
    const fs::path events = scratch / "trace/traces/0.evt";
    const std::uintmax_t whole = fs::file_size(events);
    for (std::uintmax_t percent = 95; percent >= 35; percent -= 15) {
        CAPTURE(percent);
        fs::resize_file(events, whole * percent / 100);
        CHECK(one_line_about(complaint(scratch / "trace/traces.otf2"), scratch / "trace/traces.otf2"));
    }
}

TEST_CASE("an archive without its definitions gives one clear line")
{
    const testing::Scratch scratch;
    const fs::path directory = small_archive(scratch);
    fs::remove(directory / "traces.def");
    CHECK(one_line_about(complaint(directory / "traces.otf2"), directory / "traces.otf2"));
}

TEST_CASE("a location whose events are missing is a problem and the others are read")
{
    const testing::Scratch scratch;
    const fs::path directory = small_archive(scratch);
    fs::remove(directory / "traces/0.evt");
    otf2::Reader reader{directory / "traces.otf2"};
    otf2::Profile profile{reader.archive()};
    reader.read(profile);
    CHECK(profile.locations()[0].events == 0);
    CHECK(profile.locations()[1].events == 2000);
    CHECK(reader.problems() ==
          std::vector<std::string>{"no events of trace-tests / one", "2000 events are present, 4000 are defined"});
}

TEST_CASE("definitions without any events give one clear line")
{
    const testing::Scratch scratch;
    const fs::path directory = small_archive(scratch);
    fs::remove(directory / "traces/0.evt");
    fs::remove(directory / "traces/4294967296.evt");
    const std::string reported = complaint(directory / "traces.otf2");
    CHECK(one_line_about(reported, directory / "traces.otf2"));
    CHECK(reported.ends_with("there are definitions of 4000 events, but no events"));
}
