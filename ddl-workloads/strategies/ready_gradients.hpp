// SPDX-License-Identifier: Apache-2.0
// Hands a step's gradients from the thread of backward(), where they become ready in any order, to the transport
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
        std::function<void()> arrive = {};  // if set, must be called before the gradient is read
    };

    // `tensors`: gradients per step.
    explicit ReadyGradients(std::size_t tensors) : tensors_{tensors} {}

    // For the thread of backward(). wait() returns when all gradients are averaged; it throws the transport thread's
    // failure, or Error if not all gradients became ready.
    void begin_step(std::uint64_t step);
    void add(const Ready& ready);
    void wait();

    // For the transport thread. take() returns the gradients that became ready since its last call, and their step; all
    // gradients of a step are averaged before the next step's become ready.
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
