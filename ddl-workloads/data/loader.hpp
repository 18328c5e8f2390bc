// Batches from a record file: reader threads, a bounded queue, and an order that depends on seed and epoch alone.
#pragma once

#include "ddl-workloads/data/ordered_queue.hpp"
#include "ddl-workloads/data/record_file.hpp"
#include "ddl-workloads/data/sampler.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <thread>
#include <vector>

namespace ddl {

struct Batch {
    // Images: samples x channels x height x width, row-major, -1 (black) to 1 (white). Clicks: samples x dense.
    std::vector<float> images;
    std::vector<std::int64_t> labels;  // none of text
    std::vector<std::int64_t> tokens;  // text: samples x (length + 1) bytes; clicks: samples x categories ids
    std::int64_t samples = 0;
};

// Told what reader threads do, on the reader's own thread: the place to bind it and to record it. A read that fails has
// no end; what an observer throws ends the loader.
class ReaderObserver {
 public:
    virtual ~ReaderObserver() = default;
    virtual void reader_begins(int /*reader*/) {}
    virtual void read_begins(int /*reader*/) {}
    virtual void read_ends(int /*reader*/, std::int64_t /*bytes*/) {}
    virtual void reader_ends(int /*reader*/) noexcept {}
};

struct LoaderPlan {
    std::filesystem::path file = {};  // DataSet::train
    SampleShape shape = {};
    Sampling sampling = {};  // batch, rank, ranks, seed, shuffle
    int readers = 1;
    int queue_batches = 4;  // at most so many are read ahead
    bool drop_page_cache = false;
    ReaderObserver* observer = nullptr;  // outlives the loader
};

class Loader {
 public:
    // Starts the readers. Throws UsageError for a plan that makes no sense (a global batch larger than the data set, no
    // readers), and what RecordFile throws.
    explicit Loader(const LoaderPlan& plan);
    ~Loader();
    Loader(const Loader&) = delete;
    Loader& operator=(const Loader&) = delete;

    // The next batch of this rank; epochs follow one another without end. Waits until it is there. Throws what stopped
    // a reader: a bad record, a failed read, the observer.
    Batch next();

    // Ends the readers after the record at hand and waits for it; next() then throws. The destructor does it too.
    void stop();

    const SampleShape& shape() const { return file_.shape(); }
    std::int64_t steps_per_epoch() const { return sampler_.steps_per_epoch(); }
    std::int64_t records() const { return file_.records(); }
    int queue_depth() const { return queue_.depth(); }  // batches that wait to be taken
    std::int64_t bytes_read() const { return bytes_read_; }
    // False if it was not asked for, or is impossible because the file lives in memory (tmpfs): no I/O reaches a
    // device.
    bool drops_page_cache() const { return drops_page_cache_; }

 private:
    void run_reader(int reader, const std::stop_token& stop) noexcept;
    void read_batches(int reader, const std::stop_token& stop);

    RecordFile file_;
    Sampler sampler_;
    OrderedQueue<Batch> queue_;
    ReaderObserver* observer_;
    bool drops_page_cache_ = false;
    std::atomic<std::int64_t> bytes_read_ = 0;
    std::vector<std::jthread> readers_;
};

// A whole file in order, cut into batches of at most `samples`: for measuring accuracy on held-out images.
std::vector<Batch> read_all(const RecordFile& file, std::int64_t samples);

}  // namespace ddl
