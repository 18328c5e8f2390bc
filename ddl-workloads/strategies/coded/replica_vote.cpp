// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/replica_vote.hpp"

#include "soft-errors/state/checksums.hpp"

#include <algorithm>
#include <cstdint>

namespace ddl {

Vote vote(std::span<const StateTensor> replicas, ExchangeThread& exchanges)
{
    std::vector<std::uint32_t> mine;
    for (const StateTensor& tensor : replicas) mine.push_back(soft_errors::crc32c(tensor.bytes));
    const std::uint32_t sum = soft_errors::crc32c(std::as_bytes(std::span{mine}));
    std::vector<std::uint32_t> sums(static_cast<std::size_t>(exchanges.size()));
    exchanges.all_gather(std::as_bytes(std::span{&sum, 1}), std::as_writable_bytes(std::span{sums})).get();

    const auto votes = [&](std::uint32_t one) { return std::ranges::count(sums, one); };
    const auto most = std::ranges::max_element(sums, {}, votes);
    if (votes(*most) == std::ssize(sums)) return {};
    if (2 * votes(*most) <= std::ssize(sums)) return {.decided = false};
    Vote result;
    for (int rank = 0; rank < exchanges.size(); ++rank)
        if (sums[static_cast<std::size_t>(rank)] != *most) result.outvoted.push_back(rank);
    const auto root = static_cast<int>(most - sums.begin());
    for (const StateTensor& tensor : replicas) exchanges.broadcast(tensor.bytes, root).get();
    return result;
}

}  // namespace ddl
