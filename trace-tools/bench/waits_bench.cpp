// SPDX-License-Identifier: Apache-2.0
// CPU time of wait states, phases, POP's efficiencies and the critical path, compared with the least that OTF2's own
// global reader needs, measured in pairs; and their peak memory. The archives are generated, so their waits are known.
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "testing/paired.hpp"
#include "testing/process_cost.hpp"
#include "testing/testing.hpp"
#include "trace-tools/bench/bare_reader.hpp"
#include "trace-tools/bench/training_archive.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/replay/mpi_replay.hpp"
#include "trace-tools/replay/pop.hpp"

#include <benchmark/benchmark.h>

#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr std::size_t pairs = 11;

using bench::Shape, bench::Rank, bench::train, bench::write_archive, bench::steps_of, bench::events_of_a_step,
    bench::enters_and_leaves_of_a_step;

struct Found {
    std::uint64_t waited_ns = 0;
    std::uint64_t phases_ns = 0;
    double efficiency = 0.0;
    std::int64_t path_ns = 0;
};

Found replayed(const std::filesystem::path& anchor, bool critical_path)
{
    Found found;
    otf2::Reader reader{anchor};
    replay::MpiReplay replay{
        reader,
        {.critical_path = critical_path,
         .phases = [&](const replay::PhaseTime& phase) { found.phases_ns += static_cast<std::uint64_t>(phase.ns); }},
        [&](const replay::WaitKey& key, const replay::WaitSum& sum) {
            if (key.pattern == replay::Pattern::wait_nxn) found.waited_ns += static_cast<std::uint64_t>(sum.ns);
        }};
    reader.read(replay);
    replay.finish();
    found.efficiency = replay::efficiencies(replay.times()).value().parallel();
    if (critical_path)
        for (const auto& [key, ns] : replay.critical_path().ns) found.path_ns += ns;
    return found;
}

// CPU time, because everything measured runs in one thread, and other processes affect CPU time least.
template <class Work>
double ns_per_event(const Shape& shape, const Work& work)
{
    const std::int64_t begin_ns = base::thread_cpu_ns();
    work();
    const auto ns = static_cast<double>(base::thread_cpu_ns() - begin_ns);
    return ns / static_cast<double>(steps_of(shape) * shape.ranks * events_of_a_step);
}

void print(const std::string& what, const testing::Paired& cost, double aim)
{
    std::cout << what << "\n  ours, ns/event      " << cost.first.text() << "\n  bare OTF2, ns/event "
              << cost.second.text() << "\n  ratio of the pairs  " << cost.ratio.text() << ", aim " << aim << std::endl;
}

}  // namespace

int main()
try {
    const testing::Scratch scratch;
    const auto directory = [&](const Shape& shape) {
        return scratch / base::join(shape.ranks, "x", shape.events, "x", shape.chunk_bytes);
    };
    const auto anchor = [&](const Shape& shape) {
        if (!std::filesystem::exists(directory(shape)))
            testing::peak_mb([&] { write_archive(directory(shape), shape); });
        return directory(shape) / base::file::anchor;
    };
    constexpr Shape few{.ranks = 2, .events = 10'000'000};
    constexpr Shape fewer_events{.ranks = 2, .events = 1'000'000};
    constexpr Shape some{.ranks = 64, .events = 4'000'000};
    constexpr Shape many{.ranks = 1024, .events = 4'000'000};
    constexpr Shape many_small_chunks{.ranks = 1024, .events = 4'000'000, .chunk_bytes = 256 << 10};

    for (const Shape& shape : {fewer_events, few, some, many_small_chunks, many}) {
        const std::filesystem::path archive = anchor(shape);
        std::cout << shape.ranks << " ranks, " << shape.events << " events, chunks of " << (shape.chunk_bytes >> 10)
                  << " KiB: peak memory of wait states, phases and POP "
                  << testing::peak_mb([&] { replayed(archive, false); }) << " MB, with the critical path "
                  << testing::peak_mb([&] { replayed(archive, true); }) << " MB" << std::endl;
    }
    for (const Shape& shape : {few, some, many}) {
        const std::filesystem::path archive = anchor(shape);
        std::vector<Rank> ranks(shape.ranks);
        const std::uint64_t waited_ns = train(shape, ranks);
        const auto waits = [&](bool critical_path) {
            return [&, critical_path] {
                return ns_per_event(shape, [&] {
                    const Found found = replayed(archive, critical_path);
                    if (found.waited_ns != waited_ns)
                        base::fail("found ", found.waited_ns, " ns of waiting, not ", waited_ns);
                });
            };
        };
        const auto bare = [&] {
            return ns_per_event(shape, [&] {
                const std::uint64_t count = bench::BareReader{archive}.count_in_order_of_time();
                if (count != steps_of(shape) * shape.ranks * enters_and_leaves_of_a_step)
                    base::fail("only ", count, " events were read");
            });
        };
        const std::string of = base::join(" of ", shape.ranks, " ranks");
        print("wait states, phases and POP" + of, testing::measure_in_pairs(pairs, waits(false), bare), 3.0);
        print("the same and the critical path" + of, testing::measure_in_pairs(pairs, waits(true), bare), 5.0);
    }
    return base::exit_fine;
} catch (...) {
    return base::report_failure("waits-bench");
}
