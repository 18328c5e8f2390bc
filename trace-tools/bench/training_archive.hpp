// SPDX-License-Identifier: Apache-2.0
// Archives of a training made up for benchmarks, whose waiting is known.
#pragma once

#include "testing/archives/raw_archive.hpp"

#include <otf2/otf2.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct Shape {
    std::uint32_t ranks = 2;
    std::uint64_t events = 0;  // approximate number, over all ranks
    std::uint64_t chunk_bytes = 1 << 20;
    bool numbered = true;  // its steps have an attribute `step`
};

enum Region : OTF2_RegionRef { step, load, forward, backward, update, allreduce, isend, receive, wait };

// Events of each rank in each step: load, forward, an allreduce, backward, an allreduce, a message to the next rank,
// update.
constexpr std::uint64_t events_of_a_step = 27;
constexpr std::uint64_t enters_and_leaves_of_a_step = 20;

struct Rank {
    OTF2_EvtWriter* writer = nullptr;  // null: nothing is written, only waiting times are computed
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
        if (attributes != nullptr) OTF2_AttributeList_AddUint64(attributes, 0, number);
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

inline std::uint64_t length(std::uint64_t rank, std::uint64_t number, std::uint64_t phase)
{
    return 10'000 + (rank * 7919 + number * 104'729 + phase * 1'299'709) % 4001;
}

// An allreduce of all ranks, which ends on all of them 5 us after the last rank arrived. Returns the sum of their
// waits.
inline std::uint64_t reduce(std::vector<Rank>& ranks)
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

// Every rank sends to the next rank, then receives. Called right after an allreduce, when no rank has to wait.
inline void pass_on(std::vector<Rank>& ranks, std::uint64_t number)
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

inline std::uint64_t steps_of(const Shape& shape)
{
    return shape.events / shape.ranks / events_of_a_step;
}

// Returns the ns that all ranks together waited in allreduces.
inline std::uint64_t train(const Shape& shape, std::vector<Rank>& ranks)
{
    OTF2_AttributeList* attributes = shape.numbered ? OTF2_AttributeList_New() : nullptr;
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
    if (attributes != nullptr) OTF2_AttributeList_Delete(attributes);
    return waited_ns;
}

inline void write_archive(const std::filesystem::path& directory, const Shape& shape)
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
    if (shape.numbered) OTF2_GlobalDefWriter_WriteAttribute(definitions, 0, step_text, step_text, OTF2_TYPE_UINT64);
    const OTF2_StringRef world = archive.text("MPI_COMM_WORLD");
    OTF2_GlobalDefWriter_WriteGroup(definitions, 0, world, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, shape.ranks, members.data());
    OTF2_GlobalDefWriter_WriteGroup(definitions, 1, world, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, shape.ranks, members.data());
    OTF2_GlobalDefWriter_WriteComm(definitions, 0, world, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    archive.finish();
}

}  // namespace bench
