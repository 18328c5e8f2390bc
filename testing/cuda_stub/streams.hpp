// SPDX-License-Identifier: Apache-2.0
// CUDA streams and events: each stream executes its work in order, on a thread of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

namespace cuda_stub {

class StubStream {
 public:
    explicit StubStream(int device);
    StubStream(const StubStream&) = delete;
    StubStream& operator=(const StubStream&) = delete;

    void close();  // deletes the stream when all its work is done

    int device() const { return device_; }
    void add(std::function<void()> work);
    bool idle();
    void wait_until_idle();
    static void wait_for_all_of(int device);

 private:
    ~StubStream() = default;
    void work();
    std::function<void()> take();

    int device_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> line_;
    bool working_ = false;
    bool closing_ = false;
};

class StubEvent {
 public:
    // The event completes when the stream reaches this point. May be called again for a new point.
    void record(StubStream& stream);
    bool done();
    void wait() { wait_for(recorded()); }
    std::int64_t recorded();
    void wait_for(std::int64_t recording);
    std::int64_t time_ns();  // when the stream reached it

 private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::int64_t recorded_ = 0;
    std::int64_t done_ = 0;
    std::int64_t time_ns_ = 0;
};

}  // namespace cuda_stub
