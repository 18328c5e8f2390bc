// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/critical_path/delay_replay.hpp"

#include "trace-tools/replay/critical_path/recycled.hpp"

#include <boost/smart_ptr/make_local_shared.hpp>

#include <utility>

namespace replay {

DelayReplay::DelayReplay(std::size_t locations, How how, const otf2::Part& part)
{
    if (!how.enabled) return;
    analysis_.emplace(locations, part);
    arrivals_.resize(locations);
    linked_.resize(locations);
    if (how.threads > 1)
        stage_.emplace(
            [this](const std::vector<Call>& calls) {
                for (const Call& call : calls) std::visit([this](const auto& one) { one(*analysis_); }, call);
            },
            std::move(how.meanwhile));
}

template <class Snapshot>
Snapshot* DelayReplay::Places<Snapshot>::take()
{
    if (free_.empty()) {
        free_.push_back(&all_.emplace_back());
        if (free_.capacity() < all_.size()) free_.reserve(2 * all_.size());
    }
    Snapshot* const place = free_.back();
    free_.pop_back();
    return place;
}

// Returns the snapshot that `take` takes of the analysis: now, or later in the separate thread, if there is one. Then
// it is stored in one of `places`, which is reused when the snapshot is no longer needed.
template <class Snapshot, class Take>
boost::local_shared_ptr<const Snapshot> DelayReplay::taken(Take take, Places<Snapshot>& places)
{
    if (!stage_) return boost::allocate_local_shared<const Snapshot>(Recycled<Snapshot>{}, take.taken(*analysis_));
    const auto forget = [this, &places](Snapshot* place) noexcept {
        try {
            carry_out(Forget<Snapshot>{place});
        } catch (...) {  // an exception of the other thread is also thrown by the next call
        }
        places.give_back(place);
    };
    take.snapshot = places.take();
    const boost::local_shared_ptr<const Snapshot> snapshot{take.snapshot, forget, Recycled<Snapshot>{}};
    add(take);
    return snapshot;
}

Arrival DelayReplay::arrival(std::uint32_t location, std::int64_t call_ns)
{
    if (!enabled()) return {.ns = call_ns, .location = location, .snapshot = nullptr};
    auto& snapshot = arrivals_[location];
    if (!snapshot) snapshot = taken(Arrive{location, call_ns, nullptr}, arrival_places_);
    return {.ns = call_ns, .location = location, .snapshot = snapshot};
}

Handoff DelayReplay::hand_off(std::uint32_t location)
{
    linked_[location] = true;
    return {.location = location, .snapshot = taken(HandOff{location, nullptr}, handoff_places_)};
}

Handoff DelayReplay::hand_over(std::uint32_t location)
{
    linked_[location] = true;
    return {.location = location, .snapshot = taken(HandOff{location, nullptr, true}, handoff_places_)};
}

void DelayReplay::finish()
{
    if (!stage_) return;
    stage_->finish();
    stage_.reset();
}

}  // namespace replay
