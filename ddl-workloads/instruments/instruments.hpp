// SPDX-License-Identifier: Apache-2.0
// Recordings of a rank: its trace (main thread, transport, readers), its control page, the metrics of every tenth step.
#pragma once

#include "base/contract/control_file.hpp"
#include "ddl-workloads/data/loading/loader.hpp"
#include "ddl-workloads/instruments/details.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "ddl-workloads/instruments/process_metrics.hpp"
#include "ddl-workloads/instruments/write_observer.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"
#include "trace-tools/gpu/recording/gpu_recording.hpp"
#include "trace-tools/otf2/write/counters.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

struct InstrumentPlan {
    std::filesystem::path trace;        // directory of the archive; empty: no trace
    std::uint64_t trace_memory = 0;     // bytes, as otf2::Recorder takes it
    base::ControlPage* page = nullptr;  // null: none is kept by this rank
    int readers = 1;
    int transformers = 0;
    bool checkpoints_beside = false;  // a thread writes checkpoints
    DetailLevel level = DetailLevel::L0;
    TraceSteps detailed_steps;
    bool gpu = false;                           // what it does is recorded, too, where that can be
    ProcessMetrics* process_metrics = nullptr;  // null: none
};

class Instruments : public ExchangeObserver, public ReaderObserver, public WriteObserver {
 public:
    // Collective: the archive is one of all ranks. From here on the transport's exchanges are recorded.
    Instruments(const InstrumentPlan& plan, ExchangeThread& exchanges);
    // Without finish() the trace's communicator is left alone: a rank that failed must not talk to the others.
    ~Instruments() override;

    PhaseClock& clock() { return *clock_; }
    otf2::Recorder& recorder() { return *recorder_; }
    otf2::LocationRecorder& main() { return *main_; }
    Details& details() { return *details_; }
    otf2::LocationRecorder& transport_thread() { return *exchange_location_; }

    // A bucket's gradients are complete on this rank. Main thread.
    void bucket_ready(BucketTag tag, std::int64_t at_ns = base::now_ns());

    // Metrics in the trace, this rank's own and those of its process.
    const std::vector<Metric>& metrics() const { return metrics_; }

    // Every tenth step. Main thread.
    struct Sample {
        std::optional<double> loss;
        std::optional<double> gradient_norm;
        int queue_depth = 0;
        std::int64_t bytes_read = 0;
    };
    void sample(const Sample& sample);

    // For any thread.
    std::optional<std::uint64_t> bucket_being_exchanged() const;

    // Time that exchanges of gradients, and of parameters that one rank updates for all, took so far, each from its
    // begin to its end on the transport thread.
    std::int64_t exchange_ns() const { return exchange_ns_; }

    // Collective; no reader may be left. Then the archive is there. A checkpoint still being written ends in it here.
    void finish();

    void exchange_begins(BucketTag tag, std::int64_t bytes) override;
    void exchange_ends() override;
    void parameters_begin(std::int64_t bytes) override;
    void parameters_end() override;
    void all_to_all_begins(std::int64_t bytes) override;
    void all_to_all_ends() override;
    void coordination_begins() override;
    void coordination_ends() override;
    void read_begins(int reader) override;
    void read_ends(int reader, std::int64_t bytes) override;
    void transform_begins(int transformer) override;
    void transform_ends(int transformer) override;
    void write_begins(std::int64_t steps_done, std::int64_t bytes) override;
    void write_ends() override;

 private:
    void record_gpu();
    void finish_gpu();
    void define(const InstrumentPlan& plan);
    void define_metrics(const InstrumentPlan& plan);
    std::int64_t bytes_reduced();
    bool is_recorded(int reader) const { return reader < std::ssize(readers_); }

    ExchangeThread& exchanges_;
    std::unique_ptr<otf2::Recorder> recorder_;
    otf2::LocationRecorder* main_ = nullptr;
    otf2::LocationRecorder* exchange_location_ = nullptr;
    std::vector<otf2::LocationRecorder*> readers_;  // of the plan; job.loaders may have others at work
    std::vector<otf2::LocationRecorder*> transformers_;
    std::mutex writer_mutex_;
    otf2::LocationRecorder* writer_ = nullptr;  // of checkpoints; null: none, or the trace is complete
    bool writing_ = false;
    std::unique_ptr<gpu::GpuRecording> gpu_;  // none: not wanted, or there is nothing that could record
    std::unique_ptr<PhaseClock> clock_;
    std::unique_ptr<Details> details_;

    otf2::RegionRef bucket_ready_;
    otf2::RegionRef bucket_exchange_;
    otf2::RegionRef parameter_exchange_;
    otf2::RegionRef all_to_all_;
    otf2::RegionRef coordination_;
    otf2::RegionRef read_;
    otf2::RegionRef transform_;
    otf2::RegionRef checkpoint_write_;
    otf2::AttributeRef step_;
    otf2::AttributeRef bucket_;
    otf2::AttributeRef bytes_;
    otf2::AttributeRef external_id_;
    otf2::MetricClassRef sampled_;            // all that a sample has, those of the process last
    std::vector<otf2::MetricNumber> values_;  // of the last sample
    bool has_norm_ = false;
    ProcessMetrics* process_metrics_ = nullptr;
    std::vector<Metric> metrics_;

    otf2::PublishedCounter reduced_{"bytes_reduced", "gradient bytes averaged over the ranks"};
    std::unique_ptr<otf2::CounterReader> papi_;
    std::int64_t exchange_bytes_ = 0;  // of the exchange at hand; transport thread
    std::int64_t exchange_began_ns_ = 0;
    std::atomic<std::int64_t> exchange_ns_ = 0;
    static constexpr std::uint64_t no_bucket = UINT64_MAX;
    std::atomic<std::uint64_t> exchanged_bucket_ = no_bucket;
};

}  // namespace ddl
