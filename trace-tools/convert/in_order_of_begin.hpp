// SPDX-License-Identifier: Apache-2.0
// Reorders operations that complete in any order into the order in which they began: the order in which MPI matches
// messages, and in which all ranks call the collectives of a communicator.
#pragma once

#include "trace-tools/otf2/definitions.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

namespace convert {

// Operations of one location. An operation that never completes delays those after it, until all_done().
template <class Done>
class InOrderOfBegin {
 public:
    void begin(std::uint64_t request, std::int64_t at_ns)
    {
        numbers_[request] = first_ + waiting_.size();
        waiting_.push_back({at_ns, {}});
    }

    // Calls take(begin_ns, done) for this operation and completed ones after it, if no earlier operation is pending.
    // Blocking operations, and those whose start is unknown, begin at `at_ns`.
    template <class Take>
    void finish(std::uint64_t request, std::int64_t at_ns, Done done, const Take& take)
    {
        const auto known = request == otf2::no_request ? numbers_.end() : numbers_.find(request);
        if (known == numbers_.end()) {
            waiting_.push_back({at_ns, std::move(done)});
        } else {
            waiting_[known->second - first_].done = std::move(done);
            numbers_.erase(known);
        }
        for (; !waiting_.empty() && waiting_.front().done; ++first_) take_first(take);
    }

    template <class Take>
    void all_done(const Take& take)
    {
        while (!waiting_.empty()) take_first(take);
        numbers_.clear();
        first_ = 0;
    }

 private:
    struct Waiting {
        std::int64_t begin_ns;
        std::optional<Done> done;
    };

    template <class Take>
    void take_first(const Take& take)
    {
        const Waiting first = std::move(waiting_.front());
        waiting_.pop_front();
        if (first.done) take(first.begin_ns, *first.done);
    }

    std::deque<Waiting> waiting_;
    std::unordered_map<std::uint64_t, std::size_t> numbers_;  // by request: sequence number of the operation
    std::size_t first_ = 0;                                   // sequence number of the first waiting operation
};

}  // namespace convert
