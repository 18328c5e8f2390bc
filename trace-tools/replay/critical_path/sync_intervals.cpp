// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/critical_path/sync_intervals.hpp"

#include <boost/smart_ptr/make_local_shared.hpp>

#include <algorithm>
#include <span>

namespace replay {

void DelayShares::sum_up()
{
    constexpr double negligible = 1e-7;  // share of a wait
    std::ranges::sort(all, [](const Share& one, const Share& other) { return one.key < other.key; });
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

SyncIntervals::Pointer merged(std::span<SyncInterval* const> newest_first)
{
    otf2::TimeSums work;
    for (const SyncInterval* interval : newest_first)
        for (const auto& [where, ns] : interval->work) work.add(where, ns);
    return boost::allocate_local_shared<SyncInterval>(Recycled<SyncInterval>{},
                                                      SyncInterval{.end_ns = newest_first.front()->end_ns,
                                                                   .work = {work.all().begin(), work.all().end()},
                                                                   .worker = newest_first.front()->worker});
}

}  // namespace

void SyncIntervals::add(SyncInterval interval)
{
    interval.previous = std::move(last_);
    last_ = boost::allocate_local_shared<SyncInterval>(Recycled<SyncInterval>{}, std::move(interval));
    if (++length_ > most) merge_old();
}

// Keeps the newer half unchanged. Other locations that hold these intervals see the same history.
void SyncIntervals::merge_old()
{
    constexpr std::size_t most_older = 64;
    std::vector<SyncInterval*> intervals;  // newest first
    intervals.reserve(most + 1);
    for (SyncInterval* interval = last_.get(); interval != nullptr; interval = interval->previous.get())
        intervals.push_back(interval);
    length_ = (intervals.size() + 1) / 2;

    SyncInterval* last = intervals[length_ - 1];  // the interval that takes its place
    const std::size_t most_length = length_ + most_older;
    for (std::size_t i = length_; i < intervals.size(); ++length_) {
        if (length_ == most_length) {
            last->previous = boost::allocate_local_shared<SyncInterval>(
                Recycled<SyncInterval>{}, SyncInterval{.end_ns = intervals[i]->end_ns, .truncated = true});
            ++length_;
            break;
        }
        std::size_t end = i + 1;
        const auto mergeable = [&](const SyncInterval& interval) {
            return !interval.shared && !interval.truncated && interval.worker == intervals[i]->worker;
        };
        while (end < intervals.size() && mergeable(*intervals[i]) && mergeable(*intervals[end])) ++end;
        if (end == i + 1) {
            last = intervals[i];
        } else {
            Pointer sum = merged(std::span{intervals}.subspan(i, end - i));
            sum->previous = intervals[end - 1]->previous;
            last->previous = std::move(sum);
            last = last->previous.get();
        }
        i = end;
    }
}

void DelayDetector::add_late(const SyncInterval& interval)
{
    for (const auto& [where, ns] : interval.work) {
        late_work_.add(where, ns);
        const std::size_t slot = otf2::TimeSums::slot_of(where);
        if (slot >= workers_.size()) workers_.resize(slot + 1);
        workers_[slot] = interval.worker;
    }
    if (interval.delays) late_waits_.push_back({.ns = interval.waited_ns, .delays = interval.delays.get()});
}

void DelayDetector::add_waiting(const SyncInterval& interval)
{
    for (const auto& [where, ns] : interval.work) waiting_work_.add(where, ns);
}

// Since the last synchronisation of both locations:
// 1. Activities that took the late location longer than the waiting one are direct delays.
// 2. Delays that made the late location wait propagate: they are indirect delays.
DelayShares DelayDetector::shares(const SyncInterval& late, const SyncIntervals& intervals, const otf2::TimeSums& work,
                                  std::uint32_t waiting, std::int64_t since_ns)
{
    late_work_.clear();
    waiting_work_.clear();
    late_waits_.clear();
    for (const auto& [where, ns] : work.all()) waiting_work_.add(where, ns);
    const SyncInterval* theirs = &late;
    const SyncInterval* own = intervals.last().get();
    const auto unknown = [&] {
        return DelayShares{.all = {{.key = {.where = unknown_cause, .location = waiting}, .direct = 1.0}}};
    };
    const auto counts = [&](const SyncInterval* one) { return one != nullptr && one->end_ns > since_ns; };
    while (theirs != own && (counts(theirs) || counts(own))) {
        if (theirs != nullptr && own != nullptr && theirs->end_ns == own->end_ns && theirs->location == own->location &&
            own->location != otf2::nowhere)
            break;
        if (own == nullptr || (theirs != nullptr && theirs->end_ns >= own->end_ns)) {
            if (theirs->truncated) return unknown();
            add_late(*theirs);
            theirs = theirs->previous.get();
        } else {
            if (own->truncated) return unknown();
            add_waiting(*own);
            own = own->previous.get();
        }
    }

    shares_.all.clear();
    std::int64_t all_ns = 0;
    for (const auto& [where, ns] : late_work_.all()) {
        const std::int64_t longer_ns = ns - waiting_work_.of(where);
        if (longer_ns <= 0) continue;
        all_ns += longer_ns;
        shares_.all.push_back({.key = {.where = where, .location = workers_[otf2::TimeSums::slot_of(where)]},
                               .direct = static_cast<double>(longer_ns)});
    }
    for (const Wait& wait : late_waits_) {
        all_ns += wait.ns;
        for (const DelayShares::Share& share : wait.delays->all)
            shares_.all.push_back(
                {.key = share.key, .indirect = (share.direct + share.indirect) * static_cast<double>(wait.ns)});
    }
    if (all_ns == 0) return unknown();
    for (DelayShares::Share& share : shares_.all) {
        share.direct /= static_cast<double>(all_ns);
        share.indirect /= static_cast<double>(all_ns);
    }
    shares_.sum_up();
    return shares_;  // a copy without spare capacity
}

}  // namespace replay
