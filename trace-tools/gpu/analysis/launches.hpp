// SPDX-License-Identifier: Apache-2.0
// Finds the host call that started work on a stream: by the attribute `correlation` of both; otherwise, if calls name
// their stream as Score-P's do (by an attribute that refers to a location), the n-th launch on a stream belongs to its
// n-th kernel.
#pragma once

#include "base/contract/trace_names.hpp"
#include "trace-tools/gpu/analysis/accelerators.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <boost/smart_ptr/local_shared_ptr.hpp>
#include <boost/smart_ptr/make_local_shared.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace gpu {

struct Launch {
    std::uint32_t location = otf2::nowhere;  // location of the call
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = INT64_MAX;  // INT64_MAX until the call ends
};

// SomeLaunch is a Launch or derived from it. Events must come in time order.
template <class SomeLaunch>
class Launches {
 public:
    using Pointer = boost::local_shared_ptr<SomeLaunch>;

    Launches(const otf2::Archive& archive, const Accelerators& accelerators)
        : accelerators_{accelerators}, correlation_{archive.find_attribute(base::attribute::correlation)}
    {
        for (std::uint32_t i = 0; i < archive.locations.size(); ++i)
            if (accelerators.is_stream(i)) stream_of_.emplace(archive.locations[i].id, i);
    }

    // Call when a host call begins; returns null if it cannot start work. The caller sets end_ns when the call ends.
    Pointer begin_call(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes)
    {
        if (attributes.size() == 0) return {};
        if (const auto number = correlation(attributes)) {
            const Key key{accelerators_.user_of[at.location], *number};
            if (const auto waiting = without_launch_.find(key); waiting != without_launch_.end()) {
                early_ += waiting->second;
                without_launch_.erase(waiting);
            }
            const auto [place, added] = by_correlation_.try_emplace(key);
            if (added)
                oldest_.push_back(key);
            else if (place->second->end_ns == INT64_MAX)
                return place->second;  // a runtime call and the driver call inside it have the same correlation
            const Pointer launch = place->second = begun(at);
            forget_oldest();
            return launch;
        }
        if (accelerators_.call_of[region] != Call::launch) return {};
        const auto stream = stream_said(attributes);
        if (!stream) return {};
        std::deque<Pointer>& waiting = by_stream_[*stream];
        if (waiting.size() == most) waiting.pop_front();
        return waiting.emplace_back(begun(at));
    }

    // The launch of the work that begins on the stream; null: unknown.
    Pointer of(const otf2::At& at, StreamWork work, const otf2::EventAttributes& attributes)
    {
        if (const auto number = correlation(attributes)) {
            const Key key{accelerators_.user_of[at.location], *number};
            const auto found = by_correlation_.find(key);
            if (found != by_correlation_.end()) return found->second;
            const bool kernel = work == StreamWork::compute || work == StreamWork::exchange;
            if (kernel && without_launch_.size() < most) ++without_launch_[key];
            return {};
        }
        if (work == StreamWork::copy || work == StreamWork::none) return {};
        const auto found = by_stream_.find(at.location);
        if (found == by_stream_.end() || found->second.empty()) return {};
        Pointer launch = std::move(found->second.front());
        found->second.pop_front();
        return launch;
    }

    // Number of kernels that began before their launching call, which indicates a wrong clock.
    std::uint64_t early() const { return early_; }

    // The stream that a call names, as Score-P's calls do.
    std::optional<std::uint32_t> stream_said(const otf2::EventAttributes& attributes) const
    {
        const auto id = attributes.location();
        const auto found = id ? stream_of_.find(*id) : stream_of_.end();
        return found == stream_of_.end() ? std::nullopt : std::optional{found->second};
    }

 private:
    using Key = std::pair<std::uint32_t, std::uint64_t>;  // process, correlation
    static constexpr std::size_t most = 65536;            // largest number of launches kept

    std::optional<std::uint64_t> correlation(const otf2::EventAttributes& attributes) const
    {
        return correlation_ && attributes.size() > 0 ? attributes.number(*correlation_) : std::nullopt;
    }
    static Pointer begun(const otf2::At& at)
    {
        const Pointer launch = boost::make_local_shared<SomeLaunch>();
        launch->location = at.location;
        launch->begin_ns = at.time_ns;
        return launch;
    }
    void forget_oldest()
    {
        for (; oldest_.size() > most; oldest_.pop_front()) by_correlation_.erase(oldest_.front());
    }

    const Accelerators& accelerators_;
    std::optional<std::uint32_t> correlation_;
    std::unordered_map<std::uint64_t, std::uint32_t> stream_of_;  // by OTF2's location id
    std::map<Key, Pointer> by_correlation_;
    std::map<Key, std::uint64_t> without_launch_;  // number of kernels so far
    std::uint64_t early_ = 0;
    std::deque<Key> oldest_;
    std::map<std::uint32_t, std::deque<Pointer>> by_stream_;  // by location
};

}  // namespace gpu
