// Time by place and location along a chain of causes that grows at one end and branches: every location of a trace has
// one, and takes over another's when it waited for it.
#pragma once

#include "trace-tools/otf2/archive.hpp"
#include "trace-tools/profile/time_sums.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace otf2 {

struct PathKey {
    std::uint32_t where = 0;     // as in TimeSums
    std::uint32_t location = 0;  // index into Archive::locations
    auto operator<=>(const PathKey&) const = default;
};

using PathTimes = std::map<PathKey, std::int64_t>;  // ns

class PathSoFar {
    struct Stretch;

 public:
    // A point on it, from which others may go on. Copies are cheap.
    using Point = std::shared_ptr<Stretch>;

    // Grows by what this location does.
    explicit PathSoFar(std::uint32_t location = nowhere) : location_{location} {}

    void add(std::uint32_t where, std::int64_t ns)
    {
        if (ns > 0) since_.add(where, ns);
    }

    Point here();
    void go_on_from(const Point& point);

    PathTimes times() const;

 private:
    void fold();

    std::uint32_t location_;
    Point before_;    // as it was when last asked for
    TimeSums since_;  // then
};

}  // namespace otf2
