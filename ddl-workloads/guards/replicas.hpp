// SPDX-License-Identifier: Apache-2.0
// Checks that ranks which should be equal have the same state. Each rank reports a checksum for each bucket of its
// state; if these differ, ranks exchange the checksums of all tensors to find the rank that differs from the majority.
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

// The state that all ranks hold is divided, in order, into this many buckets of about the same size.
constexpr std::size_t replica_buckets = 8;

// Each rank's report to all other ranks.
struct ReplicaNews {
    std::int64_t step = -1;  // the step before whose forward the rank looked; -1: none yet
    std::array<std::uint32_t, replica_buckets> checksums = {};
};

struct Difference {
    std::uint64_t step = 0;
    int rank = -1;  // rank that differs from the majority; -1: no majority
    std::size_t bucket = 0;
    std::size_t tensor = 0;  // index in the state
    auto operator<=>(const Difference&) const = default;
};

// The value that more than half of the ranks have, if any.
std::optional<std::uint32_t> majority(std::span<const std::uint32_t> values);

// Differences of one tensor, given its checksum on each rank: none if all are equal.
std::vector<Difference> differences(std::span<const std::uint32_t> of_ranks, const Difference& where);

class ReplicaComparison {
 public:
    ReplicaComparison(ExchangeThread& exchanges, std::int64_t every) : exchanges_{exchanges}, every_{every} {}

    bool due(std::uint64_t step) const { return step % static_cast<std::uint64_t>(every_) == 0; }

    // This rank's report in that step.
    ReplicaNews look(std::uint64_t step, StateLook& look);

    // Collective, with the same reports on all ranks. Returns the differences between ranks; none if the step was
    // already compared.
    std::optional<std::vector<Difference>> receive(std::span<const ReplicaNews> all);

    std::int64_t compared() const { return compared_; }

 private:
    std::vector<Difference> locate(std::uint64_t step);

    ExchangeThread& exchanges_;
    std::int64_t every_;
    std::vector<std::size_t> tensors_;                              // tensors that all ranks hold
    std::vector<std::size_t> buckets_;                              // bucket of each tensor in tensors_
    std::map<std::int64_t, std::vector<std::uint32_t>> checksums_;  // by step: those of tensors_, until compared
    std::int64_t heard_ = -1;
    std::int64_t compared_ = 0;
};

}  // namespace ddl
