// SPDX-License-Identifier: Apache-2.0
// Writes a training's checkpoints: decides when one is due and which rank writes what, and writes immediately or in the
// background.
#pragma once

#include "base/contract/checkpoint_table.hpp"
#include "base/contract/control_file.hpp"
#include "base/units.hpp"
#include "ddl-workloads/checkpoint/checkpoint_pace.hpp"
#include "ddl-workloads/checkpoint/checkpoint_writer.hpp"
#include "ddl-workloads/instruments/write_observer.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <nlohmann/json_fwd.hpp>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddl {

// Rank 0 writes everything; or each rank a file of its own, with its share or with everything.
enum class Writers { rank0, sharded, all };
std::string text(Writers by);

struct CheckpointPlan {
    std::int64_t every_steps = 0;  // 0: not by number of steps
    base::Nanoseconds every_time{0};
    double share = 0.0;   // from 0 to 1, of the training time; 0: not by cost
    bool beside = false;  // written in the background: the training waits until its tensors are copied
    Writers by = Writers::rank0;
    std::string format = checkpoint_formats().names().front();
    std::string content = whole_training;
    int gzip = 0;  // level; 0: not compressed
    bool durable = true;
    std::int64_t keep = 3;  // 0: keep all

    bool in_shards() const { return by != Writers::rank0; }
    bool on() const { return every_steps > 0 || every_time.count() > 0 || share > 0.0; }
};

// Parses "100", "100steps", "30s" or "auto:3%" into the plan. Throws UsageError.
void parse_checkpoint_every(const std::string& text, CheckpointPlan& plan);

// Each rank's report to all other ranks, once a step.
struct CheckpointNews {
    std::int64_t due = 0;      // rank 0: a checkpoint is due
    std::int64_t written = 0;  // steps done at the newest checkpoint whose shard this rank has completed
    std::int64_t failed = 0;   // steps done at the newest checkpoint whose shard this rank could not write
    // Rank 0: requested by noisegen, to be written after this step.
    base::ControlRequest requested = base::ControlRequest::none;
};

// Assigns tensors to ranks, by index: tensors equal on all ranks are distributed by size, tensors of rank 0 stay with
// rank 0.
std::vector<std::vector<std::size_t>> shares(std::span<const StateTensor> tensors, int ranks);

// A checkpoint that cannot be written (a full disk, for example) is reported on stderr and leaves nothing behind. The
// training continues, and tries again when the next one is due. Used by the main thread; only one thread at a time
// calls HDF5.
class Checkpointer {
 public:
    // The observer must outlive this object.
    Checkpointer(const CheckpointPlan& plan, std::filesystem::path directory, ExchangeThread& exchanges,
                 WriteObserver& observer);

    // Waits until a checkpoint that is being written is complete.
    ~Checkpointer() = default;
    Checkpointer(const Checkpointer&) = delete;
    Checkpointer& operator=(const Checkpointer&) = delete;

    // Called once a step on all ranks: news() is this rank's report, receive() takes the reports posted one step
    // earlier.
    CheckpointNews news();
    void receive(std::span<const CheckpointNews> all);

    // Called after each step with its length, and what a checkpoint took of it.
    void step_took(std::int64_t step_ns, std::int64_t stall_ns) { pace_.add(step_ns, stall_ns); }

    // True if a checkpoint shall be written after this step; the same on all ranks.
    bool due(std::int64_t steps_done) const;

    // True if the latest checkpoint begun is the one after `steps_done` steps.
    bool began(std::int64_t steps_done) const { return meta_.step == steps_done; }

    // Collective. `beside`: the tensors are copied, and written while the next steps run; else they are written now. In
    // both cases `state` may change as soon as this returns.
    void write(const CheckpointMeta& meta, std::span<const StateTensor> state, bool beside);

    // Collective: removes checkpoints of more than `steps_done` steps, as if they had never been written.
    void forget_after(std::int64_t steps_done);

    // Collective: waits until a checkpoint that is being written is complete.
    void finish();

    // On rank 0: the number of checkpoints written and failed, and the bytes and time of those that this rank wrote.
    nlohmann::ordered_json summary() const;
    std::int64_t failures() const { return failures_; }

 private:
    void open_table();
    void add_row();
    void wait();
    void start(std::int64_t bytes, std::function<void()> work);
    void write_share(const CheckpointMeta& meta, std::span<const StateTensor> share);
    void make_complete();
    void complete();
    std::vector<StateTensor> copy(std::vector<StateTensor> share);

    WriteHow how() const { return {.format = &format_, .durable = plan_.durable, .gzip = plan_.gzip}; }

    CheckpointPlan plan_;
    const CheckpointFormat& format_;
    std::filesystem::path directory_;
    ExchangeThread& exchanges_;
    WriteObserver& observer_;

    std::int64_t last_begun_ns_ = 0;
    CheckpointPace pace_;
    bool asked_ = false;   // rank 0: news() has requested a checkpoint
    bool wanted_ = false;  // the received reports request a checkpoint

    CheckpointMeta meta_;  // of the latest checkpoint that was begun
    bool beside_ = false;  // the latest checkpoint is written in the background
    std::vector<std::vector<std::string>> paths_of_shards_;
    bool shards_open_ = false;  // some of its shards are not known to be complete
    std::vector<std::byte> copies_;
    base::checkpoint::Save save_;  // this rank's row about the latest checkpoint
    bool saved_ = false;  // it is complete, but its row is not written yet; set by the thread that completes it
    std::optional<base::CsvWriter> rows_;
    std::atomic<std::int64_t> written_share_ = 0;  // steps of the checkpoint whose share this rank wrote
    std::atomic<std::int64_t> failed_share_ = 0;
    std::atomic<std::int64_t> completed_ = 0;
    std::atomic<std::int64_t> failures_ = 0;
    std::atomic<std::int64_t> bytes_ = 0;
    std::atomic<std::int64_t> writing_ns_ = 0;
    std::future<void> under_way_;
};

// This rank's state, of which `content` selects what a checkpoint holds. If ranks are not kept equal, each stores its
// own.
std::vector<StateTensor> training_state(Model& model, bool ranks_are_equal, std::string_view content = whole_training);

}  // namespace ddl
