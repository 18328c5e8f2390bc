// SPDX-License-Identifier: Apache-2.0
// Reads and writes of one file with several in flight, by io_uring; one at a time by pread and pwrite if io_uring is
// not wanted or not available.
#pragma once

#include "noisegen/stressors/pages.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace noisegen {

// The read or write of one block.
struct Transfer {
    enum class Kind { read, write };
    Kind kind = Kind::read;
    std::int64_t offset = 0;
};

class IoRing {
 public:
    enum class Engine { automatic, io_uring, pread };
    // Throws UsageError for words other than auto, io_uring and pread.
    static Engine engine(const std::string& word);

    struct Setup {
        int file = -1;
        std::size_t block = 0;  // maximum bytes of a transfer
        unsigned depth = 1;     // maximum number of transfers in flight
        Engine engine = Engine::automatic;
        std::string place = {};  // path of the file, for errors
        PageSize pages = PageSize::huge;
    };
    // Only the calling thread may use the result. Throws Unavailable if io_uring is requested by name and not
    // available.
    static std::unique_ptr<IoRing> make(const Setup& setup);

    virtual ~IoRing() = default;
    IoRing(const IoRing&) = delete;
    IoRing& operator=(const IoRing&) = delete;

    unsigned depth() const { return depth_; }
    unsigned in_flight() const { return in_flight_; }
    // Smoothed duration of a transfer.
    std::int64_t latency_ns() const { return latency_ns_; }

    // Sets the bytes of each transfer, at most a block. Call it only while no transfer is in flight.
    void transfer_bytes(std::size_t bytes) { bytes_ = bytes; }

    // Queues a transfer, which take() submits to the kernel. Call it only while fewer than depth() are in flight.
    virtual void start(Transfer transfer) = 0;

    // Waits until `least` transfers are done, but not much longer than `patience_ns`; returns the work done since the
    // last call. Throws std::system_error if a transfer failed.
    virtual Work take(unsigned least, std::int64_t patience_ns) = 0;

    // Waits for all transfers in flight, without counting them.
    virtual void settle() = 0;

    virtual std::string name() const = 0;

 protected:
    explicit IoRing(const Setup& setup);
    // Each transfer in flight has a buffer of its own.
    char* memory(unsigned slot) const { return static_cast<char*>(buffer_.data()) + slot * block_; }
    void ended(std::int64_t took_ns);
    void add(Work& work, Transfer::Kind kind, std::int64_t result, int code) const;

    int file_;
    std::size_t block_;
    std::size_t bytes_;  // bytes of each transfer
    unsigned depth_;
    unsigned in_flight_ = 0;

 private:
    std::string place_;
    Pages buffer_;
    std::int64_t latency_ns_ = 0;
};

}  // namespace noisegen
