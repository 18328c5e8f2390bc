// SPDX-License-Identifier: Apache-2.0
// A control file that is truncated while it is mapped.
#include "base/system/mapped_page.hpp"

#include "base/contract/control_file.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace base;

namespace {

// Runs `act` in a child process with its stderr in a file; returns how it ended.
int ends(const std::filesystem::path& err, const std::function<void()>& act)
{
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
        act();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

}  // namespace

TEST_CASE("a control file that is cut short takes the control away, not the program")
{
    const testing::Scratch scratch;
    const std::filesystem::path err = scratch / "err";
    const int status = ends(err, [&] {
        ControlFile training = ControlFile::open(scratch.path(), "node1");
        ControlFile noise = ControlFile::open(scratch.path(), "node1");
        training.page().step = 7;
        std::filesystem::resize_file(scratch / "control" / "node1", 0);
        if (page_lost(&training.page())) ::_exit(2);
        std::thread{[&] { training.page().step = 8; }}.join();
        publish_phase(training.page(), TrainingPhase::forward, 1);
        if (!page_lost(&training.page()) || page_lost(&noise.page())) ::_exit(3);
        if (training.page().step != 8 || noise.page().step != 0) ::_exit(4);
        if (!page_lost(&noise.page())) ::_exit(5);
    });
    CHECK(status == 0);
    const std::string said = read_whole(err);
    CHECK(said.ends_with(": the control file was truncated while in use: continuing without it\n"));
    CHECK(std::count(said.begin(), said.end(), '\n') == 1);
}

TEST_CASE("whoever sleeps on a page that is cut short wakes up")
{
    const testing::Scratch scratch;
    const int status = ends(scratch / "err", [&] {
        ControlFile noise = ControlFile::open(scratch.path(), "node1");
        std::filesystem::resize_file(scratch / "control" / "node1", 0);
        for (int i = 0; i < 3; ++i)
            if (sleep_on_phase(noise.page(), TrainingPhase::none, 1) != TrainingPhase::none) ::_exit(2);
    });
    CHECK(status == 0);
}

TEST_CASE("a page that was let go can be kept again")
{
    const testing::Scratch scratch;
    const int status = ends(scratch / "err", [&] {
        for (int i = 0; i < 3; ++i) {
            ControlFile control = ControlFile::open(scratch.path(), "node1");
            if (page_lost(&control.page())) ::_exit(2);
            std::filesystem::resize_file(scratch / "control" / "node1", 0);
            control.page().step = 1;
            if (!page_lost(&control.page())) ::_exit(3);
        }
    });
    CHECK(status == 0);
}

TEST_CASE("bus errors that are no business of the control file's still end the program")
{
    const testing::Scratch scratch;
    ControlFile::open(scratch.path(), "node1");
    std::ofstream{scratch / "other"} << "x";
    const int elsewhere = ends(scratch / "err", [&] {
        const int file = ::open((scratch / "other").c_str(), O_RDWR);
        auto* page = static_cast<volatile char*>(
            ::mmap(nullptr, mapped_page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
        std::filesystem::resize_file(scratch / "other", 0);
        page[0] = 'y';
    });
    CHECK(elsewhere != 0);
    const int sent = ends(scratch / "err", [] { ::raise(SIGBUS); });
    CHECK(sent != 0);
}
