// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/replica_vote.hpp"

#include "ddl-workloads/models/dense_model.hpp"
#include "soft-errors/state/checksums.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace ddl {

namespace {

using Bytes = std::vector<std::byte>;

std::vector<double> gathered(double mine, ExchangeThread& exchanges)
{
    std::vector<double> all(static_cast<std::size_t>(exchanges.size()));
    exchanges.all_gather(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(std::span{all})).get();
    return all;
}

// Raises `size` to the largest magnitude of `theirs`, and returns the largest difference of the two. Not finite if a
// number is not, or whole numbers differ.
double difference(const StateTensor& tensor, const Bytes& theirs, double& size)
{
    const auto of_numbers = [&]<class Number>(Number) {
        double largest = 0.0;
        for (std::size_t at = 0; at < theirs.size(); at += sizeof(Number)) {
            Number one{};
            Number other{};
            std::memcpy(&one, tensor.bytes.data() + at, sizeof one);
            std::memcpy(&other, theirs.data() + at, sizeof other);
            const double apart = std::abs(static_cast<double>(one) - static_cast<double>(other));
            if (!std::isfinite(apart)) return std::numeric_limits<double>::infinity();
            largest = std::max(largest, apart);
            size = std::max(size, std::abs(static_cast<double>(other)));
        }
        return largest;
    };
    if (tensor.type == ElementType::float32) return of_numbers(float{});
    if (tensor.type == ElementType::float64) return of_numbers(double{});
    return std::ranges::equal(tensor.bytes, theirs) ? 0.0 : std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<StateTensor> replicas_of(Model& model)
{
    std::vector<StateTensor> all = model.state();
    DenseModel& dense = *model.with_dense_layers();
    std::vector<const void*> coded;
    for (const DenseLayer& layer : dense.dense_layers())
        if (dense.products()->keeps_weights()) coded.insert(coded.end(), {layer.weights.data(), layer.momentum.data()});
    std::erase_if(all, [&](const StateTensor& tensor) {
        return tensor.owner == Owner::each || std::ranges::find(coded, tensor.bytes.data()) != coded.end();
    });
    return all;
}

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

Adoption adopt(std::span<const StateTensor> replicas, double tolerance, ExchangeThread& exchanges)
{
    for (int root = 0; root < exchanges.size(); ++root) {
        std::vector<Bytes> theirs;
        double size = 0.0;
        double largest = 0.0;
        for (const StateTensor& tensor : replicas) {
            Bytes& bytes = theirs.emplace_back(tensor.bytes.begin(), tensor.bytes.end());
            exchanges.broadcast(bytes, root).get();
            largest = std::max(largest, difference(tensor, bytes, size));
        }
        const std::vector<double> apart = gathered(size > 0.0 ? largest / size : largest, exchanges);
        Adoption result;
        for (int rank = 0; rank < exchanges.size(); ++rank) {
            const double of_rank = apart[static_cast<std::size_t>(rank)];
            if (of_rank <= tolerance)
                result.drift = std::max(result.drift, of_rank);
            else
                result.outvoted.push_back(rank);
        }
        if (2 * std::ssize(result.outvoted) >= std::ssize(apart)) continue;
        for (std::size_t i = 0; i < replicas.size(); ++i) std::ranges::copy(theirs[i], replicas[i].bytes.begin());
        return result;
    }
    return {.decided = false};
}

double largest_of_ranks(double mine, ExchangeThread& exchanges)
{
    return std::ranges::max(gathered(mine, exchanges));
}

}  // namespace ddl
