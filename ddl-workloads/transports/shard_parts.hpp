// SPDX-License-Identifier: Apache-2.0
// Division of a bucket's gradients among ranks, for models where each rank needs only the mean of its own shard.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace ddl {

// The `length` numbers of a bucket from index `begin` on belong to the shard of rank `shard`. Parts do not overlap.
struct ShardPart {
    int shard = 0;
    std::size_t begin = 0;
    std::size_t length = 0;
    bool operator==(const ShardPart&) const = default;
};

// Number of values in each shard.
inline std::vector<int> shard_lengths(std::span<const ShardPart> parts, int shards)
{
    std::vector<int> lengths(static_cast<std::size_t>(shards));
    for (const ShardPart& part : parts) lengths[static_cast<std::size_t>(part.shard)] += static_cast<int>(part.length);
    return lengths;
}

// Packs the parts, which cover the whole bucket, into `packed`, one shard after the other, applying `change` to each
// number.
template <class Value, class Change>
void pack(std::span<const float> bucket, std::span<const ShardPart> parts, int shards, std::vector<Value>& packed,
          Change change)
{
    packed.resize(bucket.size());
    auto place = packed.begin();
    for (int shard = 0; shard < shards; ++shard)
        for (const ShardPart& part : parts) {
            if (part.shard != shard) continue;
            const std::span<const float> numbers = bucket.subspan(part.begin, part.length);
            place = std::transform(numbers.begin(), numbers.end(), place, change);
        }
}

// Inverse of pack() for one shard, whose numbers begin at `packed`; the other parts of the bucket are left unchanged.
template <class Value, class Change>
void unpack(const Value* packed, std::span<const ShardPart> parts, int shard, std::span<float> bucket, Change change)
{
    for (const ShardPart& part : parts) {
        if (part.shard != shard) continue;
        std::transform(packed, packed + part.length, bucket.begin() + static_cast<std::ptrdiff_t>(part.begin), change);
        packed += part.length;
    }
}

}  // namespace ddl
