// SPDX-License-Identifier: Apache-2.0
// Everything that a rank records: its trace (main thread, transport, readers), its control page, metrics of every tenth
// step.
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
    std::filesystem::path trace;        // directory of the trace archive; empty: no trace
    std::uint64_t trace_memory = 0;     // bytes, as in otf2::Recorder
    base::ControlPage* page = nullptr;  // null: this rank has none
    int readers = 1;
    int transformers = 0;
    bool checkpoints_beside = false;  // checkpoints are written by a separate thread
    DetailLevel level = DetailLevel::L0;
    TraceSteps detailed_steps;
    bool gpu = false;                           // record GPU activity where possible
    ProcessMetrics* process_metrics = nullptr;  // null: no process metrics
};

class Instruments : public ExchangeObserver, public ReaderObserver, public WriteObserver {
 public:
    // Collective: all ranks write one archive. From here on the transport's exchanges are recorded.
    Instruments(const InstrumentPlan& plan, ExchangeThread& exchanges);
    // Does not use the trace's communicator unless finish() was called: a rank that failed must not communicate.
    ~Instruments() override;

    PhaseClock& clock() { return *clock_; }
    otf2::Recorder& recorder() { return *recorder_; }
    otf2::LocationRecorder& main() { return *main_; }
    Details& details() { return *details_; }
    otf2::LocationRecorder& transport_thread() { return *exchange_location_; }

    // Call on the main thread when a bucket's gradients are complete on this rank.
    void bucket_ready(BucketTag tag, std::int64_t at_ns = base::now_ns());

    // Metrics in the trace: those of this rank's training and those of its process.
    const std::vector<Metric>& metrics() const { return metrics_; }

    // Metrics of a step. Call sample() in every tenth step, on the main thread.
    struct Sample {
        std::optional<double> loss;
        std::optional<double> gradient_norm;
        int queue_depth = 0;
        std::int64_t bytes_read = 0;
    };
    void sample(const Sample& sample);

    // May be called from any thread.
    std::optional<std::uint64_t> bucket_being_exchanged() const;

    // Total time of exchanges so far (gradients, and parameters that one rank updates for all), each measured from its
    // begin to its end on the transport thread.
    std::int64_t exchange_ns() const { return exchange_ns_; }

    // Collective; no reader may be running. Completes the archive. A checkpoint that is still being written ends in the
    // trace here.
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
    void sample_counters(std::int64_t now_ns);
    std::int64_t bytes_reduced();
    bool is_recorded(int reader) const { return reader < std::ssize(readers_); }

    ExchangeThread& exchanges_;
    std::unique_ptr<otf2::Recorder> recorder_;
    otf2::LocationRecorder* main_ = nullptr;
    otf2::LocationRecorder* exchange_location_ = nullptr;
    std::vector<otf2::LocationRecorder*> readers_;  // of the plan; job.loaders may have others at work
    std::vector<otf2::LocationRecorder*> transformers_;
    std::mutex writer_mutex_;
    otf2::LocationRecorder* writer_ = nullptr;  // writes checkpoints; null: no such thread, or the trace is complete
    bool writing_ = false;
    std::unique_ptr<gpu::GpuRecording> gpu_;  // null: not requested, or not possible here
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
    otf2::MetricClassRef sampled_;            // the metrics of a sample, process metrics last
    std::vector<otf2::MetricNumber> values_;  // the values of the last sample
    // Counters that the strategy publishes, and their metrics; none before the first sample.
    std::optional<std::vector<otf2::CounterAndText>> counters_;
    otf2::MetricClassRef counted_;
    bool has_norm_ = false;
    ProcessMetrics* process_metrics_ = nullptr;
    std::vector<Metric> metrics_;

    otf2::PublishedCounter reduced_{"bytes_reduced", "gradient bytes averaged over the ranks"};
    std::unique_ptr<otf2::CounterReader> papi_;
    std::int64_t exchange_bytes_ = 0;  // bytes of the current exchange; transport thread
    std::int64_t exchange_began_ns_ = 0;
    std::atomic<std::int64_t> exchange_ns_ = 0;
    static constexpr std::uint64_t no_bucket = UINT64_MAX;
    std::atomic<std::uint64_t> exchanged_bucket_ = no_bucket;
};

}  // namespace ddl
