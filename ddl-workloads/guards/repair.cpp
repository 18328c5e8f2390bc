// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/guards/repair.hpp"

#include "ddl-workloads/guards/replicas.hpp"

#include <algorithm>

namespace ddl {

namespace {

bool is_wrong(std::span<const TensorState> of_ranks, bool ranks_differ)
{
    const auto suspected = [](const TensorState& state) { return state.suspect != 0; };
    const auto other = [&](const TensorState& state) { return state.checksum != of_ranks.front().checksum; };
    return std::any_of(of_ranks.begin(), of_ranks.end(), suspected) ||
           (ranks_differ && std::any_of(of_ranks.begin(), of_ranks.end(), other));
}

}  // namespace

std::optional<int> sound_rank(std::span<const TensorState> of_ranks)
{
    std::vector<std::uint32_t> sound;
    for (const TensorState& state : of_ranks)
        if (state.suspect == 0) sound.push_back(state.checksum);
    const std::optional<std::uint32_t> most = majority(sound);
    if (!most) return std::nullopt;
    const auto has_it = [&](const TensorState& state) { return state.suspect == 0 && state.checksum == *most; };
    return static_cast<int>(std::find_if(of_ranks.begin(), of_ranks.end(), has_it) - of_ranks.begin());
}

Repaired repair_from_ranks(StateLook& look, const std::set<std::size_t>& suspects, bool ranks_differ,
                           ExchangeThread& exchanges)
{
    std::vector<std::size_t> shared;
    std::vector<TensorState> mine;
    for (std::size_t i = 0; i < look.tensors().size(); ++i) {
        if (look.tensors()[i].owner != Owner::any) continue;
        shared.push_back(i);
        mine.push_back({look.checksums()[i], suspects.contains(i) ? 1U : 0U});
    }
    const auto ranks = static_cast<std::size_t>(exchanges.size());
    std::vector<TensorState> all(mine.size() * ranks);
    exchanges.all_gather(std::as_bytes(std::span{mine}), std::as_writable_bytes(std::span{all})).get();

    Repaired repaired;
    for (std::size_t i = 0; i < shared.size(); ++i) {
        std::vector<TensorState> of_ranks;
        for (std::size_t rank = 0; rank < ranks; ++rank) of_ranks.push_back(all[rank * mine.size() + i]);
        if (!is_wrong(of_ranks, ranks_differ)) continue;
        const std::optional<int> from = sound_rank(of_ranks);
        repaired.from[shared[i]] = from;
        if (!from) continue;
        exchanges.broadcast(look.tensors()[shared[i]].bytes, *from).get();
        if (of_ranks[static_cast<std::size_t>(*from)].checksum != mine[i].checksum) ++repaired.changed;
    }
    look.changed();
    return repaired;
}

}  // namespace ddl
