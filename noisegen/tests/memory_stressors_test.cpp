// SPDX-License-Identifier: Apache-2.0
// Memory that the memory and cache stressors touch: a whole table, each line of a cycle once, a share of the cache.
#include "base/error.hpp"
#include "noisegen/stressors/footprint.hpp"
#include "noisegen/stressors/memory/line_cycle.hpp"
#include "noisegen/stressors/memory/random_updates.hpp"
#include "noisegen/stressors/memory/stream_kernels.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/environment.hpp"
#include "testing/resident_memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <thread>

namespace {

using noisegen::LineCycle;

std::unique_ptr<noisegen::Stressor> make(const std::string& stressor, const std::map<std::string, std::string>& options,
                                         const noisegen::Place& place = {})
{
    const auto& card = noisegen::stressors().find(stressor);
    return card.make(noisegen::stressors().settings(card, options), place);
}

noisegen::Place one_of_two(std::size_t index, noisegen::Shared* shared)
{
    noisegen::Place place;
    place.index = index;
    place.count = 2;
    place.shared = shared;
    return place;
}

}  // namespace

TEST_CASE("random updates reach every line of the table")
{
    constexpr std::size_t words = 24'576;  // not a power of two
    noisegen::RandomUpdates updates{words * sizeof(std::uint64_t), 1};
    REQUIRE(updates.table().size() == words);
    CHECK(std::all_of(updates.table().begin(), updates.table().end(), [](std::uint64_t word) { return word == 0; }));
    updates.run(8 * words);
    std::size_t untouched_lines = 0;
    for (std::size_t line = 0; line < words; line += 8) {
        const auto of_line = updates.table().subspan(line, 8);
        if (std::all_of(of_line.begin(), of_line.end(), [](std::uint64_t word) { return word == 0; }))
            ++untouched_lines;
    }
    CHECK(untouched_lines == 0);
}

TEST_CASE("two CPUs update different places")
{
    noisegen::RandomUpdates first{1 << 20, 0};
    noisegen::RandomUpdates second{1 << 20, 1};
    first.run(64);
    second.run(64);
    std::size_t both = 0;
    std::size_t either = 0;
    for (std::size_t i = 0; i < first.table().size(); ++i) {
        if (first.table()[i] != 0 && second.table()[i] != 0) ++both;
        if (first.table()[i] != 0 || second.table()[i] != 0) ++either;
    }
    CHECK(either > 64);
    CHECK(both < 8);
}

