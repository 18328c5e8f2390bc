// SPDX-License-Identifier: Apache-2.0
// Reports that ranks exchange once a step, in the background: a slot of fixed size for each hook that reports. A rank
// waits only for ranks that are a whole step behind, or `lag` steps.
#pragma once

#include "ddl-workloads/transports/exchange_thread.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <type_traits>
#include <vector>

namespace ddl {

class NewsBoard {
 public:
    // A hook's slot on the board. The board must outlive it.
    template <class News>
    class Slot {
        static_assert(std::is_trivially_copyable_v<News>, "reports travel as bytes");

     public:
        // Sets the report that this rank sends in the next and all later exchanges.
        void post(const News& news) { std::memcpy(board_->mine_.data() + offset_, &news, sizeof news); }

        // The reports received by the last call, in rank order; empty if there are none, as after the first exchange.
        std::vector<News> received() const
        {
            std::vector<News> all(board_->size_ == 0 ? 0 : board_->received_.size() / board_->size_);
            for (std::size_t rank = 0; rank < all.size(); ++rank)
                std::memcpy(&all[rank], board_->received_.data() + rank * board_->size_ + offset_, sizeof(News));
            return all;
        }

     private:
        friend class NewsBoard;
        Slot(NewsBoard& board, std::size_t offset) : board_{&board}, offset_{offset} {}

        NewsBoard* board_;
        std::size_t offset_;
    };

    explicit NewsBoard(ExchangeThread& exchanges) : exchanges_{exchanges} {}

    // Adds a slot. Call before the first exchange, in the same order on all ranks. News{} is sent until something is
    // posted.
    template <class News>
    Slot<News> add()
    {
        const Slot<News> slot{*this, size_};
        size_ += sizeof(News);
        mine_.resize(size_);
        const News none{};
        std::memcpy(mine_.data() + slot.offset_, &none, sizeof none);
        return slot;
    }

    // Call before the first exchange, on all ranks: reports are then received `lag` exchanges after they were sent, so
    // that no rank waits for one that is less than `lag` steps behind.
    void wait_less(std::int64_t lag);

    // Exchanges from sending a report to receiving it.
    std::int64_t lag() const { return lag_; }
    bool waits_less() const { return waits_less_; }

    // Collective. Receives the reports sent `lag` calls earlier and sends those posted since. Does nothing without
    // slots.
    void exchange();

    // Collective. Receives the oldest reports under way. Returns false if there are none.
    bool settle();

 private:
    void send();
    void receive();

    ExchangeThread& exchanges_;
    std::int64_t lag_ = 1;
    bool waits_less_ = false;
    std::size_t size_ = 0;         // bytes of one rank's reports
    std::vector<std::byte> mine_;  // as posted
    std::vector<std::byte> sent_;  // reports being sent; all_ receives those of all ranks
    std::vector<std::byte> all_;
    std::vector<std::byte> received_;
    std::int64_t under_way_ = 0;  // exchanges whose reports are not yet received
    std::future<void> pending_;
};

}  // namespace ddl
