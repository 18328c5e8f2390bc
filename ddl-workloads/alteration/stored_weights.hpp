// SPDX-License-Identifier: Apache-2.0
// A training's weights in memory whose bits flip: before a forward they become what is read of them, and afterwards
// sound again, so that gradients of damaged weights update sound ones.
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

// Reads the numbers of 32 bits of the model's parameters: running statistics, counters and the optimizer lie elsewhere.
class StoredWeights {
 public:
    // Names of tensors begin with `location`. Of one seed and stream the same bits flip. The model must outlive it.
    // Throws Error if there is no such tensor.
    StoredWeights(Model& model, const soft_errors::WeightMemory& memory, const std::string& location,
                  std::uint64_t seed, std::uint64_t stream);

    // Between two steps, or before forward. The weights become what is read; each read draws anew.
    void read();

    // They become again what they were before the last read. Before the update, if they were read for a forward.
    void put_back();

    const soft_errors::WeightRead& sum() const { return sum_; }  // of all reads
    const std::string& paths() const { return paths_; }  // of the tensors, base::path_separator between; at most ten

 private:
    std::vector<std::span<float>> weights();

    Model& model_;
    soft_errors::WeightMemory memory_;
    std::vector<std::string> tensors_;  // their paths
    std::string paths_;
    base::Random random_;
    soft_errors::WeightRead sum_;
    std::vector<std::vector<float>> sound_;  // between read() and put_back()
};

// Memory that a training's weights lie in; no code: like any other.
struct StorePlan {
    std::string code;
    std::string detection = "none";
    double rate = 0.0;

    bool on() const { return !code.empty(); }
};

class StoreOptions {
 public:
    // Adds them; both must outlive it.
    StoreOptions(base::Options& options, StorePlan& plan);

    // Completes the plan once the options were parsed. Throws UsageError.
    void read() const;

 private:
    const base::Options& options_;
    StorePlan& plan_;
    std::string rate_;
};

}  // namespace ddl
