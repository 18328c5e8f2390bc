// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/critical_path/critical_path.hpp"

#include "trace-tools/replay/critical_path/recycled.hpp"

#include <boost/smart_ptr/make_local_shared.hpp>

#include <algorithm>

namespace replay {

struct CriticalPathChain::Segment {
    using Time = std::pair<PathKey, std::int64_t>;
    using Times = std::vector<Time, Recycled<Time>>;
    Times times;
    Position previous;
    std::size_t length = 1;       // number of segments from the start to this one
    std::size_t most_length = 0;  // merge_segments() keeps chains below this length

    ~Segment()  // releases predecessors in a loop: recursion over a long chain could overflow the stack
    {
        while (previous && previous.local_use_count() == 1) previous = std::move(previous->previous);
    }
};

namespace {

constexpr std::size_t few_segments = 256;

template <class Times>
void sum_up(Times& times)
{
    std::ranges::sort(times);
    auto last = times.begin();
    for (auto next = times.begin() + 1; next != times.end(); ++next) {
        if (next->first == last->first)
            last->second += next->second;
        else
            *++last = *next;
    }
    times.erase(last + 1, times.end());
}

}  // namespace

CriticalPathChain::Position CriticalPathChain::position()
{
    if (open_segment_.all().empty()) return last_;
    auto segment = boost::allocate_local_shared<Segment>(Recycled<Segment>{});
    segment->times.reserve(open_segment_.all().size());
    for (const auto& [where, ns] : open_segment_.all()) segment->times.push_back({{where, location_}, ns});
    segment->length = last_ ? last_->length + 1 : 1;
    segment->most_length = last_ ? last_->most_length : few_segments;
    segment->previous = std::move(last_);
    last_ = std::move(segment);
    open_segment_.clear();
    if (last_->length > last_->most_length) merge_segments();
    return last_;
}

// Merges segments with their successors, except those that another path continues.
void CriticalPathChain::merge_segments()
{
    std::size_t length = 0;
    std::size_t times = 0;
    for (Segment* segment = last_.get(); segment != nullptr; segment = segment->previous.get()) {
        bool merged = false;
        while (segment->previous && segment->previous.local_use_count() == 1) {
            const Position unshared = std::move(segment->previous);
            segment->times.insert(segment->times.end(), unshared->times.begin(), unshared->times.end());
            segment->previous = std::move(unshared->previous);
            merged = true;
        }
        if (merged) sum_up(segment->times);
        ++length;
        times += segment->times.size();
    }
    last_->length = length;
    last_->most_length = few_segments + 2 * length + times / 4;
}

void CriticalPathChain::continue_from(const Position& position)
{
    last_ = position;
    open_segment_.clear();
}

PathTimes CriticalPathChain::times() const
{
    PathTimes times;
    for (const auto& [where, ns] : open_segment_.all()) times[{where, location_}] += ns;
    for (const Segment* segment = last_.get(); segment != nullptr; segment = segment->previous.get())
        for (const auto& [key, ns] : segment->times) times[key] += ns;
    return times;
}

}  // namespace replay
