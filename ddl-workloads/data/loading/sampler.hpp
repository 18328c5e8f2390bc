// SPDX-License-Identifier: Apache-2.0
// Which records a rank reads in which step: a new order every epoch, the same on all ranks, dealt out to them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace ddl {

struct Sampling {
    std::int64_t batch = 8;  // samples of one rank and step
    int rank = 0;
    int ranks = 1;
    std::uint64_t seed = 1;
    bool shuffle = true;
    std::int64_t first_step = 0;  // steps of an earlier run, from which batch() counts
};

class EpochOrders;

// All ranks have the same number of steps: the incomplete global batch at the end of an epoch is left out (another one
// each epoch, since the order is new). Copies share the orders: 4 bytes a record for each epoch that one of them is in
// (2 GiB of CIFAR-10 take 2.8 MB).
class Sampler {
 public:
    // Throws UsageError if a global batch (ranks x batch) has no room in the records, or the numbers make no sense.
    Sampler(std::int64_t records, const Sampling& sampling);

    const Sampling& sampling() const { return sampling_; }
    std::int64_t steps_per_epoch() const { return steps_per_epoch_; }

    // Record numbers of this rank's batch in a step, counted over all epochs from first_step on. Copies may be asked by
    // several threads at once.
    std::vector<std::int64_t> batch(std::int64_t step);

 private:
    Sampling sampling_;
    std::int64_t steps_per_epoch_ = 0;
    std::shared_ptr<EpochOrders> orders_;
    std::int64_t epoch_ = -1;                                  // of the order
    std::shared_ptr<const std::vector<std::uint32_t>> order_;  // all records; none without shuffling
};

}  // namespace ddl
