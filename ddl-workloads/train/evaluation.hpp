// SPDX-License-Identifier: Apache-2.0
// How good a model is on the samples kept apart.
#pragma once

#include "ddl-workloads/data/loading/skipped_records.hpp"
#include "ddl-workloads/data/records.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <optional>

namespace ddl {

// Collective: the samples are dealt out to the ranks, and the model's statistics (running means, of which each rank
// keeps its own) become rank 0's. On rank 0 the share of answers guessed right, 0 to 1; elsewhere none. Throws Error if
// no sample is sound. The clock is notified that the main thread is still at work.
std::optional<double> accuracy(Model& model, const Records& held_out, bool skip_corrupt, SkippedRecords& skipped,
                               ExchangeThread& exchanges, PhaseClock& clock);

}  // namespace ddl
