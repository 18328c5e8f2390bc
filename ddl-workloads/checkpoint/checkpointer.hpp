// SPDX-License-Identifier: Apache-2.0
// Writes a training's checkpoints: when one is due, whose share is whose, at once or beside the next steps.
#pragma once

#include "base/contract/control_file.hpp"
#include "base/units.hpp"
#include "ddl-workloads/checkpoint/checkpoint_format.hpp"
#include "ddl-workloads/instruments/write_observer.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <nlohmann/json_fwd.hpp>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <span>
#include <string>
#include <vector>

namespace ddl {

struct CheckpointPlan {
    std::int64_t every_steps = 0;  // 0: not by steps
    base::Nanoseconds every_time{0};
    bool beside = false;  // sync: the training waits until it is written; async: until the tensors are copied
    bool sharded = false;
    bool durable = true;
    std::int64_t keep = 3;  // 0: all

    bool on() const { return every_steps > 0 || every_time.count() > 0; }
};

// "100", "100steps", "30s" into the plan. Throws UsageError.
void parse_checkpoint_every(const std::string& text, CheckpointPlan& plan);

// Report of a rank to the others once a step.
struct CheckpointNews {
    std::int64_t due = 0;      // rank 0: it is time for one
    std::int64_t written = 0;  // steps done in the newest checkpoint of which this rank's shard is complete
    std::int64_t failed = 0;   // .. or could not be written
    base::ControlRequest requested = base::ControlRequest::none;  // rank 0: of noisegen, to be written after this step
};

// Tensors of each rank, by their place in the list: equal ones are dealt out by size, rank 0's are rank 0's.
std::vector<std::vector<std::size_t>> shares(std::span<const StateTensor> tensors, int ranks);

// A checkpoint that cannot be written (a full disk) is reported on stderr and leaves nothing behind; the training goes
// on, and tries again when the next is due. Used by the main thread; HDF5 is called by one thread at a time.
class Checkpointer {
 public:
    // The observer must outlive it.
    Checkpointer(const CheckpointPlan& plan, std::filesystem::path directory, ExchangeThread& exchanges,
                 WriteObserver& observer);

    // Waits until nothing is being written.
    ~Checkpointer() = default;
    Checkpointer(const Checkpointer&) = delete;
    Checkpointer& operator=(const Checkpointer&) = delete;

    // Once a step, all ranks: what to report, and what all reported one step earlier.
    CheckpointNews news();
    void receive(std::span<const CheckpointNews> all);

    // Whether one shall be written after this step: the same on all ranks.
    bool due(std::int64_t steps_done) const;

    // Whether the last one begun is that after `steps_done` steps.
    bool began(std::int64_t steps_done) const { return meta_.step == steps_done; }

    // Collective. `state` may change as soon as this returns: when all is written, or `beside` the next steps.
    void write(const CheckpointMeta& meta, std::span<const StateTensor> state, bool beside);

    // Collective: checkpoints of more steps than that are removed, as if they had never been written.
    void forget_after(std::int64_t steps_done);

    // Collective: what is still being written comes to its end.
    void finish();

    // On rank 0: how many were written, how many could not be, and for those written by this rank bytes and time.
    nlohmann::ordered_json summary() const;
    std::int64_t failures() const { return failures_; }

 private:
    void start(std::int64_t bytes, std::function<void()> work);
    void write_share(const CheckpointMeta& meta, std::span<const StateTensor> share);
    void complete();
    std::vector<StateTensor> copy(std::vector<StateTensor> share);

    CheckpointPlan plan_;
    std::filesystem::path directory_;
    ExchangeThread& exchanges_;
    WriteObserver& observer_;

    std::int64_t last_begun_ns_ = 0;
    bool asked_ = false;   // rank 0: by news()
    bool wanted_ = false;  // by what was heard

    CheckpointMeta meta_;  // of the last one begun
    bool beside_ = false;  // is it written beside the next steps?
    std::vector<std::vector<std::string>> paths_of_shards_;
    bool shards_open_ = false;  // not all of its shards are known to be complete
    std::vector<std::byte> copies_;
    std::atomic<std::int64_t> written_share_ = 0;  // steps of the checkpoint; of this rank
    std::atomic<std::int64_t> failed_share_ = 0;
    std::atomic<std::int64_t> completed_ = 0;
    std::atomic<std::int64_t> failures_ = 0;
    std::atomic<std::int64_t> bytes_ = 0;
    std::atomic<std::int64_t> writing_ns_ = 0;
    std::future<void> under_way_;
};

// The part of a training that its checkpoints hold: the state of this rank. Ranks that are not kept equal each have
// their own.
std::vector<StateTensor> training_state(Model& model, bool ranks_are_equal);

}  // namespace ddl
