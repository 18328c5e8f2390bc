// SPDX-License-Identifier: Apache-2.0
// Reads and writes of one file with several in flight, through io_uring; where that is not wanted or not there, one
// after the other.
#pragma once

#include "noisegen/stressors/pages.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace noisegen {

// One block read or written.
struct Transfer {
    enum class Kind { read, write };
    Kind kind = Kind::read;
    std::int64_t offset = 0;
};

class IoRing {
 public:
    enum class Engine { automatic, io_uring, pread };
    // Throws UsageError for another word than auto, io_uring or pread.
    static Engine engine(const std::string& word);

    struct Setup {
        int file = -1;
        std::size_t block = 0;  // bytes of each transfer
        unsigned depth = 1;     // transfers in flight at most
        Engine engine = Engine::automatic;
        std::string place = {};  // where the file is, for errors
        PageSize pages = PageSize::huge;
    };
    // To be used by the calling thread alone. Throws Unavailable if io_uring is asked for by name and not there.
    static std::unique_ptr<IoRing> make(const Setup& setup);

    virtual ~IoRing() = default;
    IoRing(const IoRing&) = delete;
    IoRing& operator=(const IoRing&) = delete;

    unsigned depth() const { return depth_; }
    unsigned in_flight() const { return in_flight_; }
    // Smoothed time from the start of a transfer to its end.
    std::int64_t latency_ns() const { return latency_ns_; }

    // Sets the bytes of each transfer, a block at most. Only while none is in flight.
    void transfer_bytes(std::size_t bytes) { bytes_ = bytes; }

    // Goes to the kernel with the next take(). Only while fewer than depth() are in flight.
    virtual void start(Transfer transfer) = 0;

    // Waits until `least` transfers are done, but not much longer than `patience_ns`; returns what was done since the
    // last call. Throws std::system_error for a transfer that failed.
    virtual Work take(unsigned least, std::int64_t patience_ns) = 0;

    // Nothing is in flight after it. What it waits for is not counted.
    virtual void settle() = 0;

    virtual std::string name() const = 0;

 protected:
    explicit IoRing(const Setup& setup);
    // Each transfer in flight has memory of its own.
    char* memory(unsigned slot) const { return static_cast<char*>(buffer_.data()) + slot * block_; }
    void ended(std::int64_t took_ns);
    void add(Work& work, Transfer::Kind kind, std::int64_t result, int code) const;

    int file_;
    std::size_t block_;
    std::size_t bytes_;  // of a transfer
    unsigned depth_;
    unsigned in_flight_ = 0;

 private:
    std::string place_;
    Pages buffer_;
    std::int64_t latency_ns_ = 0;
};

}  // namespace noisegen
