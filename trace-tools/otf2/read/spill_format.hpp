// SPDX-License-Identifier: Apache-2.0
// The format of events in the file of a Spill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace otf2 {

// An event consists of
// 1. its kind (one byte),
// 2. the ticks since the location's previous event,
// 3. the arguments of its kind, in order.
// Numbers have seven bits a byte, lowest bits first; the high bit is set in all bytes but the last. A chunk of a Merge
// mixes events of all locations, so there 2. is replaced by location and tick in their in-memory representation.
enum class StoredEvent : std::uint8_t {
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

constexpr std::size_t longest_event = 128;  // in bytes, without attributes
constexpr std::size_t longest_attribute = 32;
constexpr unsigned numbers_of_attribute = 3;

// How many numbers follow the ticks, without attributes.
constexpr unsigned numbers_of(StoredEvent kind)
{
    switch (kind) {
        case StoredEvent::enter:
        case StoredEvent::leave:
        case StoredEvent::enter_with_attributes:
        case StoredEvent::leave_with_attributes:
        case StoredEvent::collective_request:
        case StoredEvent::send_complete:
        case StoredEvent::receive_request:
        case StoredEvent::buffer_flush:
            return 1;
        case StoredEvent::metric:
            return 4;
        case StoredEvent::collective_end:
        case StoredEvent::collective_complete:
            return 6;
        case StoredEvent::send:
        case StoredEvent::receive:
            return 5;
        case StoredEvent::collective_begin:
        case StoredEvent::transfer_begin:
        case StoredEvent::transfer_end:
        case StoredEvent::other:
            break;
    }
    return 0;
}

constexpr bool has_attributes(StoredEvent kind)
{
    return kind == StoredEvent::enter_with_attributes || kind == StoredEvent::leave_with_attributes;
}

inline bool is_continued(char byte)
{
    return (static_cast<unsigned char>(byte) & 0x80U) != 0;
}

// Reads the number at `at`, which then points past it.
inline std::uint64_t number_at(const char*& at)
{
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        const char byte = *at++;
        number |= std::uint64_t{static_cast<unsigned char>(byte) & 0x7FU} << shift;
        if (!is_continued(byte)) return number;
    }
}

// Values in their in-memory representation.
template <class Value>
char* put_bytes(char* to, Value value)
{
    std::memcpy(to, &value, sizeof value);
    return to + sizeof value;
}
template <class Value>
Value take_bytes(const char*& at)
{
    Value value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

// Maps signed differences to unsigned numbers such that small magnitudes stay small (zigzag).
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
