// What wait states, phases and POP's efficiencies, and the critical path cost beside the least that OTF2's own global
// reader can do, in pairs of CPU time; and their peak memory. On archives of a training made up for it, whose waiting
// is known.
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"
#include "trace-tools/bench/bare_reader.hpp"
#include "trace-tools/bench/bench_process.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/replay/mpi_replay.hpp"
#include "trace-tools/replay/pop.hpp"

#include <benchmark/benchmark.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr std::size_t pairs = 11;

struct Shape {
    std::uint32_t ranks = 2;
    std::uint64_t events = 0;  // about so many, of all ranks
    std::uint64_t chunk_bytes = 1 << 20;
};

enum Region : OTF2_RegionRef { step, load, forward, backward, update, allreduce, isend, receive, wait };

// Of each rank in each step: load, forward, an allreduce, backward, an allreduce, a message to the next rank, update.
constexpr std::uint64_t events_of_a_step = 27;
constexpr std::uint64_t enters_and_leaves_of_a_step = 20;

struct Rank {
    OTF2_EvtWriter* writer = nullptr;  // none: only the truth is wanted
    std::uint64_t now = 1'000'000'000;

    void enter(Region region)
    {
        if (writer != nullptr) OTF2_EvtWriter_Enter(writer, nullptr, now, region);
    }
    void leave(Region region)
    {
        if (writer != nullptr) OTF2_EvtWriter_Leave(writer, nullptr, now, region);
    }
    void work(Region region, std::uint64_t ns)
    {
        enter(region);
        now += ns;
        leave(region);
    }
    void enter_step(OTF2_AttributeList* attributes, std::uint64_t number)
    {
        if (writer == nullptr) return;
        OTF2_AttributeList_AddUint64(attributes, 0, number);
        OTF2_EvtWriter_Enter(writer, attributes, now, step);
    }
    void reduce(std::uint64_t last_ns)
    {
        enter(allreduce);
        if (writer != nullptr) OTF2_EvtWriter_MpiCollectiveBegin(writer, nullptr, now);
        now = last_ns + 5'000;
        if (writer != nullptr)
            OTF2_EvtWriter_MpiCollectiveEnd(writer, nullptr, now, OTF2_COLLECTIVE_OP_ALLREDUCE, 0,
                                            OTF2_COLLECTIVE_ROOT_NONE, 4096, 4096);
        leave(allreduce);
    }
};

std::uint64_t length(std::uint64_t rank, std::uint64_t number, std::uint64_t phase)
{
    return 10'000 + (rank * 7919 + number * 104'729 + phase * 1'299'709) % 4001;
}

// All ranks come to an allreduce that ends on all of them 5 us after the last came. Returns how long they waited.
std::uint64_t reduce(std::vector<Rank>& ranks)
{
    std::uint64_t last_ns = 0;
    for (const Rank& rank : ranks) last_ns = std::max(last_ns, rank.now);
    std::uint64_t waited_ns = 0;
    for (Rank& rank : ranks) {
        waited_ns += last_ns - rank.now;
        rank.reduce(last_ns);
    }
    return waited_ns;
}

// Every rank sends to the next one, and then receives: after an allreduce no rank waits for that.
void pass_on(std::vector<Rank>& ranks, std::uint64_t number)
{
    for (std::uint32_t i = 0; i < ranks.size(); ++i) {
        Rank& rank = ranks[i];
        const auto size = static_cast<std::uint32_t>(ranks.size());
        rank.enter(isend);
        if (rank.writer != nullptr)
            OTF2_EvtWriter_MpiIsend(rank.writer, nullptr, rank.now, (i + 1) % size, 0, 1, 1024, number);
        rank.now += 1'000;
        rank.leave(isend);
        rank.enter(receive);
        rank.now += 3'000;
        if (rank.writer != nullptr)
            OTF2_EvtWriter_MpiRecv(rank.writer, nullptr, rank.now, (i + size - 1) % size, 0, 1, 1024);
        rank.leave(receive);
        rank.enter(wait);
        rank.now += 1'000;
        if (rank.writer != nullptr) OTF2_EvtWriter_MpiIsendComplete(rank.writer, nullptr, rank.now, number);
        rank.leave(wait);
    }
}

std::uint64_t steps_of(const Shape& shape)
{
    return shape.events / shape.ranks / events_of_a_step;
}

// Returns the ns that all ranks together waited in allreduces.
std::uint64_t train(const Shape& shape, std::vector<Rank>& ranks)
{
    OTF2_AttributeList* attributes = OTF2_AttributeList_New();
    std::uint64_t waited_ns = 0;
    for (std::uint64_t number = 0; number < steps_of(shape); ++number) {
        for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
            ranks[rank].enter_step(attributes, number);
            ranks[rank].work(load, length(rank, number, 0));
            ranks[rank].work(forward, length(rank, number, 1));
        }
        waited_ns += reduce(ranks);
        for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) ranks[rank].work(backward, length(rank, number, 2));
        waited_ns += reduce(ranks);
        pass_on(ranks, number);
        for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
            ranks[rank].work(update, length(rank, number, 3));
            ranks[rank].leave(step);
        }
    }
    OTF2_AttributeList_Delete(attributes);
    return waited_ns;
}

void write_archive(const std::filesystem::path& directory, const Shape& shape)
{
    otf2::RawArchive archive{directory, "traces", shape.chunk_bytes};
    std::vector<Rank> ranks(shape.ranks);
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) ranks[rank].writer = archive.events(rank);
    train(shape, ranks);
    archive.end_events();
    archive.clock(1'000'000'000, ranks.front().now - 1'000'000'000);
    archive.node(0, "node");
    std::vector<std::uint64_t> members;
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
        archive.process(rank, "MPI Rank " + std::to_string(rank), 0);
        archive.location(rank, "Master thread", rank);
        members.push_back(rank);
    }
    for (const auto& [region, name] :
         {std::pair{step, "step"}, {load, "load"}, {forward, "forward"}, {backward, "backward"}, {update, "update"}})
        archive.region(region, name);
    for (const auto& [region, name] :
         {std::pair{allreduce, "MPI_Allreduce"}, {isend, "MPI_Isend"}, {receive, "MPI_Recv"}, {wait, "MPI_Wait"}})
        archive.region(region, name, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI);
    OTF2_GlobalDefWriter* definitions = archive.definitions();
    const OTF2_StringRef step_text = archive.text("step");
    OTF2_GlobalDefWriter_WriteAttribute(definitions, 0, step_text, step_text, OTF2_TYPE_UINT64);
    const OTF2_StringRef world = archive.text("MPI_COMM_WORLD");
    OTF2_GlobalDefWriter_WriteGroup(definitions, 0, world, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, shape.ranks, members.data());
    OTF2_GlobalDefWriter_WriteGroup(definitions, 1, world, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, shape.ranks, members.data());
    OTF2_GlobalDefWriter_WriteComm(definitions, 0, world, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    archive.finish();
}

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

// CPU time, since all that is measured runs in one thread: other work on the machine lengthens it least.
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
        if (!std::filesystem::exists(directory(shape))) bench::peak_mb([&] { write_archive(directory(shape), shape); });
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
                  << bench::peak_mb([&] { replayed(archive, false); }) << " MB, with the critical path "
                  << bench::peak_mb([&] { replayed(archive, true); }) << " MB" << std::endl;
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
