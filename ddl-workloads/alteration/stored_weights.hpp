// SPDX-License-Identifier: Apache-2.0
// Weights stored in memory whose bits flip: the forward pass uses the values read, errors included; afterwards the
// weights are restored, so that gradients of damaged weights update sound weights.
#pragma once

#include "base/cli/options.hpp"
#include "ddl-workloads/models/model.hpp"
#include "soft-errors/codes/weight_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ddl {

// Covers the model's 32-bit parameters, but not running statistics, counters and the optimizer's state.
class StoredWeights {
 public:
    // Covers tensors whose names begin with `location`. Equal seed and stream flip the same bits. The model must
    // outlive the object. Throws Error if there is no such tensor.
    StoredWeights(Model& model, const soft_errors::WeightMemory& memory, const std::string& location,
                  std::uint64_t seed, std::uint64_t stream);

    // Call between two steps, or before forward. Replaces the weights by the values read; each read draws new bit
    // flips.
    void read();

    // Restores the weights to their values before the last read. Call before the update if the read was for a forward
    // pass.
    void put_back();

    const soft_errors::WeightRead& sum() const { return sum_; }  // over all reads
    const std::string& paths() const { return paths_; }  // first ten tensors' paths, joined by base::path_separator

 private:
    std::vector<std::span<float>> weights();

    Model& model_;
    soft_errors::WeightMemory memory_;
    std::vector<std::string> tensors_;  // their paths
    std::string paths_;
    base::Random random_;
    soft_errors::WeightRead sum_;
    std::vector<std::vector<float>> sound_;  // original weights, between read() and put_back()
};

// The memory that a training's weights are stored in. Empty code: ordinary memory without bit flips.
struct StorePlan {
    std::string code;
    std::string detection = "none";
    double rate = 0.0;

    bool on() const { return !code.empty(); }
};

// Adds the options; options.check() completes the plan. Throws UsageError.
void add_store_options(base::Options& options, StorePlan& plan);

}  // namespace ddl
