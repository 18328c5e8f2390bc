#include "trace-tools/replay/sync_points.hpp"

#include <algorithm>
#include <span>

namespace otf2 {

void Shares::sum_up()
{
    constexpr double negligible = 1e-7;  // of a wait
    std::sort(all.begin(), all.end(), [](const Share& one, const Share& other) { return one.key < other.key; });
    std::size_t sums = 0;
    double kept = 0.0;
    double whole = 0.0;
    for (std::size_t i = 0; i < all.size();) {
        Share sum = all[i];
        for (++i; i < all.size() && all[i].key == sum.key; ++i) {
            sum.direct += all[i].direct;
            sum.indirect += all[i].indirect;
        }
        whole += sum.direct + sum.indirect;
        if (sum.direct + sum.indirect <= negligible) continue;
        kept += sum.direct + sum.indirect;
        all[sums++] = sum;
    }
    all.resize(sums);
    if (kept == whole) return;
    for (Share& share : all) {
        share.direct *= whole / kept;
        share.indirect *= whole / kept;
    }
}

namespace {

// All work of points at which nobody was met.
SyncPoints::Point joined(std::span<const SyncPoints::Point> newest_first)
{
    TimeSums work;
    for (const SyncPoints::Point& point : newest_first)
        for (const auto& [where, ns] : point->work) work.add(where, ns);
    return std::make_shared<SyncPoint>(SyncPoint{
        .ns = newest_first.front()->ns, .work = work.all(), .worker = newest_first.front()->worker, .before = {}});
}

}  // namespace

void SyncPoints::add(SyncPoint point)
{
    constexpr std::size_t most = 256;
    point.before = std::move(last_);
    last_ = std::make_shared<SyncPoint>(std::move(point));
    if (++many_ > most) fold();
}

// The newer half stays as it is. Others that have its points see the same past.
void SyncPoints::fold()
{
    constexpr std::size_t most_older = 64;
    std::vector<Point> points;
    for (Point point = last_; point; point = point->before) points.push_back(point);
    const std::size_t kept = (points.size() + 1) / 2;

    std::vector<Point> older;
    for (std::size_t i = kept; i < points.size();) {
        if (older.size() == most_older) {
            older.push_back(std::make_shared<SyncPoint>(SyncPoint{.ns = points[i]->ns, .forgotten = true}));
            break;
        }
        std::size_t end = i + 1;
        const auto alone = [&](const SyncPoint& point) {
            return !point.met && !point.forgotten && point.worker == points[i]->worker;
        };
        while (end < points.size() && alone(*points[i]) && alone(*points[end])) ++end;
        older.push_back(end == i + 1 ? points[i] : joined(std::span{points}.subspan(i, end - i)));
        i = end;
    }

    Point before;
    for (std::size_t i = older.size(); i-- > 0;) {
        older[i]->before = std::move(before);
        before = older[i];
    }
    points[kept - 1]->before = std::move(before);
    many_ = kept + older.size();
}

void Delays::add_late(const SyncPoint& point)
{
    for (const auto& [where, ns] : point.work) {
        late_.add(where, ns);
        const std::size_t slot = TimeSums::slot_of(where);
        if (slot >= workers_.size()) workers_.resize(slot + 1);
        workers_[slot] = point.worker;
    }
    if (point.why) waits_.push_back({.ns = point.waited_ns, .why = point.why.get()});
}

void Delays::add_waited(const SyncPoint& point)
{
    for (const auto& [where, ns] : point.work) waited_.add(where, ns);
}

// What the late one did longer, since both last met, than the one that waited; and its own waiting in between.
Shares Delays::of(const SyncPoint& late, const SyncPoints& points, const TimeSums& work, std::uint32_t waiting)
{
    late_.clear();
    waited_.clear();
    waits_.clear();
    for (const auto& [where, ns] : work.all()) waited_.add(where, ns);
    const SyncPoint* theirs = &late;
    const SyncPoint* own = points.last().get();
    const Shares unknown{.all = {{.key = {.where = unknown_cause, .location = waiting}, .direct = 1.0}}};
    while (theirs != own) {
        if (theirs != nullptr && own != nullptr && theirs->ns == own->ns && theirs->location == own->location &&
            own->location != nowhere)
            break;
        if (own == nullptr || (theirs != nullptr && theirs->ns >= own->ns)) {
            if (theirs->forgotten) return unknown;
            add_late(*theirs);
            theirs = theirs->before.get();
        } else {
            if (own->forgotten) return unknown;
            add_waited(*own);
            own = own->before.get();
        }
    }

    Shares shares;
    std::int64_t all_ns = 0;
    for (const auto& [where, ns] : late_.all()) {
        const std::int64_t longer_ns = ns - waited_.of(where);
        if (longer_ns <= 0) continue;
        all_ns += longer_ns;
        shares.all.push_back({.key = {.where = where, .location = workers_[TimeSums::slot_of(where)]},
                              .direct = static_cast<double>(longer_ns)});
    }
    for (const Wait& wait : waits_) {
        all_ns += wait.ns;
        for (const Shares::Share& share : wait.why->all)
            shares.all.push_back(
                {.key = share.key, .indirect = (share.direct + share.indirect) * static_cast<double>(wait.ns)});
    }
    if (all_ns == 0) return unknown;
    for (Shares::Share& share : shares.all) {
        share.direct /= static_cast<double>(all_ns);
        share.indirect /= static_cast<double>(all_ns);
    }
    shares.sum_up();
    return shares;
}

}  // namespace otf2
