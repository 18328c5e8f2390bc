// SPDX-License-Identifier: Apache-2.0
// Reads and writes of scratch files: engines, stressors, error messages.
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/available.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/stressors/io/block_io.hpp"
#include "noisegen/stressors/io/io_ring.hpp"
#include "noisegen/stressors/io/scratch_file.hpp"
#include "testing/made_stressor.hpp"
#include "testing/noise_runs.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <vector>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using noisegen::IoRing;
using noisegen::Transfer;
using testing::Made;

constexpr std::size_t block = 8192;

bool has_io_uring()
{
    try {
        IoRing::make({.file = 0, .block = block, .depth = 1, .engine = IoRing::Engine::io_uring});
        return true;
    } catch (const base::Unavailable&) {
        return false;
    }
}

std::vector<std::string> engines()
{
    if (has_io_uring()) return {"io_uring", "pread"};
    testing::skip("no io_uring here");
    return {"pread"};
}

std::uint64_t first_word(int file, std::int64_t offset)
{
    std::uint64_t word = 0;
    REQUIRE(::pread(file, &word, sizeof word, offset) == sizeof word);
    return word;
}

// Steps until `operations` are done; returns the work.
noisegen::Work work_off(noisegen::Stressor& stressor, std::uint64_t operations)
{
    noisegen::Work sum;
    for (int steps = 0; steps < 100'000 && sum.operations < operations; ++steps) {
        const noisegen::Work work = stressor.step();
        sum.bytes += work.bytes;
        sum.operations += work.operations;
        if (work.rest_until_ns > 0) base::sleep_until_ns(work.rest_until_ns);
    }
    return sum;
}

// Runs noisegen with io_uring refused by the kernel, as in many containers.
testing::Outcome run_without_io_uring(const testing::Scratch& scratch, const std::string& stressor)
{
    const std::string out = scratch / "out";
    using testing::program;
    const std::string schedule = stressor + " 100ms";
    const std::string cpu = std::to_string(*base::allowed_cpus().rbegin());
    const std::string run = scratch / "run";
    std::array<sock_filter, 4> filter{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
                                       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
    const sock_fprog code{static_cast<unsigned short>(filter.size()), filter.data()};
    const pid_t child = ::fork();
    if (child == 0) {
        const int file = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        ::dup2(file, 1);
        ::dup2(file, 2);
        if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &code) == 0)
            ::execl(program.c_str(), "noisegen", "--schedule", schedule.c_str(), "--cpus", cpu.c_str(), "--duration",
                    "100ms", "--out", run.c_str(), nullptr);
        ::_exit(99);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return {.status = WEXITSTATUS(status), .out = base::read_whole(out)};
}

}  // namespace

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

TEST_CASE("a filled scratch file begins each page with its place, past and through the page cache")
{
    constexpr std::int64_t size = (3 << 20) + 4096;
    for (const bool direct : {false, true}) {
        CAPTURE(direct);
        const testing::Scratch scratch;
        noisegen::ScratchFile file{scratch.path(), size};
        if (direct && !file.bypass_cache()) {
            testing::skip("the file system refuses O_DIRECT");
            return;
        }
        file.fill();
        const int flags = ::fcntl(file.descriptor(), F_GETFL);
        ::fcntl(file.descriptor(), F_SETFL, flags & ~O_DIRECT);
        for (std::int64_t page = 0; page < size; page += 4096)
            CHECK(first_word(file.descriptor(), page) == static_cast<std::uint64_t>(page));
        CHECK(first_word(file.descriptor(), 8) != 0);
    }
}

TEST_CASE("what an engine reads and writes is in memory and in the file")
{
    for (const std::string& engine : engines()) {
        CAPTURE(engine);
        const testing::Scratch scratch;
        noisegen::ScratchFile file{scratch.path(), 16 * block};
        file.fill();
        const auto ring =
            IoRing::make({.file = file.descriptor(), .block = block, .depth = 1, .engine = IoRing::engine(engine)});
        const auto transfer = [&](Transfer::Kind kind, std::int64_t offset) {
            ring->start({kind, offset});
            CHECK(ring->in_flight() == 1);
            noisegen::Work work;
            while (ring->in_flight() > 0) {
                const noisegen::Work some = ring->take(1, 1'000'000);
                work.bytes += some.bytes;
                work.operations += some.operations;
            }
            CHECK(work.bytes == block);
            CHECK(work.operations == 1);
        };
        // There is a single buffer, so the block read is written to another place.
        transfer(Transfer::Kind::read, 3 * block);
        transfer(Transfer::Kind::write, 9 * block);
        CHECK(first_word(file.descriptor(), 9 * block) == 3 * block);
        CHECK(first_word(file.descriptor(), 9 * block + 4096) == 3 * block + 4096);
        CHECK(ring->latency_ns() > 0);
    }
}

