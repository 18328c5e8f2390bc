// SPDX-License-Identifier: Apache-2.0
// Activities of a GPU's host that may explain why the GPU has nothing to compute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpu {

enum class HostState : std::uint8_t { input, exchange, synchronises };

struct HostSpan {
    HostState state = HostState::input;
    std::uint32_t location = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = INT64_MAX;  // still open
};

// States of one process. States of a location may be nested.
class HostSpans {
 public:
    void begin(HostState state, std::uint32_t location, std::int64_t now_ns)
    {
        spans_.push_back({state, location, now_ns, INT64_MAX});
    }
    // Ends the location's most recent open state of that kind.
    void end(HostState state, std::uint32_t location, std::int64_t now_ns)
    {
        for (std::size_t i = spans_.size(); i-- > 0;) {
            HostSpan& span = spans_[i];
            if (span.state != state || span.location != location || span.end_ns != INT64_MAX) continue;
            span.end_ns = now_ns;
            return;
        }
    }
    void forget_until(std::int64_t time_ns)
    {
        std::erase_if(spans_, [&](const HostSpan& span) { return span.end_ns <= time_ns; });
    }
    bool any(HostState state, std::int64_t time_ns) const
    {
        return any(state, time_ns, [](std::uint32_t) { return true; });
    }
    bool at(HostState state, std::uint32_t location, std::int64_t time_ns) const
    {
        return any(state, time_ns, [&](std::uint32_t own) { return own == location; });
    }
    const std::vector<HostSpan>& all() const { return spans_; }

 private:
    template <class Where>
    bool any(HostState state, std::int64_t time_ns, const Where& where) const
    {
        for (const HostSpan& span : spans_)
            if (span.state == state && span.begin_ns <= time_ns && time_ns < span.end_ns && where(span.location))
                return true;
        return false;
    }

    std::vector<HostSpan> spans_;
};

}  // namespace gpu
