// SPDX-License-Identifier: Apache-2.0
// Where a tensor that some rank found unsound comes from again.
#pragma once

#include "ddl-workloads/guards/state_look.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace ddl {

// Report of a rank on a tensor.
struct TensorState {
    std::uint32_t checksum = 0;
    std::uint32_t suspect = 0;  // 1: a guard of its own found it unsound
};

// The first rank whose tensor equals that of more than half of the unsuspected ranks; none if there is no majority.
std::optional<int> sound_rank(std::span<const TensorState> of_ranks);

struct Repaired {
    std::map<std::size_t, std::optional<int>> from;  // of each tensor that is wrong somewhere; none: from no rank
    std::int64_t changed = 0;                        // tensors of this rank
};

// Collective. `suspects`: tensors that guards of this rank found unsound. `ranks_differ`: those count, too, that differ
// between ranks which ought to be equal. Tensors of which each rank has its own are not looked at.
Repaired repair_from_ranks(StateLook& look, const std::set<std::size_t>& suspects, bool ranks_differ,
                           ExchangeThread& exchanges);

}  // namespace ddl
