// SPDX-License-Identifier: Apache-2.0
// Skew of slot begins between the noise CPUs of a job.
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

// Skew over slots: latest minus earliest start, in ns. If nodes have different clocks, times are compared by
// CLOCK_REALTIME as each node believes it to be.
struct Skew {
    std::size_t processes = 0;
    std::size_t slots = 0;
    std::int64_t median_ns = 0;
    std::int64_t p99_ns = 0;
    std::int64_t worst_ns = 0;
    bool one_clock = true;
    std::int64_t clock_error_ns = 0;  // error of one clock relative to another, as the kernels estimate it
    bool clock_error_known = true;
};

// Skew from noise.csv and noise.json of the processes under `noise`. Slots that a process joined late are left out.
// Waits up to `patience` for `processes` of them to finish; returns none if they do not. Throws Error for a record that
// cannot be read.
std::optional<Skew> measure_skew(const std::filesystem::path& noise, std::size_t processes, base::Nanoseconds patience);

// For a finished job of several processes: adds `skew_ns` to the record, and prints a line to `out` unless it is null.
void report_skew(const std::filesystem::path& noise, std::size_t processes, bool stopped,
                 nlohmann::ordered_json& record, std::ostream* out);

}  // namespace noisegen
