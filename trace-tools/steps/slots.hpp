// SPDX-License-Identifier: Apache-2.0
// The slots of a noise process, from its archive: which factors were assigned when, for the whole job.
#pragma once

#include "base/contract/roles.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace otf2 {

// A factor that is on, and its level.
struct Assigned {
    std::string factor;                       // its label
    std::string level;                        // empty if it has no levels
    std::string stressor;                     // "memory.stream"
    base::Role role = base::Role::treatment;  // default if the archive states no role

    bool operator==(const Assigned&) const = default;
};

struct Slot {
    std::int64_t block = 0;
    std::int64_t begin_ns = 0;  // on the node's clock
    std::int64_t end_ns = 0;
    std::vector<Assigned> on{};  // sorted by factor; empty: quiet
    std::int64_t position = 0;   // in its block
};

// Returns the first location named "schedule" among those of the first `processes` processes; nowhere if there is none.
std::uint32_t schedule_location(const Archive& archive, std::size_t processes = SIZE_MAX);

// Collects the slots of one location.
class SlotReader : public Visitor {
 public:
    // Both arguments must outlive this object.
    SlotReader(const Archive& archive, std::uint32_t location);

    // Throws Error for an unknown role.
    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void leave(const At& at, std::uint32_t region, const EventAttributes& attributes) override;

    std::vector<Slot> slots;

 private:
    const Archive& archive_;
    std::uint32_t location_;
    std::optional<std::uint32_t> block_;
    std::optional<std::uint32_t> position_;
    std::optional<std::uint32_t> level_;
    std::optional<std::uint32_t> stressor_;
    std::optional<std::uint32_t> role_;
    int depth_ = 0;  // simultaneous factors are nested regions
};

}  // namespace otf2
