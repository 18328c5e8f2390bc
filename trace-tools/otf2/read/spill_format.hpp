// How events are stored in the file of a Spill.
#pragma once

#include "trace-tools/otf2/read/spill.hpp"

#include <cstddef>
#include <cstdint>

namespace otf2 {

// An event is
// 1. its kind, one byte,
// 2. the ticks since the location's previous event,
// 3. the arguments of its kind, in their order.
// Numbers are written seven bits a byte, the low ones first, the last byte without its high bit.
enum class Spill::Kind : std::uint8_t {
    enter,
    leave,
    enter_with_attributes,
    leave_with_attributes,
    metric,
    collective_begin,
    collective_end,
    collective_request,
    collective_complete,
    send,
    send_complete,
    receive_request,
    receive,
    buffer_flush,
    transfer_begin,
    transfer_end,
    other,
};

constexpr std::size_t longest_event = 128;  // bytes without its attributes
constexpr std::size_t longest_attribute = 32;

// Differences of either sign as numbers, small ones small.
inline std::uint64_t folded(std::uint64_t difference)
{
    return difference << 1U ^ (difference >> 63U != 0 ? UINT64_MAX : 0);
}
inline std::uint64_t unfolded(std::uint64_t number)
{
    return number >> 1U ^ ((number & 1U) != 0 ? UINT64_MAX : 0);
}

inline std::uint64_t difference(std::uint64_t later, std::uint64_t earlier)
{
    return folded(later - earlier);
}
inline std::uint64_t difference(std::int64_t later_ns, std::int64_t earlier_ns)
{
    return folded(static_cast<std::uint64_t>(later_ns) - static_cast<std::uint64_t>(earlier_ns));
}
inline std::int64_t later(std::int64_t ns, std::uint64_t difference)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) + unfolded(difference));
}

}  // namespace otf2
