// SPDX-License-Identifier: Apache-2.0
// A small victim on a CPU of its own that measures its memory access, and optionally a disk and loopback, in slices of
// a few milliseconds.
#pragma once

#include "base/units.hpp"
#include "noisegen/measure/victims/victim_thread.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace noisegen {

struct Slice {
    enum class Kind {
        read,     // sums an array larger than the last-level cache; amount: bytes
        chase,    // dependent loads across such an array; amount: loads
        cache,    // dependent loads across an eighth of the last-level cache, which is warm; amount: loads
        write,    // only with `scratch`: writes of 64 KiB past the page cache; amount: writes
        message,  // only with `scratch`: 64 KiB over loopback; amount: messages
    };
    static constexpr std::size_t kinds = 5;
    Kind kind = Kind::read;
    std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC
    std::int64_t end_ns = 0;
    std::int64_t cpu_ns = 0;  // CPU time of the thread in the slice
    double amount = 0.0;
};

class Victim {
 public:
    struct Setup {
        int cpu = 0;
        base::Bytes array;  // size of each of the two large arrays
        base::Bytes cached;
        base::Nanoseconds slice{5'000'000};
        std::filesystem::path scratch = {};  // directory to write to; empty: neither writes nor sends messages
    };
    // "auto" is the size of beyond_caches(). Throws UsageError for less than a MiB.
    static Setup setup(int cpu, const std::string& array);

    // Makes the arrays in a thread bound to the CPU and waits until they are ready. Throws what the thread throws.
    explicit Victim(const Setup& setup);

    void start() { thread_.start(); }
    // Ends the victim and returns its slices in order of time. Throws what the thread threw.
    std::vector<Slice> stop();

    static base::Bytes memory(const Setup& setup) { return {2 * setup.array.count + setup.cached.count}; }

 private:
    void work(VictimThread& thread);

    Setup setup_;
    std::vector<Slice> slices_;
    VictimThread thread_;
};

}  // namespace noisegen
