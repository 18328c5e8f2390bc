// Time by region and location along a chain of causes that grows at one end and branches: every location of a trace has
// one, and takes over another's when it waited for it. Copies are cheap.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace otf2 {

struct PathKey {
    std::uint32_t region = 0;    // index into Archive::regions
    std::uint32_t location = 0;  // index into Archive::locations
    auto operator<=>(const PathKey&) const = default;
};

using PathTimes = std::map<PathKey, std::int64_t>;  // ns

class PathSoFar {
 public:
    void add(PathKey key, std::int64_t ns);

    // Up to here.
    PathSoFar snapshot();

    // The path goes on from there.
    void go_on_from(const PathSoFar& other);

    PathTimes times() const;

 private:
    struct Stretch {
        PathTimes times;
        std::shared_ptr<const Stretch> before;
        int depth = 0;
    };
    std::shared_ptr<const Stretch> before_;
    std::vector<std::pair<PathKey, std::int64_t>> since_;  // few: looked through one by one
};

}  // namespace otf2
