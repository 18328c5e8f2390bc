// SPDX-License-Identifier: Apache-2.0
// The control file's page, which training and noise share.
#include "base/contract/control_file.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <unistd.h>

using namespace base;

TEST_CASE("both sides see the same page whoever comes first")
{
    const testing::Scratch scratch;
    ControlFile noise = ControlFile::open(scratch.path(), "node1");
    ControlFile training = ControlFile::open(scratch.path(), "node1");
    noise.page().on_until_ns = 123;
    CHECK(training.page().on_until_ns == 123);
    training.page().step = 7;
    CHECK(noise.page().step == 7);
    CHECK(std::filesystem::file_size(scratch / "control" / "node1") == 4096);
}

TEST_CASE("a file that is no control page is refused and left as it was")
{
    const testing::Scratch scratch;
    std::filesystem::create_directories(scratch / "control");
    std::ofstream{scratch / "control" / "node1"} << "something else";
    CHECK_THROWS_AS(ControlFile::open(scratch.path(), "node1"), Error);
    CHECK(std::filesystem::file_size(scratch / "control" / "node1") == 14);
}

TEST_CASE("a page of another version is refused")
{
    const testing::Scratch scratch;
    ControlFile::open(scratch.path(), "node1").page().version = 99;
    CHECK_THROWS_AS(ControlFile::open(scratch.path(), "node1"), Error);
}

TEST_CASE("who sleeps on the phase is woken by the next one")
{
    const testing::Scratch scratch;
    ControlFile noise = ControlFile::open(scratch.path(), "node1");
    ControlFile training = ControlFile::open(scratch.path(), "node1");
    publish_phase(training.page(), TrainingPhase::load, now_ns());
    std::atomic<bool> asleep = false;
    TrainingPhase seen = TrainingPhase::load;
    std::thread sleeper{[&] {
        asleep = true;
        while (seen == TrainingPhase::load) seen = sleep_on_phase(noise.page(), TrainingPhase::load, INT64_MAX);
    }};
    while (!asleep || training.page().followed_until_ns == 0) std::this_thread::yield();
    publish_phase(training.page(), TrainingPhase::backward, now_ns());
    sleeper.join();
    CHECK(seen == TrainingPhase::backward);
    CHECK(noise.page().updated_ns > 0);
    CHECK(sleep_on_phase(noise.page(), TrainingPhase::load, INT64_MAX) ==
          TrainingPhase::backward);  // returns immediately
    CHECK(sleep_on_phase(noise.page(), TrainingPhase::backward, now_ns()) == TrainingPhase::backward);
}

TEST_CASE("a symlink is not followed")
{
    const testing::Scratch scratch;
    std::filesystem::create_directories(scratch / "control");
    std::ofstream{scratch / "precious"} << "";
    std::filesystem::create_symlink(scratch / "precious", scratch / "control" / "node1");
    CHECK_THROWS_AS(ControlFile::open(scratch.path(), "node1"), std::system_error);
    CHECK(std::filesystem::file_size(scratch / "precious") == 0);
}

TEST_CASE("a training's processes stand in the page while they live")
{
    const testing::Scratch scratch;
    ControlFile noise = ControlFile::open(scratch.path(), "node1");
    CHECK(training_processes(noise.page()).empty());
    {
        ControlFile training = ControlFile::open(scratch.path(), "node1");
        const TrainingProcess me{training.page()};
        CHECK(training_processes(noise.page()) == std::set{::getpid()});
    }
    CHECK(training_processes(noise.page()).empty());
}

TEST_CASE("a process that only has the number of a killed one is not taken for it, and its place is used again")
{
    const testing::Scratch scratch;
    ControlFile control = ControlFile::open(scratch.path(), "node1");
    for (auto& entry : control.page().processes) entry = static_cast<std::uint64_t>(::getpid());  // start time 0
    CHECK(training_processes(control.page()).empty());
    const TrainingProcess me{control.page()};
    CHECK(training_processes(control.page()) == std::set{::getpid()});
}

TEST_CASE("what is asked of a step ends with its time")
{
    const testing::Scratch scratch;
    ControlFile control = ControlFile::open(scratch.path(), "node1");
    CHECK(request(control.page(), 5) == ControlRequest::none);
    control.page().request = static_cast<std::uint32_t>(ControlRequest::sham);
    control.page().on_until_ns = 10;
    CHECK(request(control.page(), 9) == ControlRequest::sham);
    CHECK(request(control.page(), 10) == ControlRequest::none);
}

TEST_CASE("a step is controlled if it ends within its slot, a sham only where a delay would")
{
    constexpr std::int64_t step_ns = 20'000'000;
    constexpr std::int64_t delay_ns = 3'000'000;
    constexpr std::int64_t control_ns = control_settle_ns + delay_ns;
    const testing::Scratch scratch;
    ControlFile control = ControlFile::open(scratch.path(), "node1");
    ControlPage& page = control.page();
    page.on_until_ns = 1'000'000'000;
    page.slot_end_ns = 100'000'000;
    for (const ControlRequest kind : {ControlRequest::delay, ControlRequest::sham}) {
        page.request = static_cast<std::uint32_t>(kind);
        const std::int64_t after_plain_step = 100'000'000 - 2 * step_ns - control_ns;
        CHECK(request_for_next_step(page, after_plain_step, step_ns, false, delay_ns) == kind);
        CHECK(request_for_next_step(page, after_plain_step + 1, step_ns, false, delay_ns) == ControlRequest::none);
        const std::int64_t after_controlled_step = after_plain_step - control_ns;
        CHECK(request_for_next_step(page, after_controlled_step, step_ns, true, delay_ns) == kind);
        CHECK(request_for_next_step(page, after_controlled_step + 1, step_ns, true, delay_ns) == ControlRequest::none);
        CHECK(request_for_next_step(page, 0, 0, false, delay_ns) == ControlRequest::none);  // no step length is known
        const std::int64_t three_ahead = 100'000'000 - 4 * step_ns - control_ns;
        CHECK(request_for_next_step(page, three_ahead, step_ns, false, delay_ns, 3) == kind);
        CHECK(request_for_next_step(page, three_ahead + 1, step_ns, false, delay_ns, 3) == ControlRequest::none);
    }
}

TEST_CASE("root takes no control file of another user")
{
    if (::geteuid() != 0) return testing::skip("needs root");
    const testing::Scratch scratch;
    {
        const base::ControlFile own = base::ControlFile::open(scratch.path(), "host");
    }
    REQUIRE(::chown((scratch / "control/host").c_str(), 65534, 65534) == 0);
    CHECK_THROWS_WITH_AS(base::ControlFile::open(scratch.path(), "host"), doctest::Contains("belongs to another user"),
                         base::Error);
}
