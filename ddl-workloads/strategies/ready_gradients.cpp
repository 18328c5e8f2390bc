// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/ready_gradients.hpp"

#include "base/error.hpp"

#include <utility>

namespace ddl {

void ReadyGradients::begin_step(std::uint64_t step)
{
    const std::lock_guard lock{mutex_};
    step_ = step;
    ready_ = 0;
    averaged_ = 0;
}

void ReadyGradients::add(const Ready& ready)
{
    const std::lock_guard lock{mutex_};
    ++ready_;
    queue_.push_back(ready);
}

void ReadyGradients::wait()
{
    std::unique_lock lock{mutex_};
    if (ready_ != tensors_) base::fail(tensors_ - ready_, " gradients did not become ready");
    changed_.wait(lock, [this] { return averaged_ == tensors_ || failure_; });
    if (failure_) std::rethrow_exception(failure_);
}

std::vector<ReadyGradients::Ready> ReadyGradients::take(std::uint64_t& step)
{
    const std::lock_guard lock{mutex_};
    step = step_;
    return std::exchange(queue_, {});
}

void ReadyGradients::averaged(std::size_t tensors)
{
    const std::lock_guard lock{mutex_};
    averaged_ += tensors;
    if (averaged_ == tensors_) changed_.notify_one();
}

void ReadyGradients::fail(std::exception_ptr failure)
{
    const std::lock_guard lock{mutex_};
    failure_ = std::move(failure);
    changed_.notify_one();
}

}  // namespace ddl
