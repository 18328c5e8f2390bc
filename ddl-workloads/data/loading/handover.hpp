// SPDX-License-Identifier: Apache-2.0
// A first-in first-out queue between threads, without a bound of its own: its producers are limited elsewhere.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace ddl {

template <class Item>
class Handover {
 public:
    void put(Item item)
    {
        {
            const std::lock_guard lock{mutex_};
            items_.push_back(std::move(item));
        }
        filled_.notify_one();
    }

    // Waits for an item; returns nothing once the queue is closed.
    std::optional<Item> take()
    {
        std::unique_lock lock{mutex_};
        filled_.wait(lock, [&] { return closed_ || !items_.empty(); });
        if (closed_) return std::nullopt;
        std::optional<Item> item{std::move(items_.front())};
        items_.pop_front();
        return item;
    }

    void close()
    {
        {
            const std::lock_guard lock{mutex_};
            closed_ = true;
        }
        filled_.notify_all();
    }

 private:
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<Item> items_;
    bool closed_ = false;
};

}  // namespace ddl
