// SPDX-License-Identifier: Apache-2.0
// Distance of a training's state from an unaltered training's after the same steps, taken from the latter's
// checkpoints.
#pragma once

#include "base/csv.hpp"
#include "ddl-workloads/models/model.hpp"
#include "soft-errors/state/sum_of_squares.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace ddl {

// Distance of one tensor. `squares` and `largest` only cover numbers that are finite in both.
struct TensorDistance {
    std::int64_t differing = 0;                     // numbers that differ in any bit
    soft_errors::SumOfSquares squares = {};         // sum over the differences
    soft_errors::SumOfSquares golden_squares = {};  // sum over the unaltered numbers
    double largest = 0.0;                           // largest absolute difference
    std::int64_t not_finite = 0;                    // numbers that are not finite

    // The difference's L2 norm divided by that of the unaltered tensor; infinite if the latter is 0.
    double relative_l2() const;
};

TensorDistance distance(ElementType type, std::span<const std::byte> numbers, std::span<const std::byte> golden);

class GoldenComparison {
 public:
    // `directory` is a run (DIR) or a checkpoint. Throws Error if there is no checkpoint.
    explicit GoldenComparison(const std::filesystem::path& directory);

    const std::filesystem::path& first() const { return *checkpoints_.begin(); }

    // Writes rows to propagation.csv in that directory, which must exist.
    void record(otf2::Recorder& recorder, otf2::LocationRecorder& location, const std::filesystem::path& directory,
                int rank, std::int64_t trial);
    bool is_due(std::int64_t steps_done) const;

    // Compares with the checkpoint after `steps_done` steps, if it exists. Throws Error if it is damaged.
    void compare(std::int64_t steps_done, Model& model);

    nlohmann::ordered_json summary() const;  // of this rank

 private:
    std::filesystem::path directory_;
    std::set<std::filesystem::path> checkpoints_;
    otf2::LocationRecorder* location_ = nullptr;
    otf2::RegionRef region_;
    otf2::MetricRef weight_distance_;
    std::optional<base::CsvWriter> rows_;
    int rank_ = 0;
    std::int64_t trial_ = 0;
    std::vector<std::vector<std::byte>> golden_;  // buffers reused by the next comparison
    std::int64_t compared_ = 0;
    std::optional<std::int64_t> first_differing_;
};

}  // namespace ddl
