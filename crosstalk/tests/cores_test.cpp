// SPDX-License-Identifier: Apache-2.0
// Tests on a machine of two sockets with two cores each and two threads per core: the first socket has CPUs 0, 1 and
// their siblings 4, 5.
#include "crosstalk/launchers/cores.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "crosstalk/run/place/gpu_cores.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

using crosstalk::Split;

namespace {

std::vector<base::Core> cores_within(const base::CpuSet& allowed)
{
    std::vector<base::Core> cores;
    for (int core = 0; core < 4; ++core) {
        base::Core made{.cpus = {}, .index = core, .numa_node = core / 2, .package = core / 2};
        for (const int cpu : {core, core + 4})
            if (allowed.contains(cpu)) made.cpus.insert(cpu);
        if (!made.cpus.empty()) cores.push_back(made);
    }
    return cores;
}

// The split as text: "0,4 beside 1,5".
std::string split(const base::CpuSet& allowed, const base::CpuSet& job = {}, const base::CpuSet& noise = {})
{
    const Split split = crosstalk::split_cores(cores_within(allowed), job, noise);
    return base::format_cpus(split.job) + (split.shared ? " shared with " : " beside ") +
           base::format_cpus(split.noise);
}

const base::CpuSet all{0, 1, 2, 3, 4, 5, 6, 7};

}  // namespace

TEST_CASE("with nothing given each gets cores of both sockets and siblings stay together")
{
    CHECK(split(all) == "0,2,4,6 beside 1,3,5,7");
    CHECK(split({1, 2, 3}) == "1,3 beside 2");
    CHECK(split({2}) == "2 shared with 2");
}

TEST_CASE("what is given to one leaves the other the cores without any of its CPUs")
{
    CHECK(split(all, {0, 1}) == "0-1 beside 2-3,6-7");
    CHECK(split(all, {}, {7}) == "0-2,4-6 beside 7");
    CHECK_THROWS_AS(split(all, {0, 1, 2, 3}), base::UsageError);
    CHECK_THROWS_AS(split(all, {}, all), base::UsageError);
}

TEST_CASE("two sets are taken as they are if they are disjoint or the same")
{
    CHECK(split(all, {0}, {4}) == "0 beside 4");
    CHECK(split(all, {0, 1}, {0, 1}) == "0-1 shared with 0-1");
    CHECK_THROWS_AS(split(all, {0, 1}, {1, 2}), base::UsageError);
}

namespace {

// The first two GPUs are near the first socket, the third near the second.
struct ThreeGpus {
    ThreeGpus()
    {
        for (const auto& [device, cpus] : {std::pair{"0000:17:00.0", "0-1,4-5"}, std::pair{"0000:18:00.0", "0-1,4-5"},
                                           std::pair{"0000:ca:00.0", "2-3,6-7"}}) {
            std::filesystem::create_directories(devices / device);
            base::write_whole(devices / device / "local_cpulist", std::string{cpus} + "\n");
        }
    }

    // CPUs near each visible GPU: "0-1,4-5; 2-3,6-7".
    std::string near(const std::optional<std::string>& visible) const
    {
        const std::string listing =
            "0, GPU-a, 00000000:17:00.0\n1, GPU-b, 00000000:18:00.0\n2, GPU-c, 00000000:CA:00.0\n";
        std::string text;
        for (const base::CpuSet& cpus : crosstalk::near_gpus(listing, visible, scratch.path(), all))
            text += (text.empty() ? "" : "; ") + base::format_cpus(cpus);
        return text;
    }

    testing::Scratch scratch;
    std::filesystem::path devices = scratch.path() / "bus/pci/devices";
};

// CPUs of each rank and of the noise: "0,4; 2,6 beside 1,3". Each socket has `ranks` GPUs with a rank each.
std::string deal(std::size_t ranks, const base::CpuSet& job = {}, const base::CpuSet& noise = {})
{
    std::vector<base::CpuSet> near;
    for (const base::CpuSet& socket : {base::CpuSet{0, 1, 4, 5}, base::CpuSet{2, 3, 6, 7}})
        near.insert(near.end(), ranks, socket);
    const crosstalk::SplitNear split = crosstalk::split_near(cores_within(all), job, noise, near);
    std::string text;
    for (const base::CpuSet& cpus : split.each_rank) text += (text.empty() ? "" : "; ") + base::format_cpus(cpus);
    return text + " beside " + base::format_cpus(split.noise);
}

}  // namespace

TEST_CASE_FIXTURE(ThreeGpus, "the kernel says which CPUs are near each GPU that the job may use")
{
    CHECK(near({}) == "0-1,4-5; 0-1,4-5; 2-3,6-7");
    CHECK(near("1,2") == "0-1,4-5; 2-3,6-7");
    CHECK(near("GPU-c") == "2-3,6-7");
    std::filesystem::remove(devices / "0000:18:00.0/local_cpulist");
    CHECK(near({}) == "0-1,4-5; 0-7; 2-3,6-7");
}

TEST_CASE("each rank gets cores near its GPU, and noise what is left of both sockets")
{
    CHECK(deal(1) == "0,4; 2,6 beside 1,3,5,7");
    CHECK(deal(2, all, {}) == "0,4; 1,5; 2,6; 3,7 beside ");
    CHECK(deal(1, {}, {1}) == "0,4; 2-3,6-7 beside 1");
    CHECK(deal(1, {0, 2}) == "0; 2 beside 1,3,5,7");
    CHECK_THROWS_AS(deal(1, {0, 1}), base::UsageError);
    CHECK_THROWS_AS(deal(2), base::UsageError);
}
