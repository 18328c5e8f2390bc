// SPDX-License-Identifier: Apache-2.0
// Results of a training: the line on stdout, and run.json.
#pragma once

#include "ddl-workloads/plan/plan.hpp"
#include "ddl-workloads/step/step_sums.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddl {

// Share of the exchange time hidden behind computing, in which the main thread did not wait. None if nothing was
// exchanged.
std::optional<double> overlap_percent(const StepSums& sums, std::int64_t exchange_ns);

// Means per step in ms, of the whole and of each phase, samples/s of all ranks, and the share of the time in
// which the device computed (forward, backward, update).
nlohmann::ordered_json to_json(const StepSums& sums, std::int64_t samples_per_step);

nlohmann::ordered_json to_json(const TrainingPlan& plan);

// FNV-1a, 64 bits, over all bytes in order: equal for equal parameters, bit for bit. Sixteen hexadecimal digits.
std::string checksum(const std::vector<std::span<std::byte>>& memory);

// This process: host, clock, CPUs, each of its threads by name with the CPUs it is bound to.
nlohmann::ordered_json process_record(int rank);

}  // namespace ddl
