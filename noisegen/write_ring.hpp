// Writes to one file with several in flight, through io_uring; where the kernel or the build has none, one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace noisegen {

class WriteRing {
 public:
    virtual ~WriteRing() = default;

    // Room for one more write? May wait a millisecond for it.
    virtual bool ready() = 0;
    // The buffer must stay as it is until idle(). Only after ready().
    virtual void write(const void* buffer, std::size_t bytes, std::int64_t offset) = 0;
    // Waits until nothing is in flight.
    virtual void idle() = 0;
    virtual std::string name() const = 0;

    // All throw std::system_error if a write fails.
    static std::unique_ptr<WriteRing> make(int file, unsigned depth);
};

}  // namespace noisegen
