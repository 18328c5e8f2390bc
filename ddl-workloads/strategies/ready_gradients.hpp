// SPDX-License-Identifier: Apache-2.0
// A step's gradients on their way from the thread of backward(), where they become ready in any order, to the transport
// thread, which averages them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

namespace ddl {

class ReadyGradients {
 public:
    struct Ready {
        std::size_t tensor = 0;
        std::span<float> gradient;
        std::int64_t since_ns = 0;
        std::function<void()> arrive = {};  // to be called before the gradient is read, if any
    };

    // How many a step has.
    explicit ReadyGradients(std::size_t tensors) : tensors_{tensors} {}

    // On the thread of backward(). wait(): until all are averaged; throws what the transport thread failed with, or
    // Error if not all became ready.
    void begin_step(std::uint64_t step);
    void add(const Ready& ready);
    void wait();

    // On the transport thread. take(): what became ready since the last call, and its step, for one step's gradients
    // are averaged before the next step's become ready.
    std::vector<Ready> take(std::uint64_t& step);
    void averaged(std::size_t tensors);
    void fail(std::exception_ptr failure);

 private:
    std::size_t tensors_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t step_ = 0;
    std::vector<Ready> queue_;
    std::size_t ready_ = 0;
    std::size_t averaged_ = 0;
    std::exception_ptr failure_;
};

}  // namespace ddl
