// SPDX-License-Identifier: Apache-2.0
// A file descriptor that closes itself.
#pragma once

#include <utility>

#include <unistd.h>

namespace base {

class Descriptor {
 public:
    Descriptor() = default;
    Descriptor(int number) : number_{number} {}  // a negative one is none
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
    Descriptor& operator=(Descriptor&& other) noexcept
    {
        std::swap(number_, other.number_);
        return *this;
    }

    // The number for system calls; -1 if it is closed.
    operator int() const { return number_; }

    // Somebody else closes it.
    int release() { return std::exchange(number_, -1); }

    // Like close(2); 0 where there is none.
    int close() { return number_ < 0 ? 0 : ::close(std::exchange(number_, -1)); }

 private:
    int number_ = -1;
};

}  // namespace base
