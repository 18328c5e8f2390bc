// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/fusion.hpp"

#include <algorithm>
#include <utility>

namespace ddl {

std::vector<FusedRange> fusion_plan(std::span<const std::int64_t> bytes, std::int64_t threshold)
{
    std::vector<FusedRange> plan;
    std::int64_t fused = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (plan.empty() || fused + bytes[i] > threshold) {
            plan.push_back({.begin = i, .end = i});
            fused = 0;
        }
        plan.back().end = i + 1;
        fused += bytes[i];
    }
    return plan;
}

FusedAverage::FusedAverage(std::int64_t threshold, std::int64_t alone, ExchangeThread& exchanges,
                           Instruments& instruments)
    : threshold_{threshold},
      alone_{alone},
      exchanges_{exchanges},
      instruments_{instruments},
      copy_in_{instruments.recorder().region("fusion_copy_in")},
      copy_out_{instruments.recorder().region("fusion_copy_out")}
{
}

void FusedAverage::average(Transport& transport, std::vector<std::span<float>> gradients, std::uint64_t step)
{
    const auto bytes_of = [](std::span<float> gradient) { return static_cast<std::int64_t>(gradient.size_bytes()); };
    const auto small = std::stable_partition(gradients.begin(), gradients.end(),
                                             [&](std::span<float> gradient) { return bytes_of(gradient) > alone_; });
    for (auto large = gradients.begin(); large != small; ++large) exchange(transport, {&*large, 1}, step);

    const Parts parts{small, gradients.end()};
    std::vector<std::int64_t> bytes;
    for (const std::span<float> part : parts) bytes.push_back(bytes_of(part));
    for (const FusedRange& range : fusion_plan(bytes, threshold_))
        exchange(transport, parts.subspan(range.begin, range.end - range.begin), step);
}

void FusedAverage::exchange(Transport& transport, Parts parts, std::uint64_t step)
{
    if (std::exchange(step_, step) != step) exchanged_ = 0;
    const BucketTag tag{step, exchanged_++};
    if (parts.size() == 1) return exchanges_.average_now(transport, parts.front(), tag);
    copy_in(parts);
    exchanges_.average_now(transport, buffer_, tag);
    copy_out(parts);
}

void FusedAverage::copy_in(Parts parts)
{
    const otf2::Scope scope{instruments_.transport_thread(), copy_in_};
    std::size_t size = 0;
    for (const std::span<float> part : parts) size += part.size();
    buffer_.clear();
    buffer_.reserve(size);
    for (const std::span<float> part : parts) buffer_.insert(buffer_.end(), part.begin(), part.end());
}

void FusedAverage::copy_out(Parts parts)
{
    const otf2::Scope scope{instruments_.transport_thread(), copy_out_};
    auto from = buffer_.cbegin();
    for (const std::span<float> part : parts) {
        const auto size = static_cast<std::ptrdiff_t>(part.size());
        std::copy(from, from + size, part.begin());
        from += size;
    }
}

}  // namespace ddl
