// SPDX-License-Identifier: Apache-2.0
// Machines with other caches than this one, without caches, or with an empty /sys.
#include "testing/noise_runs.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

// Runs noisegen with this directory as /sys.
testing::Outcome noisegen_with(const std::string& sys, const std::vector<std::string>& words)
{
    std::vector<std::string> all{"unshare",
                                 "-m",
                                 "sh",
                                 "-c",
                                 "mount --bind \"$0\" /sys && exec \"$@\"",
                                 sys,
                                 "env",
                                 testing::without_leak_check,
                                 testing::program};
    all.insert(all.end(), words.begin(), words.end());
    return testing::run(all);
}

}  // namespace

TEST_CASE("noise and probe work by their defaults whatever last-level cache a machine shows")
{
    const testing::Scratch scratch;
    if (::geteuid() != 0 || noisegen_with(scratch.path(), {"--version"}).status != 0)
        return testing::skip("needs root and a mount namespace of its own");
    for (const std::string size : {"491520K", "32768K", ""}) {
        CAPTURE(size);
        const auto sys = scratch / ("of" + size);
        std::filesystem::create_directories(sys);
        for (int cpu = 0; !size.empty() && cpu < 1024; ++cpu) {
            const auto cache = sys / ("devices/system/cpu/cpu" + std::to_string(cpu)) / "cache/index0";
            std::filesystem::create_directories(cache);
            std::ofstream{cache / "size"} << size << "\n";
        }
        const testing::Outcome noise = noisegen_with(sys, {"memory.stream", "100ms", "--cpus", testing::cpu()});
        INFO(noise.err);
        CHECK(noise.status == 0);
        CHECK(noise.out.starts_with("memory.stream: 1 slot"));
        CHECK(noise.err.find("hwloc") == std::string::npos);
        const testing::Outcome probe =
            noisegen_with(sys, {"probe", "memory.stream", "cache.llc", "--blocks", "2", "--slot", "200ms"});
        INFO(probe.err);
        CHECK(probe.status == 0);
        CHECK(probe.out.find("memory.stream") != std::string::npos);
    }
}
