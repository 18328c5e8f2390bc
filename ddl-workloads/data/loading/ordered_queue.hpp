// SPDX-License-Identifier: Apache-2.0
// A bounded queue filled by several threads and emptied by one, in the order of tickets, whatever the order of filling.
#pragma once

#include "base/error.hpp"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

namespace ddl {

template <class Item>
class OrderedQueue {
 public:
    // Throws UsageError for a capacity below 1.
    explicit OrderedQueue(int capacity)
    {
        if (capacity < 1) base::fail_usage("a queue for ", capacity, " batches; at least 1 is needed");
        slots_.resize(static_cast<std::size_t>(capacity));
    }

    // Takes the next ticket: 0, 1, 2, ... Waits while `capacity` tickets are taken whose items are not; returns nothing
    // once the queue is closed.
    std::optional<std::int64_t> ticket()
    {
        std::unique_lock lock{mutex_};
        room_.wait(lock, [&] { return closed_ || tickets_ - taken_ < capacity(); });
        if (closed_) return std::nullopt;
        return tickets_++;
    }

    // Stores the ticket's item.
    void put(std::int64_t ticket, Item item)
    {
        {
            const std::lock_guard lock{mutex_};
            slot(ticket) = std::move(item);
            ++depth_;
        }
        filled_.notify_one();
    }

    // Waits for the item of the lowest ticket not yet taken, and takes it. Throws the exception that the queue was
    // closed with.
    Item take()
    {
        std::unique_lock lock{mutex_};
        filled_.wait(lock, [&] { return closed_ || slot(taken_).has_value(); });
        if (failure_) std::rethrow_exception(failure_);
        if (closed_) base::fail("the loader is stopped");
        std::optional<Item> item;
        item.swap(slot(taken_));
        ++taken_;
        --depth_;
        lock.unlock();
        room_.notify_one();
        return std::move(*item);
    }

    // Wakes all waiting threads. Only the first failure is kept.
    void close(const std::exception_ptr& failure = nullptr)
    {
        {
            const std::lock_guard lock{mutex_};
            closed_ = true;
            if (!failure_) failure_ = failure;
        }
        room_.notify_all();
        filled_.notify_all();
    }

    // Items in the queue, including those that wait for items with lower tickets.
    int depth() const
    {
        const std::lock_guard lock{mutex_};
        return depth_;
    }

 private:
    std::int64_t capacity() const { return static_cast<std::int64_t>(slots_.size()); }
    std::optional<Item>& slot(std::int64_t ticket) { return slots_[static_cast<std::size_t>(ticket % capacity())]; }

    mutable std::mutex mutex_;
    std::condition_variable room_;
    std::condition_variable filled_;
    std::vector<std::optional<Item>> slots_;
    std::int64_t tickets_ = 0;  // number of tickets handed out
    std::int64_t taken_ = 0;    // number of items taken
    int depth_ = 0;
    bool closed_ = false;
    std::exception_ptr failure_;
};

}  // namespace ddl
