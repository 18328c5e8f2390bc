// SPDX-License-Identifier: Apache-2.0
// A recorder that cannot record.
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/archives/listing.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <doctest/doctest.h>

#include <csignal>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_CASE("a killed writer leaves nothing that looks like an archive")
{
    const testing::Scratch scratch;
    const pid_t child = ::fork();
    if (child == 0) {
        otf2::Recorder recorder{scratch / "trace"};
        otf2::LocationRecorder& main = recorder.location("main");
        const otf2::RegionRef region = recorder.region("work");
        for (int i = 0; i < 200'000; ++i) {
            main.enter(region);
            main.leave(region);
        }
        ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    CHECK_FALSE(std::filesystem::exists(scratch / "trace"));
    CHECK_FALSE(std::filesystem::exists(scratch / "trace.tmp/traces.otf2"));
    CHECK_THROWS_AS(otf2::Reader{scratch / "trace.tmp/traces.otf2"}, base::Error);
}

TEST_CASE("a full disk never disturbs who records and is reported at the end")
{
    const testing::Scratch scratch;
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit small{.rlim_cur = 100'000, .rlim_max = 100'000};
        ::setrlimit(RLIMIT_FSIZE, &small);
        otf2::Recorder recorder{scratch / "trace"};
        otf2::LocationRecorder& main = recorder.location("main");
        const otf2::RegionRef region = recorder.region("work");
        for (int i = 0; i < 100'000; ++i) {
            main.enter(region);
            main.leave(region);
        }
        try {
            recorder.finish();
        } catch (const base::Error& error) {
            const bool reported = std::string{error.what()}.find("no trace " + (scratch / "trace").string()) == 0;
            std::_Exit(reported ? 0 : 2);
        }
        std::_Exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK_FALSE(std::filesystem::exists(scratch / "trace"));
    CHECK_FALSE(std::filesystem::exists(scratch / "trace.tmp"));  // it would be unreadable
}

TEST_CASE("an archive is never written over")
{
    const testing::Scratch scratch;
    std::filesystem::create_directory(scratch / "trace");
    CHECK_THROWS_WITH_AS(
        otf2::Recorder{scratch / "trace"},
        ((scratch / "trace").string() + " is already there; give another path, or move it away").c_str(), base::Error);
}

TEST_CASE("what a killed run left is reported as such")
{
    const testing::Scratch scratch;
    std::filesystem::create_directory(scratch / "trace.tmp");
    CHECK_THROWS_WITH_AS(
        otf2::Recorder{scratch / "trace"},
        ("cannot record into " + (scratch / "trace").string() + ": a killed or still running run left " +
         (scratch / "trace.tmp").string() + "; if none runs, remove it")
            .c_str(),
        base::Error);
    CHECK(std::filesystem::exists(scratch / "trace.tmp"));
}

TEST_CASE("a directory that cannot be made is reported with the reason")
{
    CHECK_THROWS_WITH_AS(otf2::Recorder{"/proc/trace"}, "cannot create /proc/trace.tmp: No such file or directory",
                         base::Error);
    CHECK_THROWS_WITH_AS(otf2::Recorder{""}, "no directory to record into", base::Error);
    for (const std::string name : {".", "./", "/", "no such/.."})
        CHECK_THROWS_WITH_AS(
            otf2::Recorder{name},
            (name.substr(0, name.size() - (name == "./")) + " is already there; give another path, or move it away")
                .c_str(),
            base::Error);
}

TEST_CASE("a time stamp that goes back ends the recording and is reported at the end")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    otf2::LocationRecorder& main = recorder.location("main");
    const otf2::RegionRef region = recorder.region("work");
    main.enter(region, 2000);
    main.leave(region, 1000);
    CHECK_FALSE(main.on());
    main.enter(region);  // harmless
    try {
        recorder.finish();
        FAIL("finished a broken trace");
    } catch (const base::Error& error) {
        const std::string why = error.what();
        CHECK(why.find("no trace") == 0);
        CHECK(why.find("cannot record on main") != std::string::npos);
    }
    CHECK_FALSE(std::filesystem::exists(scratch / "trace"));
}
