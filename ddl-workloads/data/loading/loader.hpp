// SPDX-License-Identifier: Apache-2.0
// Makes batches from records: reader threads, transform threads and a bounded queue; the order depends only on seed and
// epoch.
#pragma once

#include "ddl-workloads/data/loading/batch.hpp"
#include "ddl-workloads/data/loading/handover.hpp"
#include "ddl-workloads/data/loading/ordered_queue.hpp"
#include "ddl-workloads/data/loading/sampler.hpp"
#include "ddl-workloads/data/records.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

namespace ddl {

// Called when a thread of the loader begins and ends its activities, on that thread, which the observer may bind and
// record. read_ends() is not called for a read that fails. An exception from an observer ends the loader.
class ReaderObserver {
 public:
    virtual ~ReaderObserver() = default;
    virtual void reader_begins(int /*reader*/) {}
    virtual void read_begins(int /*reader*/) {}
    virtual void read_ends(int /*reader*/, std::int64_t /*bytes*/) {}
    virtual void reader_ends(int /*reader*/) noexcept {}
    virtual void transform_begins(int /*transformer*/) {}
    virtual void transform_ends(int /*transformer*/) {}
};

struct LoaderPlan {
    std::shared_ptr<const Records> records = {};
    Sampling sampling = {};  // batch size, rank, ranks, seed, shuffle
    Augmentation augmentation = {};
    int readers = 1;            // 0: next() reads
    int transformers = 0;       // threads that make batches of the bytes read; 0: readers do it
    int queue_batches = 4;      // read ahead, at most
    bool skip_corrupt = false;  // the next sound record stands in for a corrupt one; otherwise it ends the loader
    ReaderObserver* observer = nullptr;  // outlives the loader
};

class Loader {
 public:
    // Starts the threads. Throws UsageError for a plan that makes no sense, such as a global batch larger than the data
    // set.
    explicit Loader(const LoaderPlan& plan);
    ~Loader();
    Loader(const Loader&) = delete;
    Loader& operator=(const Loader&) = delete;

    // The next batch of this rank; epochs repeat without end. Waits until the batch is ready. Throws the error that
    // stopped a thread: a corrupt record, a failed read, or the observer's exception.
    Batch next();

    // Stops the threads after their current record and waits for them; next() then throws. The destructor does the
    // same.
    void stop();

    const Records& records() const { return *plan_.records; }
    std::int64_t steps_per_epoch() const { return sampler_.steps_per_epoch(); }
    int queue_depth() const { return queue_.depth(); }  // batches that are ready to be taken
    std::int64_t bytes_read() const { return bytes_read_; }

 private:
    struct RawBatch {
        std::int64_t step = 0;
        std::vector<std::uint8_t> records;
        std::vector<std::string> skipped;
    };

    void run(const std::function<void()>& work) noexcept;
    void read_batches(int reader, const std::stop_token& stop);
    bool read_batch(int reader, Sampler& sampler, RawBatch& raw, const std::stop_token& stop);
    void read_sound(std::int64_t number, std::span<std::uint8_t> record, std::vector<std::string>& skipped) const;
    void transform_batches(int transformer);
    Batch decoded(const RawBatch& raw) const;

    LoaderPlan plan_;
    Sampler sampler_;
    Handover<RawBatch> raw_;  // bounded by the tickets of queue_
    OrderedQueue<Batch> queue_;
    ReaderObserver* observer_;
    RawBatch own_;  // without readers: the buffer of next()
    std::atomic<std::int64_t> bytes_read_ = 0;
    std::vector<std::jthread> threads_;
};

// Reads at most `count` consecutive records from `first` on, to measure accuracy on held-out samples. Corrupt records
// are left out and listed in Batch::skipped, or thrown.
Batch read_in_order(const Records& records, std::int64_t first, std::int64_t count, bool skip_corrupt = false);

}  // namespace ddl