TEST_CASE("many transfers in flight arrive")
{
    for (const std::string& engine : engines()) {
        CAPTURE(engine);
        const testing::Scratch scratch;
        const noisegen::ScratchFile file{scratch.path(), 64 * block};
        const auto ring =
            IoRing::make({.file = file.descriptor(), .block = block, .depth = 16, .engine = IoRing::engine(engine)});
        std::uint64_t done = 0;
        for (std::int64_t next = 0; next < 64 || ring->in_flight() > 0;) {
            while (next < 64 && ring->in_flight() < ring->depth())
                ring->start({Transfer::Kind::write, next++ * static_cast<std::int64_t>(block)});
            done += ring->take(1, 1'000'000).operations;
        }
        CHECK(done == 64);
        for (std::int64_t i = 0; i < 64; ++i)
            CHECK(first_word(file.descriptor(), i * static_cast<std::int64_t>(block)) != 0);
        ring->start({Transfer::Kind::write, 0});
        ring->settle();
        CHECK(ring->in_flight() == 0);
    }
}

TEST_CASE("a transfer that fails is reported")
{
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    REQUIRE(full >= 0);
    for (const std::string& engine : engines()) {
        const auto fails = [&](Transfer::Kind kind) {
            const auto ring =
                IoRing::make({.file = full, .block = block, .depth = 4, .engine = IoRing::engine(engine)});
            ring->start({kind, 0});
            while (ring->in_flight() > 0) ring->take(1, 1'000'000);
        };
        CHECK_THROWS_WITH_AS(fails(Transfer::Kind::write), doctest::Contains("No space left"), std::system_error);
        CHECK_THROWS_WITH_AS(fails(Transfer::Kind::read), doctest::Contains("cannot read"), std::system_error);
    }
    ::close(full);
}

TEST_CASE("each I/O stressor works with each engine, past and through the page cache")
{
    for (const std::string name : {"io.write", "io.read", "io.random", "io.checkpoint"})
        for (const std::string& engine : engines())
            for (const std::string direct : {"yes", "no"}) {
                CAPTURE(name);
                CAPTURE(engine);
                CAPTURE(direct);
                const testing::Scratch scratch;
                std::map<std::string, std::string> options{{"directory", scratch.path()},
                                                           {"size", "1MiB"},
                                                           {"block", "16KiB"},
                                                           {"depth", "4"},
                                                           {"engine", engine},
                                                           {"direct", direct}};
                if (name == "io.checkpoint") options["every"] = "20ms";
                const Made made{name, options};
                made.stressor->begin({});
                const noisegen::Work work = work_off(*made.stressor, 200);
                made.stressor->end();
                CHECK(work.operations >= 200);
                CHECK(work.bytes == work.operations * 16384);
                CHECK(made.stressor->note().starts_with(engine));
                CHECK((made.stressor->note().find("past the page cache") == std::string::npos) ==
                      (direct == "no" || made.stressor->note().find("refuses O_DIRECT") != std::string::npos));
                CHECK(std::filesystem::is_empty(scratch.path()));
            }
}

TEST_CASE("without io_uring the engine is another, or the one that was asked for by name is refused")
{
    const testing::Scratch scratch;
    const std::string there = "size=1MiB,block=64KiB,directory=" + scratch.path().string();
    const testing::Outcome named = run_without_io_uring(scratch, "io.write[engine=io_uring," + there + "]");
    if (named.status == 99) {
        testing::skip("system calls cannot be forbidden here (seccomp)");
        return;
    }
    CHECK(named.status == 77);
    CHECK(named.out.find("noisegen: engine=io_uring: this kernel, container or build has no io_uring") !=
          std::string::npos);
    const testing::Outcome automatic = run_without_io_uring(scratch, "io.write[" + there + "]");
    INFO(automatic.out);
    CHECK((automatic.status == 0 || automatic.status == 3));  // a busy disk may complete nothing in that time
    const auto record =
        nlohmann::json::parse(base::read_whole(scratch / "run" / "noise" / (base::host_name() + ".0") / "noise.json"));
    CHECK(record.at("stressors").at(0).at("how").get<std::string>().starts_with("pread and pwrite"));
}

TEST_CASE("a stressor that is to be slow takes small steps")
{
    const testing::Scratch scratch;
    for (const std::string& engine : engines()) {
        const Made made{
            "io.write",
            {{"directory", scratch.path()}, {"size", "1MiB"}, {"block", "4KiB"}, {"depth", "64"}, {"engine", engine}}};
        made.stressor->begin({.deadline_ns = 0, .bytes_per_s = 0.0, .operations_per_s = 5000.0});
        CHECK(made.stressor->step().operations <= 5);
        made.stressor->end();
    }
}

TEST_CASE("after the end of a turn nothing is started")
{
    const testing::Scratch scratch;
    const Made made{"io.read", {{"directory", scratch.path()}, {"size", "1MiB"}, {"block", "64KiB"}}};
    const std::int64_t deadline = base::now_ns();
    made.stressor->begin({.deadline_ns = deadline, .bytes_per_s = 0.0, .operations_per_s = 0.0});
    const noisegen::Work work = made.stressor->step();
    CHECK(work.operations == 0);
    CHECK(work.rest_until_ns == deadline);
}

