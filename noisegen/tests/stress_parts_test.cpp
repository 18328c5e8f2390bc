// The parts that stressors are made of: scratch files, writes in flight, sleep that can be cut short.
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/testing.hpp"
#include "noisegen/limits.hpp"
#include "noisegen/pages.hpp"
#include "noisegen/scratch_file.hpp"
#include "noisegen/shelf.hpp"
#include "noisegen/sockets.hpp"
#include "noisegen/stop_bell.hpp"
#include "noisegen/write_ring.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

TEST_CASE("a scratch file has no name and its space is reserved")
{
    const testing::Scratch scratch;
    const noisegen::ScratchFile file{scratch.path(), 1 << 20U};
    CHECK(std::filesystem::is_empty(scratch.path()));
    struct stat status {};
    REQUIRE(::fstat(file.descriptor(), &status) == 0);
    CHECK(status.st_size == 1 << 20U);
    CHECK(status.st_nlink == 0);
    CHECK_THROWS_AS((noisegen::ScratchFile{scratch / "absent", 1}), std::system_error);
}

TEST_CASE("writes to a directory in memory say so in the record")
{
    if (!noisegen::in_memory("/dev/shm")) {
        testing::skip("/dev/shm is not in memory here");
        return;
    }
    const auto& card = noisegen::stressors().find("io.write");
    const auto settings = noisegen::stressors().settings(
        card, {{"directory", "/dev/shm"}, {"size", "64KiB"}, {"block", "64KiB"}, {"depth", "1"}});
    const auto stressor = card.make(settings, {});
    CHECK(stressor->note().ends_with("in /dev/shm, which is in memory: no disk is stressed"));
}

TEST_CASE("writes in flight arrive")
{
    const testing::Scratch scratch;
    constexpr std::size_t block = 8192;
    for (const unsigned depth : {1U, 4U}) {
        CAPTURE(depth);
        const noisegen::ScratchFile file{scratch.path(), 16 * block};
        const noisegen::Pages buffer{block};
        std::memset(buffer.data(), 'x', block);
        const auto ring = noisegen::WriteRing::make(file.descriptor(), depth);
        for (int i = 0; i < 16;) {
            if (!ring->ready()) continue;
            ring->write(buffer.data(), block, i++ * static_cast<std::int64_t>(block));
        }
        ring->idle();
        std::array<char, 16 * block> content{};
        REQUIRE(::pread(file.descriptor(), content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
        CHECK(std::all_of(content.begin(), content.end(), [](char c) { return c == 'x'; }));
    }
}

TEST_CASE("a write that fails is told")
{
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    REQUIRE(full >= 0);
    const noisegen::Pages buffer{4096};
    for (const unsigned depth : {1U, 4U}) {
        const auto ring = noisegen::WriteRing::make(full, depth);
        const auto write = [&] {
            ring->write(buffer.data(), 4096, 0);
            ring->idle();
        };
        CHECK_THROWS_WITH_AS(write(), doctest::Contains("No space left"), std::system_error);
    }
    ::close(full);
}

TEST_CASE("sockets speak over loopback and notice when the other side goes")
{
    const noisegen::Socket listener = noisegen::listen_on(0, true);
    noisegen::Socket here = noisegen::connect_to("127.0.0.1", noisegen::port_of(listener));
    REQUIRE(here.open());
    auto there = noisegen::accept_from(listener);
    REQUIRE(there.has_value());
    CHECK(there->address == "127.0.0.1");
    std::array<char, 8> text{};
    CHECK(there->socket.receive(text.data(), text.size()) == 0);
    CHECK(here.send("noise", 5) == 5);
    CHECK(there->socket.receive(text.data(), text.size()) == 5);
    here = noisegen::Socket{};
    CHECK(!there->socket.receive(text.data(), text.size()).has_value());
    CHECK(!noisegen::listen_on(noisegen::port_of(listener), true).open());
    CHECK_THROWS_AS(noisegen::addresses_of("no such host"), base::Error);
}

TEST_CASE("a bell cuts sleep short for all who sleep and who come later")
{
    noisegen::StopBell bell;
    CHECK(bell.sleep_until(base::now_ns() + 1'000'000));
    bool slept = true;
    std::thread sleeper{[&] { slept = bell.sleep_until(base::now_ns() + 3'600'000'000'000); }};
    bell.ring();
    sleeper.join();
    CHECK(!slept);
    CHECK(bell.rung());
    CHECK(!bell.sleep_until(base::now_ns() + 3'600'000'000'000));
}
