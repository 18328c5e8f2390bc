// SPDX-License-Identifier: Apache-2.0
// Results of a training: the summary line on stdout, and run.json.
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

// Share of the exchange time that was hidden behind computing, so that the main thread did not wait for it. None if
// nothing was exchanged.
std::optional<double> overlap_percent(const StepSums& sums, std::int64_t exchange_ns);

// Mean times per step in ms (whole step and each phase), samples/s of all ranks, and the share of the time in which the
// device computed (phases of part `compute`).
nlohmann::ordered_json to_json(const StepSums& sums, std::int64_t samples_per_step);

nlohmann::ordered_json to_json(const TrainingPlan& plan);

// FNV-1a, 64 bits, over all bytes in order, as sixteen hexadecimal digits. Parameters that are bitwise equal have equal
// checksums.
std::string checksum(const std::vector<std::span<std::byte>>& memory);

// Record of this process: host, clock, CPUs, and each of its threads with its name and CPU binding.
nlohmann::ordered_json process_record(int rank);

}  // namespace ddl
