// SPDX-License-Identifier: Apache-2.0
// Accuracy of a model on the held-out samples.
#pragma once

#include "ddl-workloads/data/loading/skipped_records.hpp"
#include "ddl-workloads/data/records.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <optional>

namespace ddl {

// Collective: divides the samples among the ranks, and replaces each rank's model statistics (running means, which
// differ between ranks) by rank 0's. Returns the share of correct answers, 0 to 1, on rank 0; none elsewhere. Throws
// Error if every sample is corrupt. Marks the clock so that the stall watch sees progress.
std::optional<double> accuracy(Model& model, const Records& held_out, bool skip_corrupt, SkippedRecords& skipped,
                               ExchangeThread& exchanges, PhaseClock& clock);

}  // namespace ddl
