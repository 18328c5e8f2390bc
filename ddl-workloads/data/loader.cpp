#include "ddl-workloads/data/loader.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace ddl {

namespace {

ReaderObserver nobody;

std::vector<std::uint8_t> room_for_record(const RecordFile& file)
{
    return std::vector<std::uint8_t>(static_cast<std::size_t>(file.shape().record_bytes()));
}

void append(Batch& batch, std::span<const std::uint8_t> record)
{
    batch.labels.push_back(record[0]);
    const std::size_t before = batch.images.size();
    batch.images.resize(before + record.size() - 1);  // and not push_back: this loop becomes vector instructions
    std::transform(record.begin() + 1, record.end(), batch.images.begin() + static_cast<std::ptrdiff_t>(before),
                   [](std::uint8_t pixel) { return static_cast<float>(pixel) / 127.5F - 1.0F; });
    ++batch.samples;
}

}  // namespace

Loader::Loader(const LoaderPlan& plan)
    : file_{plan.file, plan.shape},
      sampler_{file_.records(), plan.sampling},
      queue_{plan.queue_batches},
      observer_{plan.observer != nullptr ? plan.observer : &nobody}
{
    if (plan.readers < 1) base::fail_usage(plan.readers, " readers; at least 1 is needed");
    if (plan.drop_page_cache) drops_page_cache_ = file_.read_uncached();
    try {
        for (int reader = 0; reader < plan.readers; ++reader)
            readers_.emplace_back([this, reader](const std::stop_token& stop) { run_reader(reader, stop); });
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
    return queue_.take();
}

void Loader::stop()
{
    queue_.close();
    for (std::jthread& reader : readers_) reader.request_stop();
    readers_.clear();  // joins
}

void Loader::run_reader(int reader, const std::stop_token& stop) noexcept
{
    try {
        observer_->reader_begins(reader);
        read_batches(reader, stop);
    } catch (...) {
        queue_.close(std::current_exception());
    }
    observer_->reader_ends(reader);
}

void Loader::read_batches(int reader, const std::stop_token& stop)
{
    Sampler sampler = sampler_;  // one of its own: it keeps the order of the epoch at hand
    std::vector<std::uint8_t> record = room_for_record(file_);
    while (const std::optional<std::int64_t> step = queue_.ticket()) {
        Batch batch;
        batch.images.reserve(static_cast<std::size_t>(sampler.sampling().batch * shape().pixels()));
        observer_->read_begins(reader);
        for (const std::int64_t number : sampler.batch(*step)) {
            if (stop.stop_requested()) break;  // the queue is closed then: nobody takes the short batch
            file_.read(number, record);
            append(batch, record);
        }
        const std::int64_t bytes = batch.samples * shape().record_bytes();
        bytes_read_ += bytes;
        observer_->read_ends(reader, bytes);
        queue_.put(*step, std::move(batch));
    }
}

std::vector<Batch> read_all(const RecordFile& file, std::int64_t samples)
{
    std::vector<Batch> batches;
    std::vector<std::uint8_t> record = room_for_record(file);
    for (std::int64_t number = 0; number < file.records(); ++number) {
        if (number % samples == 0) batches.emplace_back();
        file.read(number, record);
        append(batches.back(), record);
    }
    return batches;
}

}  // namespace ddl
