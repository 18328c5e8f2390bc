// SPDX-License-Identifier: Apache-2.0
// One reading of an archive for two looks at its events: location by location, and then, from a file to which they were
// stored meanwhile, in the order of time. That takes less than to read them twice with OTF2.
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
    // Reads all events as Reader::read_by_location() does, by a thread for each visitor. They are stored in the
    // directory for temporary files (TMPDIR), which takes about half the archive's size. Throws as that does.
    EventsAside(Reader& reader, std::span<Visitor* const> visitors);

    // All events in the order of time, as Reader::read(), once. Reads the archive again where there was no place to put
    // them aside. `with_a_thread`: one of its own puts them in order.
    void read(Visitor& visitor, bool with_a_thread = false);

    // See MergedAhead.
    bool help() { return in_order_ && in_order_->help(); }

 private:
    Reader& reader_;
    std::deque<Spill> spills_;
    std::optional<MergedAhead> in_order_;  // none: there was no place
};

}  // namespace otf2
