// SPDX-License-Identifier: Apache-2.0
// Visits the events of an archive twice but reads it with OTF2 only once: first location by location, storing the
// events in a temporary file; then in time order, from that file. This is faster than reading twice.
#pragma once

#include "trace-tools/otf2/aside/merged_ahead.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/read/spill.hpp"

#include <deque>
#include <optional>
#include <span>

namespace otf2 {

class EventsAside {
 public:
    // Reads all events like Reader::read_by_location(), with one thread for each visitor. Stores them in the directory
    // for temporary files (TMPDIR), about half the archive's size. Throws the same errors.
    EventsAside(Reader& reader, std::span<Visitor* const> visitors);

    // Visits all events in time order, like Reader::read(); call once. Reads the archive again if the events could not
    // be stored. `with_a_thread`: a separate thread does the sorting.
    void read(Visitor& visitor, bool with_a_thread = false);

    // See MergedAhead::help().
    bool help() { return in_order_ && in_order_->help(); }

 private:
    Reader& reader_;
    std::deque<Spill> spills_;
    std::optional<MergedAhead> in_order_;  // none: events could not be stored
};

}  // namespace otf2
