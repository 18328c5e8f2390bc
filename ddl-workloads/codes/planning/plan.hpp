// SPDX-License-Identifier: Apache-2.0
// Costs and gains of redundancy in a training, predicted.
#pragma once

#include "base/contract/table_columns.hpp"
#include "ddl-workloads/codes/layer_code.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

struct PlanRequest {
    Grid grid{5, 4};
    Grid parity{2, 2};
    int layers = 3;
    int width = 2048;  // inputs and outputs of each layer
    int batch = 64;
    double error_rate = 3e-4;         // probability that a rank errs in each of the three operations on its block
    double late = 0.01;               // probability that a rank is late in a pass
    double late_s = 0.02;             // delay of a late rank
    double iteration_s = 0.08;        // time of an iteration without errors and late ranks
    double checkpoint_s = 0.4;        // time to write a checkpoint
    double restart_s = 0.4;           // time to read a checkpoint after a rollback
    std::int64_t simulate = 100'000;  // iterations in which rollbacks are counted; 0: none
    std::uint64_t seed = 1;
};

struct PlannedScheme {
    std::string scheme{};
    int ranks = 0;
    std::int64_t memory_bytes = 0;               // size of the weights on all ranks, fp32
    std::int64_t words_sent = 0;                 // words sent by all ranks in an iteration
    std::optional<double> rollback{};            // probability that an iteration rolls back; for codes an upper bound
    std::optional<double> rollback_simulated{};  // rollback, simulated with the real decoder
    std::optional<double> simulated_low{};       // 95 % interval
    std::optional<double> simulated_high{};
    std::optional<double> unnoticed{};       // probability that an iteration keeps an error
    std::optional<std::int64_t> interval{};  // cheapest interval of checkpoints, in iterations; none: no checkpoint
    std::optional<double> executed_5{};      // iterations executed for 5 kept ones, with a checkpoint after them
    std::optional<double> executed_10{};
    std::optional<double> executed_20{};
    std::optional<double> executed_50{};
    std::optional<double> wait_forward{};  // probability that a product waits for a late rank
    std::optional<double> wait_backward{};
    std::optional<double> wait_forward_spare{};  // the same if it also waits for a spare symbol, as a check
    std::optional<double> wait_backward_spare{};
    std::optional<double> kept_iteration_ns{};  // expected time
};

const std::vector<base::TableColumn<PlannedScheme>>& plan_columns();

// The schemes in the order of the table: uncoded, on the grid and on as many ranks as two copies; two and three copies;
// codenet; checkpoint and restart alone; SPARe.
std::vector<PlannedScheme> plan(const PlanRequest& request);

// The expected number of iterations executed to keep `kept` of them, if each rolls back with this probability to where
// the first began: (1 - s^I) / (s^I (1 - s)) with s = 1 - rollback. Infinite if it exceeds the range of double.
double executed_iterations(double rollback, double kept);

// SPARe (Lee et al., ICML 2026): N data-parallel groups, each of which holds r of N shards, so that survivors compute
// the shards of failed groups. Closed forms of the paper, for exponential failures.
struct Spare {
    int redundancy = 1;         // r = floor(log2 N + 0.833)
    double endured = 1.0;       // failures until a restart: Gamma(1/r)/r N^(1 - 1/r)
    double computation = 1.0;   // mean over these failures k of ceil(N / (N - k)), without patches
    double interval_s = 0.0;    // T_s + sqrt(T_s^2 + 2 T_s (T_f + T_r)), of useful time and the checkpoint
    double availability = 1.0;  // share of useful time
};
Spare spare(int groups, double failure_every_s, double checkpoint_s, double restart_s);

}  // namespace ddl