TEST_CASE("writes to a directory in memory say so in the record")
{
    if (!base::in_memory("/dev/shm")) {
        testing::skip("/dev/shm is not in memory here");
        return;
    }
    const Made made{"io.write", {{"directory", "/dev/shm"}, {"size", "64KiB"}, {"block", "64KiB"}, {"depth", "1"}}};
    CHECK(made.stressor->note().ends_with("in /dev/shm, which is in memory, so no disk is stressed"));
}

TEST_CASE("checkpoints begin at multiples of their distance on the wall clock and are complete")
{
    constexpr std::int64_t every_ns = 200'000'000;
    constexpr std::uint64_t size = 1 << 20;
    const testing::Scratch scratch;
    const Made made{"io.checkpoint",
                    {{"directory", scratch.path()}, {"size", "1MiB"}, {"block", "64KiB"}, {"every", "200ms"}}};
    made.stressor->begin({});
    for (int burst = 0; burst < 2; ++burst) {
        const noisegen::Work rest = made.stressor->step();
        CHECK(rest.bytes == 0);
        REQUIRE(rest.rest_until_ns > base::now_ns() - every_ns);
        const std::int64_t beside = (rest.rest_until_ns + base::realtime_offset_ns()) % every_ns;
        CHECK(std::min(beside, every_ns - beside) < 10'000'000);  // tolerance of the comparison of two clocks
        base::sleep_until_ns(rest.rest_until_ns);
        CHECK(work_off(*made.stressor, size / 65536).bytes == size);
    }
    made.stressor->end();
    CHECK(made.stressor->note().find("synced, 2 bursts complete") != std::string::npos);
}

TEST_CASE("small files are each read once an epoch, whole and in another order")
{
    constexpr std::size_t files = 20;
    const testing::Scratch scratch;
    for (const std::string cached : {"yes", "no"}) {
        const Made made{"io.smallfiles",
                        {{"directory", scratch.path()}, {"files", "20"}, {"size", "40KiB"}, {"cached", cached}}};
        made.stressor->begin({.deadline_ns = 0, .bytes_per_s = 0.0, .operations_per_s = 1000.0});  // one per step
        std::vector<std::vector<std::uint64_t>> epochs(2);
        for (auto& sizes : epochs)
            for (std::size_t i = 0; i < files; ++i) {
                const noisegen::Work work = made.stressor->step();
                CHECK(work.operations == 1);
                CHECK(work.bytes >= 20 * 1024);
                CHECK(work.bytes <= 60 * 1024);
                sizes.push_back(work.bytes);
            }
        CHECK(epochs[0] != epochs[1]);
        for (auto& sizes : epochs) std::sort(sizes.begin(), sizes.end());
        CHECK(epochs[0] == epochs[1]);
        CHECK(std::set<std::uint64_t>(epochs[0].begin(), epochs[0].end()).size() > files / 2);
        made.stressor->end();
    }
    CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("wrong options of I/O stressors are refused with the option's name and a right value")
{
    struct Refusal {
        std::string stressor;
        std::string option;
        std::string value;
        std::string reported;
    };
    std::vector<Refusal> refusals{{"io.random", "read", "110%", "0% to 100%"},
                                  {"io.random", "read", "0.5", "percent"},
                                  {"io.checkpoint", "every", "1ms", "10ms to 24h"},
                                  {"io.checkpoint", "every", "30", "unit of time"},
                                  {"io.checkpoint", "sync", "perhaps", "yes"},
                                  {"io.smallfiles", "files", "0", "1 to 50000"},
                                  {"io.smallfiles", "files", "1000000", "1 to 50000"},
                                  {"io.smallfiles", "size", "1GiB", "1B to 64MiB"},
                                  {"io.smallfiles", "cached", "2", "yes"}};
    for (const std::string stressor : {"io.write", "io.read", "io.random", "io.checkpoint"})
        for (const Refusal& refusal : {Refusal{"", "block", "5KiB", "multiple of 4KiB"},
                                       {"", "block", "2GiB", "up to 1GiB"},
                                       {"", "size", "5KiB", "multiple of the block"},
                                       {"", "depth", "0", "1 to 1024"},
                                       {"", "depth", "2000", "1 to 1024"},
                                       {"", "engine", "libaio", "auto, io_uring or pread"},
                                       {"", "direct", "maybe", "yes"}})
            refusals.push_back({stressor, refusal.option, refusal.value, refusal.reported});
    for (const auto& [stressor, option, value, reported] : refusals) {
        CAPTURE(stressor);
        CAPTURE(option);
        CAPTURE(value);
        const auto& card = noisegen::stressors().find(stressor);
        const auto settings = noisegen::stressors().settings(card, {{option, value}});
        CHECK_THROWS_WITH_AS(card.needs(settings), doctest::Contains((stressor + "[" + option + "]").c_str()),
                             base::UsageError);
        CHECK_THROWS_WITH_AS(card.needs(settings), doctest::Contains(reported.c_str()), base::UsageError);
    }
}
