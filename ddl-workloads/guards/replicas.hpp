// SPDX-License-Identifier: Apache-2.0
// Do ranks that ought to be equal have the same state? Each reports a checksum of each bucket of it; where those
// differ, ranks exchange the checksums of all tensors, and the one that is not as most are is known.
#pragma once

#include "ddl-workloads/guards/state_look.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddl {

// Buckets of the state that all ranks hold, in its order, each about as many bytes.
constexpr std::size_t replica_buckets = 8;

// Report of a rank to the others.
struct ReplicaNews {
    std::int64_t step = -1;  // before whose forward it looked; -1: at none yet
    std::array<std::uint32_t, replica_buckets> checksums = {};
};

struct Difference {
    std::uint64_t step = 0;
    int rank = -1;  // that is not as most are; -1: no state is that of most ranks
    std::size_t bucket = 0;
    std::size_t tensor = 0;  // its place in the state
    auto operator<=>(const Difference&) const = default;
};

// The value of more than half of them, if there is one.
std::optional<std::uint32_t> majority(std::span<const std::uint32_t> values);

// Differences of one tensor, whose checksum each rank has: none if all are equal.
std::vector<Difference> differences(std::span<const std::uint32_t> of_ranks, const Difference& where);

class ReplicaComparison {
 public:
    ReplicaComparison(ExchangeThread& exchanges, std::int64_t every) : exchanges_{exchanges}, every_{every} {}

    bool due(std::uint64_t step) const { return step % static_cast<std::uint64_t>(every_) == 0; }

    // This rank's report in that step.
    ReplicaNews look(std::uint64_t step, StateLook& look);

    // Collective, with the same news on all ranks: where ranks differ. None for a step that was heard of before.
    std::optional<std::vector<Difference>> receive(std::span<const ReplicaNews> all);

    std::int64_t compared() const { return compared_; }

 private:
    std::vector<Difference> locate(std::uint64_t step);

    ExchangeThread& exchanges_;
    std::int64_t every_;
    std::vector<std::size_t> tensors_;                              // that all ranks hold ..
    std::vector<std::size_t> buckets_;                              // .. and the bucket of each
    std::map<std::int64_t, std::vector<std::uint32_t>> checksums_;  // of those tensors, in steps not heard of yet
    std::int64_t heard_ = -1;
    std::int64_t compared_ = 0;
};

}  // namespace ddl
