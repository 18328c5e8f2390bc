#include "trace-tools/replay/path_so_far.hpp"

#include <algorithm>

namespace otf2 {

struct PathSoFar::Stretch {
    std::vector<std::pair<PathKey, std::int64_t>> times;
    Point before;
    std::size_t stretches = 1;       // up to here
    std::size_t most_stretches = 0;  // until those that nobody else goes on from become one: bounds memory

    ~Stretch()  // not by recursion: a chain may be long
    {
        while (before && before.use_count() == 1) before = std::move(before->before);
    }
};

namespace {

constexpr std::size_t few_stretches = 256;

void sum_up(std::vector<std::pair<PathKey, std::int64_t>>& times)
{
    std::sort(times.begin(), times.end());
    auto last = times.begin();
    for (auto next = times.begin() + 1; next != times.end(); ++next) {
        if (next->first == last->first)
            last->second += next->second;
        else
            *++last = *next;
    }
    times.erase(last + 1, times.end());
}

}  // namespace

PathSoFar::Point PathSoFar::here()
{
    if (since_.all().empty()) return before_;
    auto stretch = std::make_shared<Stretch>();
    for (const auto& [where, ns] : since_.all()) stretch->times.push_back({{where, location_}, ns});
    stretch->stretches = before_ ? before_->stretches + 1 : 1;
    stretch->most_stretches = before_ ? before_->most_stretches : few_stretches;
    stretch->before = std::move(before_);
    before_ = std::move(stretch);
    since_.clear();
    if (before_->stretches > before_->most_stretches) fold();
    return before_;
}

void PathSoFar::fold()
{
    std::size_t stretches = 0;
    std::size_t times = 0;
    for (Stretch* stretch = before_.get(); stretch != nullptr; stretch = stretch->before.get()) {
        bool more = false;
        while (stretch->before && stretch->before.use_count() == 1) {
            const Point alone = std::move(stretch->before);
            stretch->times.insert(stretch->times.end(), alone->times.begin(), alone->times.end());
            stretch->before = std::move(alone->before);
            more = true;
        }
        if (more) sum_up(stretch->times);
        ++stretches;
        times += stretch->times.size();
    }
    before_->stretches = stretches;
    before_->most_stretches = few_stretches + 2 * stretches + times / 4;
}

void PathSoFar::go_on_from(const Point& point)
{
    before_ = point;
    since_.clear();
}

PathTimes PathSoFar::times() const
{
    PathTimes times;
    for (const auto& [where, ns] : since_.all()) times[{where, location_}] += ns;
    for (const Stretch* stretch = before_.get(); stretch != nullptr; stretch = stretch->before.get())
        for (const auto& [key, ns] : stretch->times) times[key] += ns;
    return times;
}

}  // namespace otf2
