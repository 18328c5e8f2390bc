// What ranks report to each other once a step, beside the step: whether to stop, and how the step before went. So all
// of them end after the same step, whichever is asked to, and rank 0 can write down the steps of all while they go on.
#pragma once

#include "ddl-workloads/checkpoint/checkpointer.hpp"
#include "ddl-workloads/guards/replicas.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <cstdint>
#include <future>
#include <vector>

namespace ddl {

// A later one outweighs an earlier one.
enum class Stop : std::int64_t { no = 0, time_is_up = 1, loss = 2, accuracy = 3, guard = 4, signal = 5 };

struct StepNews {
    Stop wish = Stop::no;
    std::int64_t complete_steps = 0;  // 0: no times yet
    StepTimes last = {};              // of the last complete step
    double loss = 0.0;                // of this rank's batch in that step, if the model has one
    CheckpointNews checkpoint = {};
    ReplicaNews replicas = {};
    base::ControlRequest control = base::ControlRequest::none;  // rank 0's: what all ranks do in the next step
};

// The strongest wish of any rank.
Stop agreed(const std::vector<StepNews>& news);

class StepExchange {
 public:
    explicit StepExchange(ExchangeThread& exchanges);

    // Sends this rank's news; returns those of all ranks, by rank, that were sent one call earlier (none the first
    // time). Waits only for ranks that are a whole step behind.
    std::vector<StepNews> next(const StepNews& mine);

    // The news that are still under way.
    std::vector<StepNews> settle();

 private:
    ExchangeThread& exchanges_;
    StepNews mine_;
    std::vector<StepNews> all_;
    std::future<void> pending_;
};

}  // namespace ddl