TEST_CASE("a chase visits every line once before it repeats")
{
    for (const std::size_t lines :
         {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4096}, std::size_t{10'007}}) {
        CAPTURE(lines);
        const LineCycle cycle{lines * noisegen::line_bytes};
        REQUIRE(cycle.size() == lines);
        std::set<const LineCycle::Line*> visited;
        const LineCycle::Line* at = cycle.begin();
        for (std::size_t i = 0; i < lines; ++i) {
            visited.insert(at);
            at = LineCycle::follow(at, 1);
        }
        CHECK(at == cycle.begin());
        CHECK(visited.size() == lines);
        CHECK(*visited.begin() == cycle.begin());
        CHECK(*visited.rbegin() == cycle.begin() + lines - 1);
        CHECK(LineCycle::follow(cycle.begin(), lines) == cycle.begin());
    }
}

TEST_CASE("a chase has no stride that a prefetcher could learn")
{
    const LineCycle cycle{std::size_t{10'000} * noisegen::line_bytes};
    std::map<std::ptrdiff_t, std::size_t> strides;
    const LineCycle::Line* at = cycle.begin();
    for (std::size_t i = 0; i < cycle.size(); ++i) {
        const LineCycle::Line* const next = LineCycle::follow(at, 1);
        ++strides[next - at];
        at = next;
    }
    const auto most = std::max_element(strides.begin(), strides.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    CHECK(most->second < cycle.size() / 100);
    // In a random order a few hundred of 10,000 steps go to one of the 200 nearest lines.
    const auto near =
        std::count_if(strides.begin(), strides.end(), [](const auto& stride) { return std::abs(stride.first) <= 100; });
    CHECK(near < 1000);
}

TEST_CASE("stressors of memory count what they do and keep steps small at a low rate")
{
    struct Counted {
        std::string stressor;
        std::uint64_t bytes_an_operation;
    };
    for (const Counted& counted : {Counted{"memory.random", 128}, Counted{"memory.chase", 64}}) {
        CAPTURE(counted.stressor);
        const auto stressor = make(counted.stressor, {{"bytes", "1MiB"}});
        stressor->begin({});
        const noisegen::Work most = stressor->step();
        CHECK(most.operations > 1000);
        CHECK(most.bytes == most.operations * counted.bytes_an_operation);
        stressor->begin({.deadline_ns = 0, .bytes_per_s = 0.0, .operations_per_s = 160'000.0});
        CHECK(stressor->step().operations == 160);
        const auto bytes_per_s = static_cast<double>(counted.bytes_an_operation) * 320'000.0;
        stressor->begin({.deadline_ns = 0, .bytes_per_s = bytes_per_s, .operations_per_s = 0.0});
        CHECK(stressor->step().operations == 320);
    }
}

TEST_CASE("the share of the cache is divided over the CPUs that share it")
{
    const testing::Environment alone{{}};
    const auto& card = noisegen::stressors().find("cache.llc");
    const auto settings = noisegen::stressors().settings(card, {{"footprint", "50%"}});
    const noisegen::Cache cache = noisegen::last_level_cache(0);
    const auto bytes = [&](std::size_t sharers) {
        return std::to_string(cache.size.count / 2 / static_cast<std::int64_t>(sharers) / 64 * 64) + " bytes a CPU";
    };
    const auto noted = [](noisegen::Stressor& stressor) {
        stressor.begin({});
        CHECK(stressor.step().operations > 0);
        return stressor.note();
    };
    const auto shared = card.share(settings, {});
    const auto first = card.make(settings, one_of_two(0, shared.get()));
    CHECK(noted(*first).starts_with(bytes(1)));
    const auto second = card.make(settings, one_of_two(1, shared.get()));
    CHECK(noted(*first).starts_with(bytes(2)));
    CHECK(noted(*second).starts_with(bytes(2)));
    CHECK(card.needs(settings).memory.count == cache.size.count / 2);
}

TEST_CASE("the share of the cache is divided over the processes that share it")
{
    const std::string processes = std::to_string(std::max(1U, std::thread::hardware_concurrency()));  // one per CPU
    const testing::Environment job{{{"OMPI_COMM_WORLD_LOCAL_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", processes}}};
    const noisegen::Cache cache = noisegen::last_level_cache(0);
    const auto stressor = make("cache.llc", {{"footprint", "50%"}});
    stressor->begin({});
    const auto sharers = static_cast<std::int64_t>(cache.cpus.size());
    CHECK(std::stoll(stressor->note()) == cache.size.count / 2 / sharers / 64 * 64);
}

TEST_CASE("a share of the cache is passed over line by line and again")
{
    const auto stressor = make("cache.llc", {{"footprint", "1%"}});
    stressor->begin({});
    const std::string note = stressor->note();
    const std::uint64_t lines = std::stoull(note) / 64;
    REQUIRE(lines > 0);
    std::uint64_t done = 0;
    while (done < lines) done += stressor->step().operations;
    CHECK(done == lines);  // a step does not go beyond one pass
    CHECK(stressor->step().operations > 0);
}

TEST_CASE("a share of the cache that is none is refused")
{
    for (const std::string wrong : {"0%", "101%"}) {
        CAPTURE(wrong);
        const std::string reported =
            "cache.llc[footprint] must be more than 0% and at most 100% of the cache, not " + wrong;
        CHECK_THROWS_WITH_AS(make("cache.llc", {{"footprint", wrong}}), reported.c_str(), base::UsageError);
    }
}

TEST_CASE("a memory stressor counts the traffic of its formula")
{
    // With small arrays a step covers all of them: 1 MiB, divided among the arrays in whole pages.
    const std::map<std::string, std::uint64_t> traffic{
        {"triad", 1044480},                           // 24 bytes per item, three arrays of 85 pages
        {"add", 1044480},       {"copy", 1048576},    // 16 bytes, two arrays
        {"scale", 1048576},     {"update", 2097152},  // 16 bytes, one array, read and written
        {"write", 2097152},                           // lines are read before they are overwritten
        {"ntwrite", 1048576},                         // 8 bytes
        {"read", 1048576},      {"partial", 65536},   // a step covers a part, since these stores are slow
        {"pagewrite", 524288},                        // an eighth of 4 MiB; partial takes a sixty-fourth
        {"pageupdate", 524288},                       // an eighth, too
    };
    const auto& card = noisegen::stressors().find("memory.stream");
    REQUIRE(noisegen::stream_shapes().size() == traffic.size());
    for (const std::string& shape : noisegen::stream_shapes()) {
        CAPTURE(shape);
        const auto settings = noisegen::stressors().settings(card, {{"bytes", "1MiB"}, {"shape", shape}});
        const auto stressor = card.make(settings, {});
        stressor->begin({});
        CHECK(stressor->step().bytes == traffic.at(shape));
        CHECK(stressor->step().bytes == traffic.at(shape));
        CHECK(stressor->note().starts_with(shape + ": "));
    }
}

TEST_CASE("a memory stressor takes its memory beforehand, or while it stresses if that is soon enough")
{
    constexpr std::int64_t mib = 1 << 20;
    const auto& card = noisegen::stressors().find("memory.stream");
    const auto settings = noisegen::stressors().settings(card, {{"bytes", "48MiB"}});
    for (const bool at_once : {false, true}) {
        CAPTURE(at_once);
        noisegen::Place place;
        place.at_once = at_once;
        const std::int64_t before = testing::resident();
        const auto stressor = card.make(settings, place);
        CHECK((testing::resident() - before > 40 * mib) != at_once);
        stressor->begin({});
        std::int64_t preparing_ns = 0;
        for (std::uint64_t bytes = 0; bytes < 96 * mib;) {
            const noisegen::Work work = stressor->step();
            bytes += work.bytes;
            preparing_ns += work.preparing_ns;
        }
        CHECK((preparing_ns > 0) == at_once);  // does not count for any rate
        CHECK(stressor->step().preparing_ns == 0);
        CHECK(testing::resident() - before > 40 * mib);
    }
}

TEST_CASE("a slow memory stressor takes small steps")
{
    const auto& card = noisegen::stressors().find("memory.stream");
    const auto stressor = card.make(noisegen::stressors().settings(card, {{"bytes", "32MiB"}}), {});
    stressor->begin({.deadline_ns = 0, .bytes_per_s = 200e6, .operations_per_s = 0.0});
    CHECK(stressor->step().bytes <= 200'000);
    stressor->begin({.deadline_ns = 0, .bytes_per_s = 0.0, .operations_per_s = 0.0});
    CHECK(stressor->step().bytes > 200'000);
}
