// SPDX-License-Identifier: Apache-2.0
// Many small gradients averaged in few exchanges: copied into one buffer, averaged there, copied back. Large ones are
// averaged where they are.
#pragma once

#include "ddl-workloads/instruments/instruments.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ddl {

// Which tensors are exchanged together: as many as fit into `threshold` bytes, in their order; one that is larger goes
// alone. (Horovod also looks beyond one that does not fit if it is of another type; here all are floats.) Each part is
// a range of indices [begin, end).
struct FusedRange {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool operator==(const FusedRange&) const = default;
};
std::vector<FusedRange> fusion_plan(std::span<const std::int64_t> bytes, std::int64_t threshold);

// Used by the transport thread. Copies are regions of the trace.
class FusedAverage {
 public:
    // Tensors above `alone` bytes are not copied.
    FusedAverage(std::int64_t threshold, std::int64_t alone, ExchangeThread& exchanges, Instruments& instruments);

    // Collective: the mean over all ranks of each, in place. Exchanges of a step count as its buckets.
    void average(Transport& transport, std::vector<std::span<float>> gradients, std::uint64_t step);

 private:
    using Parts = std::span<const std::span<float>>;
    void exchange(Transport& transport, Parts parts, std::uint64_t step);
    void copy_in(Parts parts);
    void copy_out(Parts parts);

    std::int64_t threshold_;
    std::int64_t alone_;
    ExchangeThread& exchanges_;
    Instruments& instruments_;
    std::vector<float> buffer_;
    std::uint64_t step_ = UINT64_MAX;
    std::uint64_t exchanged_ = 0;  // of that step
    otf2::RegionRef copy_in_;
    otf2::RegionRef copy_out_;
};

}  // namespace ddl
