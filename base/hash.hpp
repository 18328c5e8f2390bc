// SPDX-License-Identifier: Apache-2.0
// A hash that is the same on every machine and in every version, for names and for comparing contents.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

namespace base {

// Fowler, Noll and Vo's FNV-1a, 64 bits.
class Fnv1a {
 public:
    void add(std::span<const std::byte> bytes)
    {
        for (const std::byte byte : bytes) hash_ = (hash_ ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
    }
    std::uint64_t value() const { return hash_; }

    // Sixteen hexadecimal digits.
    std::string text() const
    {
        std::array<char, 17> digits{};
        std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash_));
        return digits.data();
    }

 private:
    std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace base
