// SPDX-License-Identifier: Apache-2.0
// Decides which records a rank reads in which step: every epoch has a new random order, the same on all ranks, which is
// divided among them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace ddl {

struct Sampling {
    std::int64_t batch = 8;  // samples per rank and step
    int rank = 0;
    int ranks = 1;
    std::uint64_t seed = 1;
    bool shuffle = true;
    std::int64_t first_step = 0;  // steps done by an earlier run; batch() counts from there
};

class EpochOrders;

// All ranks have the same number of steps: records that do not fill a global batch at the end of an epoch are skipped
// (different ones in each epoch, as the order is random). Copies share the orders, which take 4 bytes a record for each
// epoch in use (2.8 MB for 2 GiB of CIFAR-10).
class Sampler {
 public:
    // Throws UsageError if a global batch (ranks x batch) is larger than the number of records, or a number is invalid.
    Sampler(std::int64_t records, const Sampling& sampling);

    const Sampling& sampling() const { return sampling_; }
    std::int64_t steps_per_epoch() const { return steps_per_epoch_; }

    // Record numbers of this rank's batch in a step; steps are counted over all epochs from first_step on. Several
    // threads may call this at the same time on their own copies.
    std::vector<std::int64_t> batch(std::int64_t step);

 private:
    Sampling sampling_;
    std::int64_t steps_per_epoch_ = 0;
    std::shared_ptr<EpochOrders> orders_;
    std::int64_t epoch_ = -1;                                  // the epoch that order_ belongs to
    std::shared_ptr<const std::vector<std::uint32_t>> order_;  // all record numbers; null without shuffling
};

}  // namespace ddl
