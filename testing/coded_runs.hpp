// SPDX-License-Identifier: Apache-2.0
// Coded trainings beside the same training by one process, and beside each other.
#pragma once

#include "base/csv.hpp"
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"
#include "ddl-workloads/checkpoint/checkpoint_store.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

namespace testing {

// After these steps the losses differ by 1e-4 at most, relative to the loss.
inline void check_coded_loss(const Scratch& scratch, const Words& training, int ranks, const std::string& strategy,
                             const Words& steps = {"--steps", "200", "--lr", "0.01"})
{
    static int number = 0;
    CAPTURE(strategy);
    CAPTURE(training);
    const std::string name = std::to_string(number++);
    const Words options = training + steps + Words{"--trace", "off"};
    const TrainRun one = train_alone(scratch / ("one" + name), options);
    const TrainRun coded = train(ranks, scratch / ("coded" + name), options + Words{"--strategy", strategy});
    INFO(one.err, coded.err);
    REQUIRE(one.status == 0);
    REQUIRE(coded.status == 0);
    CHECK(coded.result["ranks_agree"] == true);
    CHECK(coded.result["loss"].get<double>() == doctest::Approx(one.result["loss"].get<double>()).epsilon(1e-4));
    CHECK(coded.result["accuracy"].get<double>() == doctest::Approx(one.result["accuracy"].get<double>()));
}

// L2 norm of the difference of two runs' models (all float32) in the checkpoint of this step, over that of the second.
inline double distance_of_models(const std::filesystem::path& one, const std::filesystem::path& other, int step)
{
    const auto read = [&](const std::filesystem::path& run) {
        return ddl::CheckpointReader{ddl::checkpoint_path(run / "train/checkpoints", step)}.tensors();
    };
    const auto ones = read(one);
    double apart = 0.0;
    double size = 0.0;
    for (const auto& [path, bytes] : read(other)) {
        if (!path.starts_with("model/")) continue;
        const std::vector<std::byte>& mine = ones.at(path);
        REQUIRE(mine.size() == bytes.size());
        for (std::size_t at = 0; at < bytes.size(); at += sizeof(float)) {
            float a = 0.0F;
            float b = 0.0F;
            std::memcpy(&a, mine.data() + at, sizeof a);
            std::memcpy(&b, bytes.data() + at, sizeof b);
            apart += (static_cast<double>(a) - b) * (static_cast<double>(a) - b);
            size += static_cast<double>(b) * b;
        }
    }
    return std::sqrt(apart / size);
}

// Rows of products.csv in which symbols were late.
inline int products_with_late_symbols(const std::filesystem::path& run)
{
    const base::CsvTable rows{run / "train/products.csv"};
    int count = 0;
    for (std::size_t row = 0; row < rows.rows(); ++row) count += rows.get<int>(row, "late") > 0 ? 1 : 0;
    return count;
}

inline double saved_ms(const std::filesystem::path& run)
{
    const base::CsvTable rows{run / "train/products.csv"};
    double sum = 0.0;
    for (std::size_t row = 0; row < rows.rows(); ++row) sum += rows.get<double>(row, "saved_ns") / 1e6;
    return sum;
}

// No rank ended a step before all ranks had begun the step `lag` before it. Returns the number of rows.
inline std::size_t check_lag(const std::filesystem::path& run, std::int64_t lag)
{
    const base::CsvTable rows{run / "train/steps.csv"};
    std::map<std::int64_t, std::int64_t> last_begin_ns;  // by step
    const auto of = [&](std::size_t row, const char* column) { return rows.get<std::int64_t>(row, column); };
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        std::int64_t& last = last_begin_ns[of(row, "step")];
        last = std::max(last, of(row, "begin_ns"));
    }
    for (std::size_t row = 0; row < rows.rows(); ++row)
        if (of(row, "step") >= lag) CHECK(of(row, "end_ns") >= last_begin_ns.at(of(row, "step") - lag));
    return rows.rows();
}

inline std::map<std::string, int> outcomes_of_errors(const std::filesystem::path& run)
{
    const base::CsvTable table{run / "train/errors.csv"};
    std::map<std::string, int> count;
    for (std::size_t row = 0; row < table.rows(); ++row) ++count[table.text(row, "outcome")];
    return count;
}

}  // namespace testing
