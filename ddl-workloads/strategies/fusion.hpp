// SPDX-License-Identifier: Apache-2.0
// Averages many small gradients in few exchanges: copied into one buffer, averaged there, copied back. Large gradients
// are averaged in place.
#pragma once

#include "ddl-workloads/instruments/instruments.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ddl {

// Decides which tensors are exchanged together: consecutive tensors as long as they fit into `threshold` bytes; a
// larger one is exchanged alone. (Horovod also skips tensors of another type to fill a buffer; here all are floats.)
// Each range of indices is [begin, end).
struct FusedRange {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool operator==(const FusedRange&) const = default;
};
std::vector<FusedRange> fusion_plan(std::span<const std::int64_t> bytes, std::int64_t threshold);

// Used by the transport thread. Copies are recorded as regions in the trace.
class FusedAverage {
 public:
    // Tensors larger than `alone` bytes are not copied.
    FusedAverage(std::int64_t threshold, std::int64_t alone, ExchangeThread& exchanges, Instruments& instruments);

    // Collective: averages each gradient over all ranks, in place. Exchanges are numbered within the step, as buckets
    // are.
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
    std::uint64_t exchanged_ = 0;  // exchanges of step_ so far
    otf2::RegionRef copy_in_;
    otf2::RegionRef copy_out_;
};

}  // namespace ddl
