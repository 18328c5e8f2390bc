// SPDX-License-Identifier: Apache-2.0
// Copies a tensor that some rank found unsound from a rank where it is sound.
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

// Each rank's report on a tensor.
struct TensorState {
    std::uint32_t checksum = 0;
    std::uint32_t suspect = 0;  // 1: a guard of this rank found it unsound
};

// The first rank whose tensor equals that of more than half of the unsuspected ranks; none without a majority.
std::optional<int> sound_rank(std::span<const TensorState> of_ranks);

struct Repaired {
    std::map<std::size_t, std::optional<int>> from;  // by tensor that is wrong on some rank; none: no sound rank
    std::int64_t changed = 0;                        // tensors changed on this rank
};

// Collective. `suspects` are the tensors that guards of this rank found unsound. `ranks_differ`: also repair tensors
// that differ between ranks although they should be equal. Tensors that each rank has on its own are skipped.
Repaired repair_from_ranks(StateLook& look, const std::set<std::size_t>& suspects, bool ranks_differ,
                           ExchangeThread& exchanges);

}  // namespace ddl
