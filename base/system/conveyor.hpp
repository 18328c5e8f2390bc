// SPDX-License-Identifier: Apache-2.0
// Work on its way to a thread of its own, a chunk at a time, in order.
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

// One thread fills chunks, another one works on them. Few are under way at a time: who fills them waits for the other.
// Chunk: clear() empties it and keeps its memory.
template <class Chunk>
class Conveyor {
 public:
    // `meanwhile`: a part of something else, for the other thread to do while there is no chunk. False: there is
    // nothing to do until the next chunk.
    explicit Conveyor(std::function<void(const Chunk&)> work, std::function<bool()> meanwhile = {})
        : work_{std::move(work)}, meanwhile_{std::move(meanwhile)}, thread_{[this] { work_on_all(); }}
    {
    }
    ~Conveyor() { end(); }
    Conveyor(const Conveyor&) = delete;
    Conveyor& operator=(const Conveyor&) = delete;

    // To be filled.
    Chunk& chunk() { return chunk(passed_); }

    // The chunk goes to the other thread; the next one is empty when this returns. Throws what the work threw.
    void pass_on()
    {
        std::unique_lock lock{mutex_};
        ++passed_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return failure_ || passed_ - done_ < most_chunks; });
        if (failure_) std::rethrow_exception(failure_);
    }

    // Passes on what there is; returns when all is worked on. Throws what the work threw.
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
    std::uint64_t passed_ = 0;  // chunks; the next one is being filled
    std::uint64_t done_ = 0;
    bool ended_ = false;
    std::exception_ptr failure_;

    std::thread thread_;
};

}  // namespace base
