// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/loading/loader.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <utility>

#include <malloc.h>

namespace ddl {

namespace {

ReaderObserver nobody;

// Batches are allocated and freed by different threads. High malloc thresholds (the highest that glibc's automatic
// adjustment would reach) keep freed memory in the process, instead of returning it to the kernel and faulting it in
// again.
void keep_freed_memory()
{
#ifdef __GLIBC__
    ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
    ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

}  // namespace

Loader::Loader(const LoaderPlan& plan)
    : plan_{plan},
      sampler_{plan.records->records(), plan.sampling},
      queue_{plan.queue_batches},
      observer_{plan.observer != nullptr && plan.readers > 0 ? plan.observer : &nobody}
{
    if (plan.readers < 0) base::fail_usage("the number of readers must be at least 0, not ", plan.readers);
    if (plan.augmentation.any() && records().shape().kind != SampleShape::Kind::image)
        base::fail_usage("only images can be augmented");
    if (plan.transformers < 0)
        base::fail_usage("the number of transform threads must be at least 0, not ", plan.transformers);
    keep_freed_memory();
    try {
        for (int reader = 0; reader < plan.readers; ++reader)
            threads_.emplace_back([this, reader](const std::stop_token& stop) {
                run([&] {
                    observer_->reader_begins(reader);
                    read_batches(reader, stop);
                });
                observer_->reader_ends(reader);
            });
        for (int transformer = 0; transformer < plan.transformers; ++transformer)
            threads_.emplace_back([this, transformer] { run([&] { transform_batches(transformer); }); });
    } catch (...) {
        stop();
        throw;
    }
}

Loader::~Loader()
{
    stop();
}

Batch Loader::next()
{
    if (plan_.readers == 0) read_batch(0, sampler_, own_, {});
    return queue_.take();
}

void Loader::stop()
{
    queue_.close();
    raw_.close();
    for (std::jthread& thread : threads_) thread.request_stop();
    threads_.clear();  // joins the threads
}

void Loader::run(const std::function<void()>& work) noexcept
{
    try {
        work();
    } catch (...) {
        queue_.close(std::current_exception());
    }
}

void Loader::read_batches(int reader, const std::stop_token& stop)
{
    Sampler sampler = sampler_;  // a copy, which has its own position in the order
    RawBatch raw;
    while (read_batch(reader, sampler, raw, stop)) {
    }
}

// Returns false if no more batches are needed.
bool Loader::read_batch(int reader, Sampler& sampler, RawBatch& raw, const std::stop_token& stop)
{
    const std::optional<std::int64_t> step = queue_.ticket();
    if (!step) return false;
    const auto record_bytes = static_cast<std::size_t>(records().shape().record_bytes());
    raw.step = *step;
    raw.records.resize(static_cast<std::size_t>(sampler.sampling().batch) * record_bytes);
    raw.skipped.clear();
    observer_->read_begins(reader);
    std::span<std::uint8_t> room = raw.records;
    for (const std::int64_t number : sampler.batch(*step)) {
        if (stop.stop_requested()) break;
        read_sound(number, room.first(record_bytes), raw.skipped);
        room = room.subspan(record_bytes);
    }
    const std::int64_t bytes = std::ssize(raw.records) - std::ssize(room);
    bytes_read_ += bytes;
    if (!room.empty()) {
        observer_->read_ends(reader, bytes);
        return false;
    }
    if (plan_.transformers > 0) {
        observer_->read_ends(reader, bytes);
        raw_.put(std::exchange(raw, {}));
        return true;
    }
    Batch batch = decoded(raw);
    observer_->read_ends(reader, bytes);
    queue_.put(*step, std::move(batch));
    return true;
}

void Loader::read_sound(std::int64_t number, std::span<std::uint8_t> record, std::vector<std::string>& skipped) const
{
    for (std::int64_t tries = 0; tries < records().records(); ++tries) {
        try {
            return records().read((number + tries) % records().records(), record);
        } catch (const CorruptRecord& error) {
            if (!plan_.skip_corrupt) throw;
            skipped.emplace_back(error.what());
        }
    }
    base::fail("every record of the data set is corrupt; the last one: ", skipped.back());
}

void Loader::transform_batches(int transformer)
{
    while (std::optional<RawBatch> raw = raw_.take()) {
        const std::int64_t step = raw->step;
        observer_->transform_begins(transformer);
        Batch batch = decoded(*raw);
        observer_->transform_ends(transformer);
        queue_.put(step, std::move(batch));
    }
}

Batch Loader::decoded(const RawBatch& raw) const
{
    const Sampling& sampling = sampler_.sampling();
    const std::int64_t number = (sampling.first_step + raw.step) * sampling.ranks + sampling.rank;
    Batch batch =
        decode(records().shape(), raw.records, plan_.augmentation, sampling.seed, static_cast<std::uint64_t>(number));
    batch.skipped = raw.skipped;
    return batch;
}

Batch read_in_order(const Records& records, std::int64_t first, std::int64_t count, bool skip_corrupt)
{
    const auto record_bytes = static_cast<std::size_t>(records.shape().record_bytes());
    const std::int64_t end = std::min(first + count, records.records());
    std::vector<std::uint8_t> bytes;
    std::vector<std::string> skipped;
    std::vector<std::uint8_t> record(record_bytes);
    for (std::int64_t number = first; number < end; ++number) {
        try {
            records.read(number, record);
            bytes.insert(bytes.end(), record.begin(), record.end());
        } catch (const CorruptRecord& error) {
            if (!skip_corrupt) throw;
            skipped.emplace_back(error.what());
        }
    }
    Batch batch = decode(records.shape(), bytes);
    batch.skipped = std::move(skipped);
    return batch;
}

}  // namespace ddl
