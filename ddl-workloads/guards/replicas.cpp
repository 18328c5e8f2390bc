// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/guards/replicas.hpp"

#include "ddl-workloads/guards/guard.hpp"

#include <algorithm>

namespace ddl {

std::optional<std::uint32_t> majority(std::span<const std::uint32_t> values)
{
    if (values.empty()) return std::nullopt;
    std::vector<std::uint32_t> sorted{values.begin(), values.end()};
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    const auto count = static_cast<std::size_t>(std::count(values.begin(), values.end(), *middle));
    return 2 * count > values.size() ? std::optional{*middle} : std::nullopt;
}

std::vector<Difference> differences(std::span<const std::uint32_t> of_ranks, const Difference& where)
{
    const std::optional<std::uint32_t> most = majority(of_ranks);
    if (!most) return {where};
    std::vector<Difference> all;
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
        if (of_ranks[rank] == *most) continue;
        all.push_back(where);
        all.back().rank = static_cast<int>(rank);
    }
    return all;
}

ReplicaNews ReplicaComparison::look(std::uint64_t step, StateLook& look)
{
    const std::vector<StateTensor>& all = look.tensors();
    tensors_.clear();
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].owner == Owner::any) {
            tensors_.push_back(i);
            bytes += all[i].bytes.size();
        }
    buckets_.clear();
    std::size_t before = 0;
    std::vector<std::uint32_t> checksums;
    std::array<std::vector<std::uint32_t>, replica_buckets> of_buckets;
    for (const std::size_t i : tensors_) {
        buckets_.push_back(before * replica_buckets / std::max<std::size_t>(bytes, 1));
        before += all[i].bytes.size();
        checksums.push_back(look.checksums()[i]);
        of_buckets.at(buckets_.back()).push_back(checksums.back());
    }
    ReplicaNews news{.step = static_cast<std::int64_t>(step)};
    for (std::size_t bucket = 0; bucket < replica_buckets; ++bucket)
        news.checksums[bucket] = soft_errors::crc32c(std::as_bytes(std::span{of_buckets[bucket]}));
    checksums_[news.step] = std::move(checksums);
    return news;
}

std::optional<std::vector<Difference>> ReplicaComparison::receive(std::span<const ReplicaNews> all)
{
    if (all.empty() || all.front().step <= heard_) return std::nullopt;
    heard_ = all.front().step;
    ++compared_;
    const auto same = [&](const ReplicaNews& one) { return one.checksums == all.front().checksums; };
    std::vector<Difference> found;
    if (!std::all_of(all.begin(), all.end(), same)) found = locate(static_cast<std::uint64_t>(heard_));
    checksums_.erase(checksums_.begin(), checksums_.upper_bound(heard_));
    return found;
}

std::vector<Difference> ReplicaComparison::locate(std::uint64_t step)
{
    const std::vector<std::uint32_t>& mine = checksums_.at(static_cast<std::int64_t>(step));
    const auto ranks = static_cast<std::size_t>(exchanges_.size());
    std::vector<std::uint32_t> all(mine.size() * ranks);
    exchanges_.all_gather(std::as_bytes(std::span{mine}), std::as_writable_bytes(std::span{all})).get();
    std::vector<Difference> found;
    for (std::size_t i = 0; i < mine.size(); ++i) {
        std::vector<std::uint32_t> of_ranks;
        for (std::size_t rank = 0; rank < ranks; ++rank) of_ranks.push_back(all[rank * mine.size() + i]);
        for (const Difference& one :
             differences(of_ranks, {.step = step, .rank = -1, .bucket = buckets_[i], .tensor = tensors_[i]}))
            found.push_back(one);
    }
    return found;
}

namespace {

class Nothing : public Guard {};

}  // namespace

extern const GuardCard replicas_guard{
    .name = "replicas",
    .summary = "before forward: replicated tensors that differ between ranks (--replicas-every)",
    .options = {},
    .looks_at = LooksAt::ranks,
    .make = [](const base::Settings&) -> std::unique_ptr<Guard> { return std::make_unique<Nothing>(); },
};

}  // namespace ddl
