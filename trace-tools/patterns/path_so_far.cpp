#include "trace-tools/patterns/path_so_far.hpp"

namespace otf2 {

namespace {

constexpr int longest_chain = 256;  // of stretches, until they become one: bounds memory

}  // namespace

void PathSoFar::add(PathKey key, std::int64_t ns)
{
    if (ns <= 0) return;
    for (auto& [known, sum] : since_) {
        if (known != key) continue;
        sum += ns;
        return;
    }
    since_.emplace_back(key, ns);
}

PathSoFar PathSoFar::snapshot()
{
    if (!since_.empty()) {
        const int depth = before_ ? before_->depth + 1 : 0;
        if (depth < longest_chain)
            before_ = std::make_shared<const Stretch>(Stretch{{since_.begin(), since_.end()}, before_, depth});
        else
            before_ = std::make_shared<const Stretch>(Stretch{times(), nullptr, 0});
        since_.clear();
    }
    PathSoFar copy;
    copy.before_ = before_;
    return copy;
}

void PathSoFar::go_on_from(const PathSoFar& other)
{
    before_ = other.before_;
    since_ = other.since_;
}

PathTimes PathSoFar::times() const
{
    PathTimes times;
    for (const auto& [key, ns] : since_) times[key] += ns;
    for (const Stretch* stretch = before_.get(); stretch != nullptr; stretch = stretch->before.get())
        for (const auto& [key, ns] : stretch->times) times[key] += ns;
    return times;
}

}  // namespace otf2
