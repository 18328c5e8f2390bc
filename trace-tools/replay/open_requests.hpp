// SPDX-License-Identifier: Apache-2.0
// Open requests by number. Numbers usually increase, so the newest request is the last entry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace replay {

template <class Operation>
class OpenRequests {
 public:
    // Replaces an open operation with the same number.
    void open(std::uint64_t request, Operation operation)
    {
        const auto entry = find(request);
        if (entry != entries_.end() && entry->request == request)
            entry->operation = std::move(operation);
        else
            entries_.insert(entry, {.request = request, .operation = std::move(operation)});
    }

    std::optional<Operation> close(std::uint64_t request)
    {
        const auto entry = find(request);
        if (entry == entries_.end() || entry->request != request || !entry->operation) return std::nullopt;
        std::optional<Operation> operation = std::exchange(entry->operation, std::nullopt);
        if (++closed_ > entries_.size() / 2) {
            std::erase_if(entries_, [](const Entry& one) { return !one.operation; });
            closed_ = 0;
        }
        return operation;
    }

 private:
    struct Entry {
        std::uint64_t request = 0;
        std::optional<Operation> operation;  // none: closed
    };

    auto find(std::uint64_t request)
    {
        if (entries_.empty() || entries_.back().request < request) return entries_.end();
        const auto less = [](const Entry& entry, std::uint64_t number) { return entry.request < number; };
        return std::lower_bound(entries_.begin(), entries_.end(), request, less);
    }

    std::vector<Entry> entries_;
    std::size_t closed_ = 0;
};

}  // namespace replay
