// SPDX-License-Identifier: Apache-2.0
// Tests that memory in small pages really has small pages, according to the kernel.
#include "noisegen/stressors/pages.hpp"

#include "base/error.hpp"
#include "testing/made_stressor.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace {

// Physical frame of each page (proc(5), pagemap); zeros without the permission to read it.
std::vector<std::uint64_t> frames_of(const void* memory, std::size_t bytes)
{
    constexpr std::size_t page = 4096;
    std::vector<std::uint64_t> entries(bytes / page);
    std::ifstream map{"/proc/self/pagemap", std::ios::binary};
    map.seekg(static_cast<std::streamoff>(reinterpret_cast<std::uintptr_t>(memory) / page * sizeof(std::uint64_t)));
    map.read(reinterpret_cast<char*>(entries.data()),
             static_cast<std::streamsize>(entries.size() * sizeof(std::uint64_t)));
    if (!map) base::fail("cannot read /proc/self/pagemap");
    for (std::uint64_t& entry : entries) entry &= (std::uint64_t{1} << 55U) - 1;
    return entries;
}

// Memory of this process in mappings without huge pages, which have the flag "nh" (proc(5), smaps).
std::int64_t kib_in_small_pages()
{
    std::ifstream maps{"/proc/self/smaps"};
    std::int64_t sum = 0;
    std::int64_t size = 0;
    for (std::string line; std::getline(maps, line);) {
        if (line.starts_with("Size:")) size = std::stoll(line.substr(5));
        if (line.starts_with("VmFlags:") && (line + " ").find(" nh ") != std::string::npos) sum += size;
    }
    return sum;
}

}  // namespace

TEST_CASE("few small pages lie beside the one before")
{
    constexpr std::size_t bytes = std::size_t{8} << 20U;
    const noisegen::Pages pages{bytes, noisegen::PageSize::small};
    const std::vector<std::uint64_t> frames = frames_of(pages.data(), bytes);
    if (frames.front() == 0) testing::skip("only root may know where pages lie");
    int beside = 0;
    for (std::size_t i = 1; i < frames.size(); ++i) beside += frames[i] == frames[i - 1] + 1 ? 1 : 0;
    CHECK(beside < 200);  // 2,047 pairs; if touched in address order up to 1,134 were adjacent
}

TEST_CASE("transfers of io.write are in small pages if that is asked for")
{
    const testing::Scratch scratch;
    const auto grown_kib = [&](const std::string& pages) {
        const std::int64_t before = kib_in_small_pages();
        const testing::Made made{"io.write",
                                 {{"directory", scratch.path()}, {"size", "2MiB"}, {"depth", "8"}, {"pages", pages}}};
        made.stressor->begin({});
        noisegen::Work work;
        while (work.operations == 0) work = made.stressor->step();
        const std::int64_t grown = kib_in_small_pages() - before;
        made.stressor->end();
        return grown;
    };
    CHECK(grown_kib("small") >= 8 << 10U);  // eight transfers of 1 MiB
    CHECK(grown_kib("huge") < 1 << 10U);
    CHECK_THROWS_WITH_AS(grown_kib("large"), "io.write[pages] must be huge or small, not large", base::UsageError);
}
