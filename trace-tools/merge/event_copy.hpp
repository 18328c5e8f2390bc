// SPDX-License-Identifier: Apache-2.0
// Copies a location's events to another archive unchanged, with the location's own reference numbers and clock; only
// ticks are converted. The new archive's local definitions map numbers and times.
// Includes OTF2's headers: for use within merge/ only.
#pragma once

#include <otf2/otf2.h>

#include <array>
#include <cstdint>
#include <functional>
#include <set>

namespace merge {

// Ticks per second in the input and in the output.
struct Resolution {
    std::uint64_t read = 1;
    std::uint64_t written = 1;

    // Rounds down, which keeps the order of times.
    std::uint64_t operator()(std::uint64_t tick) const
    {
        if (read == written) return tick;
        __extension__ using Product = unsigned __int128;
        return static_cast<std::uint64_t>(Product{tick} * written / read);
    }
};

struct CopiedEvents {
    std::uint64_t events = 0;
    std::uint64_t unknown = 0;         // events of kinds unknown to this OTF2, not copied
    std::uint64_t first = UINT64_MAX;  // in output ticks
    std::uint64_t last = 0;
    std::set<OTF2_MetricRef> metrics;
};

// New numbers of I/O paradigms, by old number. Events carry them, because OTF2 has no local mapping table for them.
using IoParadigms = std::array<OTF2_IoParadigmRef, UINT8_MAX + 1>;

// Reads until the end of `events`, whose local definitions have not been read. Throws Error for events that cannot be
// read or written, and for more than `most_events`. progress() is called from time to time with the number of new
// events.
CopiedEvents copy_events(OTF2_Reader* reader, OTF2_EvtReader* events, OTF2_EvtWriter* writer,
                         const IoParadigms& io_paradigms, const Resolution& resolution, std::uint64_t most_events,
                         const std::function<void(std::uint64_t)>& progress);

}  // namespace merge
