// SPDX-License-Identifier: Apache-2.0
// Hands chunks of work to another thread, in order.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace base {

// One thread fills chunks, another one processes them. Few chunks are in flight at a time: the filling thread waits for
// the other. Chunk::clear() must empty a chunk but keep its memory.
template <class Chunk>
class Conveyor {
 public:
    // `meanwhile`: a piece of other work that the second thread does while there is no chunk. It returns false if there
    // is nothing to do until the next chunk.
    explicit Conveyor(std::function<void(const Chunk&)> work, std::function<bool()> meanwhile = {})
        : work_{std::move(work)}, meanwhile_{std::move(meanwhile)}, thread_{[this] { work_on_all(); }}
    {
    }
    ~Conveyor() { end(); }
    Conveyor(const Conveyor&) = delete;
    Conveyor& operator=(const Conveyor&) = delete;

    // The chunk to fill.
    Chunk& chunk() { return chunk(passed_); }

    // Hands the chunk to the other thread; afterwards chunk() is the next one, empty. Rethrows exceptions of the work.
    void pass_on()
    {
        std::unique_lock lock{mutex_};
        ++passed_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return failure_ || passed_ - done_ < most_chunks; });
        if (failure_) std::rethrow_exception(failure_);
    }

    // Hands over the last chunk and returns when all chunks are processed. Rethrows exceptions of the work.
    void finish()
    {
        pass_on();
        end();
        if (failure_) std::rethrow_exception(failure_);
    }

 private:
    static constexpr std::uint64_t most_chunks = 4;

    Chunk& chunk(std::uint64_t number) { return chunks_[number % most_chunks]; }

    void end()
    {
        if (!thread_.joinable()) return;
        {
            const std::scoped_lock lock{mutex_};
            ended_ = true;
            changed_.notify_all();
        }
        thread_.join();
    }

    void work_on_all()
    try {
        std::unique_lock lock{mutex_};
        for (;; ++done_, changed_.notify_all()) {
            wait_for_work(lock);
            if (done_ == passed_) return;
            Chunk& next = chunk(done_);
            lock.unlock();
            work_(next);
            next.clear();
            lock.lock();
        }
    } catch (...) {
        const std::scoped_lock lock{mutex_};
        failure_ = std::current_exception();
        changed_.notify_all();
    }

    void wait_for_work(std::unique_lock<std::mutex>& lock)
    {
        const auto is_over = [&] { return done_ < passed_ || ended_; };
        for (bool more = meanwhile_ != nullptr; more && !is_over();) {
            lock.unlock();
            more = meanwhile_();
            lock.lock();
        }
        changed_.wait(lock, is_over);
    }

    std::function<void(const Chunk&)> work_;
    std::function<bool()> meanwhile_;
    std::array<Chunk, most_chunks> chunks_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t passed_ = 0;  // number of chunks passed on; the next one is being filled
    std::uint64_t done_ = 0;
    bool ended_ = false;
    std::exception_ptr failure_;

    std::thread thread_;
};

}  // namespace base
