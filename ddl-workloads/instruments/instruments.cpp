// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/instruments/instruments.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/system/cpus.hpp"

#include <limits>
#include <string>
#include <utility>

#include <unistd.h>

namespace ddl {

namespace {

constexpr const char* training = "ddl-train";  // source of the training's own counters

// Null if PAPI does not start on this machine. `speaks`: warn about it.
std::unique_ptr<otf2::CounterReader> papi_reader(const std::string& event, bool speaks)
{
    try {
        return std::make_unique<otf2::CounterReader>(std::vector<std::string>{event});
    } catch (const base::Error& error) {
        if (speaks) base::warn(error.what(), "; continuing without it");
        return nullptr;
    }
}

}  // namespace

Instruments::Instruments(const InstrumentPlan& plan, ExchangeThread& exchanges) : exchanges_{exchanges}
{
    const auto start = [this, &plan](Transport& transport) {
        recorder_.reset(plan.trace.empty() ? new otf2::Recorder(otf2::Recorder::off())
                                           : new otf2::Recorder(plan.trace, transport.team(), "", plan.trace_memory));
    };
    exchanges.post(start).get();
    if (plan.gpu) record_gpu();
    define(plan);
    clock_ = std::make_unique<PhaseClock>(*recorder_, *main_, plan.page);
    details_ = std::make_unique<Details>(*recorder_, *main_, plan.level, plan.detailed_steps, gpu_.get());
    clock_->listen(*details_);
    exchanges.post([this](Transport& transport) { transport.record(exchange_location_); }).get();
    exchanges.observe(this);
}

Instruments::~Instruments()
{
    gpu_.reset();
    if (recorder_ && recorder_->on()) static_cast<void>(recorder_.release());
}

// A rank without a GPU recording still writes its trace. The warning is the same on all ranks, so only rank 0 prints
// it.
void Instruments::record_gpu()
try {
    gpu_ = std::make_unique<gpu::GpuRecording>(*recorder_);
} catch (const base::Unavailable& error) {
    if (exchanges_.rank() == 0) base::warn(error.what());
}

void Instruments::finish_gpu()
try {
    const std::string complaint = gpu::complaint(gpu_->finish());
    if (!complaint.empty()) base::warn("rank ", exchanges_.rank(), ": ", complaint);
} catch (const base::Error& error) {
    base::warn("rank ", exchanges_.rank(), ": ", error.what());
}

void Instruments::define(const InstrumentPlan& plan)
{
    otf2::Recorder& recorder = *recorder_;
    // All threads of a rank are bound to the same CPUs.
    const otf2::Recorder::Placement bound{
        .kind = otf2::LocationKind::cpu_thread,
        .accelerator = {},
        .properties = {{base::property::cpus, base::format_cpus(base::allowed_cpus())}}};
    // GPU activities started by these two threads are identified by the threads' kernel ids.
    const auto numbered = [&bound](pid_t thread) {
        otf2::Recorder::Placement placement = bound;
        placement.properties[base::property::thread] = std::to_string(thread);
        return placement;
    };
    pid_t transport = 0;
    exchanges_.post([&transport](Transport&) { transport = ::gettid(); }).get();
    main_ = &recorder.location(base::location::main, numbered(::gettid()));
    exchange_location_ = &recorder.location(base::location::transport, numbered(transport));
    for (int reader = 0; reader < plan.readers; ++reader)
        readers_.push_back(&recorder.location(base::location::reader + std::to_string(reader), bound));
    for (int transformer = 0; transformer < plan.transformers; ++transformer)
        transformers_.push_back(&recorder.location("transform " + std::to_string(transformer), bound));
    if (plan.checkpoints_beside) writer_ = &recorder.location("checkpoint writer", bound);

    bucket_ready_ = recorder.in_group(base::region_group::exchange,
                                      recorder.region(base::region::bucket_ready, otf2::RegionRole::task_create));
    bucket_exchange_ = recorder.in_group(base::region_group::exchange,
                                         recorder.region(base::region::bucket_exchange, otf2::RegionRole::task));
    parameter_exchange_ = recorder.in_group(base::region_group::exchange,
                                            recorder.region(base::region::parameter_exchange, otf2::RegionRole::task));
    all_to_all_ =
        recorder.in_group(base::region_group::exchange, recorder.region("all_to_all", otf2::RegionRole::task));
    coordination_ =
        recorder.in_group(base::region_group::exchange, recorder.region("coordination", otf2::RegionRole::task));
    read_ = recorder.in_group(base::region_group::io, recorder.region(base::region::read, otf2::RegionRole::file_io));
    transform_ = recorder.region("transform");
    checkpoint_write_ =
        recorder.in_group(base::region_group::io, recorder.region("checkpoint_write", otf2::RegionRole::file_io));
    step_ = recorder.attribute(base::attribute::step, otf2::Type::uint64, "number of the training step, from 0");
    bucket_ =
        recorder.attribute(base::attribute::bucket, otf2::Type::uint64, "number of the bucket in its step, from 0");
    bytes_ = recorder.attribute(base::attribute::bytes, otf2::Type::uint64, "bytes read or exchanged");
    external_id_ =
        recorder.attribute(base::attribute::external_id, otf2::Type::int64, "joins an operator and its kernels");
    if (recorder.on()) define_metrics(plan);
}

void Instruments::define_metrics(const InstrumentPlan& plan)
{
    using otf2::MetricMode;
    using otf2::Type;
    std::vector<otf2::MetricRow> members;
    const auto define = [&](const Metric& metric, Type type, MetricMode mode) {
        metrics_.push_back(metric);
        members.push_back(
            {.name = metric.name, .unit = metric.unit, .description = text(metric), .type = type, .mode = mode});
    };
    if (otf2::counters_available()) papi_ = papi_reader(reduced_.event(), exchanges_.rank() == 0);
    define({"queue_depth", "batches", "batches read ahead", training}, Type::uint64, MetricMode::absolute_point);
    define({"bytes_read", "B", "input read from files", training}, Type::uint64, MetricMode::accumulated_start);
    define(
        {"bytes_reduced", "B", "gradients averaged over the ranks", papi_ ? papi_->events().front().source : training},
        Type::uint64, MetricMode::accumulated_start);
    define({"loss", "", "loss of this rank's batch", training}, Type::real, MetricMode::absolute_point);
    has_norm_ = plan.level != DetailLevel::L0;
    if (has_norm_)
        define({"gradient_norm", "", "L2 norm of this rank's gradient at the update", training}, Type::real,
               MetricMode::absolute_point);
    process_metrics_ = plan.process_metrics;
    if (process_metrics_ != nullptr)
        for (const Metric& metric : process_metrics_->metrics())
            define(metric, Type::int64, MetricMode::accumulated_start);
    sampled_ = recorder_->metrics(members);
    values_.assign(members.size(), std::int64_t{0});
}

void Instruments::bucket_ready(BucketTag tag, std::int64_t at_ns)
{
    main_->enter(bucket_ready_, at_ns, {{step_, tag.step}, {bucket_, tag.bucket}});
    main_->leave(bucket_ready_, at_ns);
}

std::int64_t Instruments::bytes_reduced()
{
    try {
        if (papi_) return papi_->read().front();
    } catch (const base::Error& error) {
        base::warn(error.what(), "; continuing without it");
        papi_.reset();
    }
    return static_cast<std::int64_t>(reduced_.value());
}

void Instruments::sample(const Sample& sample)
{
    if (values_.empty()) return;  // no trace is recorded
    const std::int64_t now = base::now_ns();
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    std::size_t next = 0;
    values_[next++] = std::int64_t{sample.queue_depth};
    values_[next++] = sample.bytes_read;
    values_[next++] = bytes_reduced();
    values_[next++] = sample.loss.value_or(none);
    if (has_norm_) values_[next++] = sample.gradient_norm.value_or(none);
    if (process_metrics_ != nullptr)  // if they can no longer be read, the last counts are kept
        for (const std::int64_t count : process_metrics_->read()) values_[next++] = count;
    main_->metrics(sampled_, values_, now);
    sample_counters(now);
}

void Instruments::sample_counters(std::int64_t now_ns)
{
    if (!counters_) {
        counters_ = otf2::published_counters();
        std::erase_if(*counters_, [&](const auto& one) { return one.counter.name() == reduced_.name(); });
        std::vector<otf2::MetricRow> members;
        for (const auto& [counter, description] : *counters_) {
            const Metric& metric = metrics_.emplace_back(Metric{counter.name(), "#", description, training});
            members.push_back({.name = metric.name,
                               .unit = metric.unit,
                               .description = text(metric),
                               .type = otf2::Type::uint64,
                               .mode = otf2::MetricMode::accumulated_start});
        }
        if (!members.empty()) counted_ = recorder_->metrics(members);
    }
    if (counters_->empty()) return;
    std::vector<otf2::MetricNumber> counts;
    for (const otf2::CounterAndText& one : *counters_) counts.emplace_back(one.counter.value());
    main_->metrics(counted_, counts, now_ns);
}

void Instruments::exchange_begins(BucketTag tag, std::int64_t bytes)
{
    exchange_bytes_ = bytes;
    exchanged_bucket_.store(tag.bucket, std::memory_order_relaxed);
    exchange_began_ns_ = base::now_ns();
    if (gpu_)
        exchange_location_->enter(
            bucket_exchange_, exchange_began_ns_,
            {{step_, tag.step}, {bucket_, tag.bucket}, {bytes_, bytes}, {external_id_, gpu_->enter()}});
    else
        exchange_location_->enter(bucket_exchange_, exchange_began_ns_,
                                  {{step_, tag.step}, {bucket_, tag.bucket}, {bytes_, bytes}});
}

void Instruments::exchange_ends()
{
    const std::int64_t now = base::now_ns();
    if (gpu_) gpu_->leave();
    exchange_location_->leave(bucket_exchange_, now);
    exchange_ns_ += now - exchange_began_ns_;
    exchanged_bucket_.store(no_bucket, std::memory_order_relaxed);
    reduced_.add(static_cast<std::uint64_t>(exchange_bytes_));
}

void Instruments::parameters_begin(std::int64_t bytes)
{
    exchange_began_ns_ = base::now_ns();
    exchange_location_->enter(parameter_exchange_, exchange_began_ns_,
                              {{step_, clock_->whereabouts().step}, {bytes_, bytes}});
}

void Instruments::parameters_end()
{
    const std::int64_t now = base::now_ns();
    exchange_location_->leave(parameter_exchange_, now);
    exchange_ns_ += now - exchange_began_ns_;
}

void Instruments::all_to_all_begins(std::int64_t bytes)
{
    exchange_location_->enter(all_to_all_, {{step_, clock_->whereabouts().step}, {bytes_, bytes}});
}

void Instruments::all_to_all_ends()
{
    exchange_location_->leave(all_to_all_);
}

void Instruments::coordination_begins()
{
    const PhaseClock::Whereabouts now = clock_->whereabouts();
    if (now.phase == Phase::none)
        exchange_location_->enter(coordination_);  // outside of steps
    else
        exchange_location_->enter(coordination_, {{step_, now.step}});
}

void Instruments::coordination_ends()
{
    exchange_location_->leave(coordination_);
}

std::optional<std::uint64_t> Instruments::bucket_being_exchanged() const
{
    const std::uint64_t bucket = exchanged_bucket_.load(std::memory_order_relaxed);
    return bucket == no_bucket ? std::nullopt : std::optional{bucket};
}

void Instruments::read_begins(int reader)
{
    if (is_recorded(reader)) readers_[static_cast<std::size_t>(reader)]->enter(read_);
}

void Instruments::read_ends(int reader, std::int64_t bytes)
{
    if (is_recorded(reader)) readers_[static_cast<std::size_t>(reader)]->leave(read_, {{bytes_, bytes}});
}

void Instruments::transform_begins(int transformer)
{
    transformers_.at(static_cast<std::size_t>(transformer))->enter(transform_);
}

void Instruments::transform_ends(int transformer)
{
    transformers_.at(static_cast<std::size_t>(transformer))->leave(transform_);
}

void Instruments::write_begins(std::int64_t steps_done, std::int64_t bytes)
{
    const std::lock_guard lock{writer_mutex_};
    if (writer_ == nullptr) return;
    writer_->enter(checkpoint_write_, {{step_, steps_done - 1}, {bytes_, bytes}});
    writing_ = true;
}

void Instruments::write_ends()
{
    const std::lock_guard lock{writer_mutex_};
    if (writer_ != nullptr && std::exchange(writing_, false)) writer_->leave(checkpoint_write_);
}

void Instruments::finish()
{
    {
        const std::lock_guard lock{writer_mutex_};
        if (writing_) writer_->leave(checkpoint_write_);
        writer_ = nullptr;
    }
    exchanges_.observe(nullptr);
    if (gpu_) finish_gpu();
    const auto end = [this](Transport& transport) {
        transport.record(nullptr);
        if (recorder_->on()) recorder_->finish();
        recorder_.reset();
    };
    exchanges_.post(end).get();
}

}  // namespace ddl
