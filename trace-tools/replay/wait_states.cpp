// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/wait_states.hpp"

#include <boost/container_hash/hash.hpp>

#include <algorithm>

namespace replay {

const std::vector<WaitState> wait_states{
#define WAIT_STATE(name, cube_name, waits_for_another, title, description, part_of) \
    {Pattern::name, cube_name, waits_for_another, title, description, part_of},
#include "trace-tools/replay/wait_states.inc"
#undef WAIT_STATE
};

namespace {

std::size_t hash_of(const WaitKey& key)
{
    std::size_t hash = 0;
    boost::hash_combine(hash, key.step);
    boost::hash_combine(hash, std::uint64_t{key.communicator} << 32U | key.where);
    boost::hash_combine(hash, std::uint64_t{key.location} << 8U | static_cast<std::uint64_t>(key.pattern));
    return hash;
}

}  // namespace

std::size_t WaitSums::slot_of(const WaitKey& key) const
{
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash_of(key) & mask;
    while (slots_[slot] != 0 && sums_[slots_[slot] - 1].first != key) slot = (slot + 1) & mask;
    return slot;
}

void WaitSums::index_anew(std::size_t slots)
{
    slots_.assign(slots, 0);
    for (std::size_t i = 0; i < sums_.size(); ++i) slots_[slot_of(sums_[i].first)] = static_cast<std::uint32_t>(i + 1);
}

WaitSum& WaitSums::sum_of(const WaitKey& key)
{
    const std::size_t slot = slot_of(key);
    if (slots_[slot] != 0) return sums_[slots_[slot] - 1].second;
    sums_.emplace_back(key, WaitSum{});
    slots_[slot] = static_cast<std::uint32_t>(sums_.size());
    if (2 * sums_.size() > slots_.size()) index_anew(2 * slots_.size());
    return sums_.back().second;
}

void WaitSums::add(const WaitKey& key, std::int64_t ns)
{
    WaitSum& sum = sum_of(key);
    sum.ns += ns;
    ++sum.count;
}

void WaitSums::begin_step(std::uint32_t location, std::int64_t step)
{
    reached_[location] = step;
    if (sums_.size() < most_) return;
    report_finished_steps();
    most_ = std::max(most_, 2 * sums_.size());
}

void WaitSums::report_finished_steps()
{
    std::int64_t least = INT64_MAX;
    for (const std::int64_t step : reached_)
        if (step >= 0) least = std::min(least, step);
    const auto grows = [&](const Sum& one) { return one.first.step < 0 || one.first.step >= least; };
    const auto finished = std::stable_partition(sums_.begin(), sums_.end(), grows);
    report(finished, sums_.end());
    sums_.erase(finished, sums_.end());
    index_anew(slots_.size());
}

// Reports the sums in the order of their keys.
void WaitSums::report(std::vector<Sum>::iterator begin, std::vector<Sum>::iterator end)
{
    std::sort(begin, end, [](const Sum& one, const Sum& other) { return one.first < other.first; });
    for (auto sum = begin; sum != end; ++sum) sink_(sum->first, sum->second);
}

void WaitSums::finish()
{
    report(sums_.begin(), sums_.end());
    sums_.clear();
    index_anew(least_slots);
}

}  // namespace replay
