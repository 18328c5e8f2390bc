// SPDX-License-Identifier: Apache-2.0
// How far apart the noise CPUs of a job began the same slots.
#pragma once

#include "base/units.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <vector>

namespace noisegen {

// Over slots: latest minus earliest begin, in ns. On several clocks (nodes) by CLOCK_REALTIME, as they believe it.
struct Skew {
    std::size_t processes = 0;
    std::size_t slots = 0;
    std::int64_t median_ns = 0;
    std::int64_t p99_ns = 0;
    std::int64_t worst_ns = 0;
    bool one_clock = true;
    std::int64_t clock_error_ns = 0;  // of two clocks against each other, as the kernels estimate it
    bool clock_error_known = true;
};

// From noise.csv and noise.json of the processes under `noise`. Slots that a process did not take part in from their
// start (it came late) are left out. Waits for `processes` of them to finish, for as long as `patience`; none if they
// don't. Throws Error for a record that cannot be read.
std::optional<Skew> measure_skew(const std::filesystem::path& noise, std::size_t processes, base::Nanoseconds patience);

// For a job of several processes that have run: `skew_ns` of the record, and a line on `out` if there is one.
void report_skew(const std::filesystem::path& noise, std::size_t processes, bool stopped,
                 nlohmann::ordered_json& record, std::ostream* out);

}  // namespace noisegen
