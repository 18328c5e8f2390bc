// Requests that are open, by their number. These mostly grow, so that the newest is the last.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace otf2 {

template <class What>
class OpenRequests {
 public:
    // Instead of what has this number, if anything.
    void open(std::uint64_t request, What what)
    {
        const auto place = find(request);
        if (place != entries_.end() && place->request == request)
            place->what = std::move(what);
        else
            entries_.insert(place, {.request = request, .what = std::move(what)});
    }

    std::optional<What> close(std::uint64_t request)
    {
        const auto place = find(request);
        if (place == entries_.end() || place->request != request || !place->what) return std::nullopt;
        std::optional<What> what = std::exchange(place->what, std::nullopt);
        if (++closed_ > entries_.size() / 2) {
            std::erase_if(entries_, [](const Entry& entry) { return !entry.what; });
            closed_ = 0;
        }
        return what;
    }

 private:
    struct Entry {
        std::uint64_t request = 0;
        std::optional<What> what;  // none: closed
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

}  // namespace otf2
