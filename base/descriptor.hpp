// SPDX-License-Identifier: Apache-2.0
// A file descriptor that closes itself.
#pragma once

#include <utility>

#include <unistd.h>

namespace base {

class Descriptor {
 public:
    Descriptor() = default;
    Descriptor(int number) : number_{number} {}  // a negative number means none
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
    Descriptor& operator=(Descriptor&& other) noexcept
    {
        std::swap(number_, other.number_);
        return *this;
    }

    // The number for system calls; -1 if the descriptor is closed.
    operator int() const { return number_; }

    // Returns the number without closing it; the caller must do so.
    int release() { return std::exchange(number_, -1); }

    // Like close(2); returns 0 if there is nothing to close.
    int close() { return number_ < 0 ? 0 : ::close(std::exchange(number_, -1)); }

 private:
    int number_ = -1;
};

}  // namespace base
