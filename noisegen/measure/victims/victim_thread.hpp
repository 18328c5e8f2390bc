// SPDX-License-Identifier: Apache-2.0
// The thread of a victim, on a CPU of its own.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <future>
#include <thread>

namespace noisegen {

class VictimThread {
 public:
    // Called in the thread, so that its memory is near: allocates what it needs, calls wait_for_start(), and works
    // until is_over().
    using Work = std::function<void(VictimThread&)>;

    // Waits until the work calls wait_for_start(). Throws what the work throws before that.
    VictimThread(int cpu, Work work);
    ~VictimThread();
    VictimThread(const VictimThread&) = delete;
    VictimThread& operator=(const VictimThread&) = delete;

    void start();
    // Throws what the work threw after its start.
    void stop();

    void wait_for_start();
    bool is_over() const { return over_; }

 private:
    void run(int cpu, const Work& work);
    void end();

    std::promise<void> made_;
    std::promise<void> go_;
    bool waited_ = false;  // read and written by the thread only
    std::atomic<bool> over_ = false;
    bool started_ = false;
    std::exception_ptr error_;
    std::thread thread_;
};

}  // namespace noisegen
