// The page that training and noise share.
#include "base/control_file.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/testing.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

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
    CHECK(sleep_on_phase(noise.page(), TrainingPhase::load, INT64_MAX) == TrainingPhase::backward);  // at once
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
