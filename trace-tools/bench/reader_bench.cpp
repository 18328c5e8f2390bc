// SPDX-License-Identifier: Apache-2.0
// Cost of reading compared with the least that OTF2's own reader needs, measured in pairs: time per event on archives
// of 2, 64 and 1,024 locations, the gain from a second thread, and peak memory.
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "testing/paired.hpp"
#include "testing/process_cost.hpp"
#include "testing/testing.hpp"
#include "trace-tools/bench/bare_reader.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/profile/profile.hpp"

#include <benchmark/benchmark.h>

#include <deque>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t pairs = 11;

struct Shape {
    int locations;
    int visits;  // visits on each location
    double events() const { return 2.0 * locations * visits; }
};

void write_archive(const std::filesystem::path& directory, const Shape& shape)
{
    otf2::Recorder recorder{directory};
    const otf2::RegionRef region = recorder.region("work");
    for (int number = 0; number < shape.locations; ++number) {
        otf2::LocationRecorder& location = recorder.location(std::to_string(number));
        for (int i = 0; i < shape.visits; ++i) {
            location.enter(region, 1'000'000 + 200 * i);
            location.leave(region, 1'000'100 + 200 * i);
        }
    }
    recorder.finish();
}

struct Counting : otf2::Visitor {
    void enter(const otf2::At&, std::uint32_t, const otf2::EventAttributes&) override { ++count; }
    void leave(const otf2::At&, std::uint32_t, const otf2::EventAttributes&) override { ++count; }
    std::uint64_t count = 0;
};

template <class Work>
double ns_per_event(const Shape& shape, const Work& work)
{
    const std::int64_t begin_ns = base::now_ns();
    const auto count = static_cast<double>(work());
    const double ns = static_cast<double>(base::now_ns() - begin_ns) / shape.events();
    if (count < shape.events()) base::fail("only ", count, " events were read");
    return ns;
}

std::uint64_t in_order(const std::filesystem::path& anchor)
{
    otf2::Reader reader{anchor};
    Counting counting;
    reader.read(counting);
    return counting.count;
}

std::uint64_t by_location(const std::filesystem::path& anchor)
{
    otf2::Reader reader{anchor};
    Counting counting;
    reader.read_by_location(counting);
    return counting.count;
}

std::uint64_t profile(const std::filesystem::path& anchor, std::size_t threads)
{
    otf2::Reader reader{anchor};
    std::deque<otf2::Profile> parts;
    std::vector<otf2::Visitor*> visitors;
    for (std::size_t i = 0; i < threads; ++i) visitors.push_back(&parts.emplace_back(reader.archive()));
    reader.read_by_location(visitors);
    std::uint64_t visits = 0;
    for (otf2::Profile& part : parts) {
        part.finish();
        visits += part.regions().front().visits;
    }
    return 2 * visits;
}

// Speed of the machine in arithmetic that is divided among threads.
double seconds_of_arithmetic(std::uint64_t threads)
{
    constexpr std::uint64_t rounds = 300'000'000;
    const std::int64_t begin_ns = base::now_ns();
    {
        std::vector<std::jthread> team;
        for (std::uint64_t i = 0; i < threads; ++i)
            team.emplace_back([rounds = rounds / threads] {
                std::uint64_t number = 1;
                for (std::uint64_t round = 0; round < rounds; ++round)
                    benchmark::DoNotOptimize(number = number * 6364136223846793005U + round);
            });
    }
    return static_cast<double>(base::now_ns() - begin_ns) / 1e9;
}

void print(const std::string& what, const testing::Paired& cost)
{
    std::cout << what << "\n  ours, ns/event      " << cost.first.text() << " (" << 1e3 / cost.first.value
              << " million events/s)\n  bare OTF2, ns/event " << cost.second.text() << "\n  ratio of the pairs  "
              << cost.ratio.text() << std::endl;
}

}  // namespace

int main()
try {
    const testing::Scratch scratch;
    const auto anchor = [&](const Shape& shape) {
        const std::filesystem::path directory = scratch / base::join(shape.locations, "x", shape.visits);
        if (!std::filesystem::exists(directory)) testing::peak_mb([&] { write_archive(directory, shape); });
        return directory / base::file::anchor;
    };
    constexpr Shape few{.locations = 2, .visits = 2'500'000};
    constexpr Shape fewer_events{.locations = 2, .visits = 250'000};
    constexpr Shape some{.locations = 64, .visits = 32'000};
    constexpr Shape many{.locations = 1024, .visits = 2'000};

    for (const Shape& shape : {fewer_events, few, some, many}) {
        const std::filesystem::path archive = anchor(shape);
        std::cout << shape.locations << " locations, " << shape.events() << " events: peak memory of the profile "
                  << testing::peak_mb([&] { profile(archive, 1); }) << " MB, by two threads "
                  << testing::peak_mb([&] { profile(archive, 2); }) << " MB, of all events in the order of time "
                  << testing::peak_mb([&] { in_order(archive); }) << " MB" << std::endl;
    }
    const auto cost = [](const Shape& shape, const auto& work) { return [&] { return ns_per_event(shape, work); }; };
    const std::filesystem::path archive = anchor(few);
    const auto ours_in_order = [&] { return in_order(archive); };
    const auto ours_by_location = [&] { return by_location(archive); };
    const auto bare_in_order = [&] { return bench::BareReader{archive}.count_in_order_of_time(); };
    const auto bare_by_location = [&] { return bench::BareReader{archive}.count_by_location(); };
    const auto of_one_thread = [&] { return profile(archive, 1); };
    const auto of_two_threads = [&] { return profile(archive, 2); };
    print("in the order of time", testing::measure_in_pairs(pairs, cost(few, ours_in_order), cost(few, bare_in_order)));
    print("location by location",
          testing::measure_in_pairs(pairs, cost(few, ours_by_location), cost(few, bare_by_location)));
    print("profile of the regions",
          testing::measure_in_pairs(pairs, cost(few, of_one_thread), cost(few, bare_by_location)));
    const testing::Paired threads =
        testing::measure_in_pairs(pairs, cost(few, of_one_thread), cost(few, of_two_threads));
    const testing::Paired machine = testing::measure_in_pairs(
        pairs, [] { return seconds_of_arithmetic(1); }, [] { return seconds_of_arithmetic(2); });
    std::cout << "profile by two threads: " << threads.ratio.text() << " times as fast as by one; plain arithmetic "
              << machine.ratio.text() << " times" << std::endl;
    for (const Shape& shape : {some, many}) {
        const std::filesystem::path wide = anchor(shape);
        const auto ours = [&] { return profile(wide, 1); };
        const auto bare = [&] { return bench::BareReader{wide}.count_by_location(); };
        print(base::join("profile of ", shape.locations, " locations"),
              testing::measure_in_pairs(pairs, cost(shape, ours), cost(shape, bare)));
    }
    return base::exit_fine;
} catch (...) {
    return base::report_failure("reader-bench");
}
