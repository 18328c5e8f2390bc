// SPDX-License-Identifier: Apache-2.0
// How far a training's state is from that of an unaltered training of the same steps, whose checkpoints are there.
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

// Distance of one tensor. Sums and the largest are over numbers that are finite in both.
struct TensorDistance {
    std::int64_t differing = 0;                     // numbers that differ in any bit
    soft_errors::SumOfSquares squares = {};         // of the differences
    soft_errors::SumOfSquares golden_squares = {};  // of the unaltered numbers
    double largest = 0.0;                           // absolute difference
    std::int64_t not_finite = 0;                    // numbers

    // The L2 norm of the difference as a share of the unaltered one's; infinite if that is 0.
    double relative_l2() const;
};

TensorDistance distance(ElementType type, std::span<const std::byte> numbers, std::span<const std::byte> golden);

class GoldenComparison {
 public:
    // Those of a run (DIR), or one. Throws Error if there is none.
    explicit GoldenComparison(const std::filesystem::path& directory);

    const std::filesystem::path& first() const { return *checkpoints_.begin(); }

    // Rows go to propagation.csv in that directory, which is there.
    void record(otf2::Recorder& recorder, otf2::LocationRecorder& location, const std::filesystem::path& directory,
                int rank, std::int64_t trial);
    bool is_due(std::int64_t steps_done) const;

    // Compares with the checkpoint after `steps_done` steps, if there is one. Throws Error if it is damaged.
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
    std::vector<std::vector<std::byte>> golden_;  // memory of the last comparison
    std::int64_t compared_ = 0;
    std::optional<std::int64_t> first_differing_;
};

}  // namespace ddl
