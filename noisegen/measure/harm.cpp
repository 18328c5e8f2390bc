// SPDX-License-Identifier: Apache-2.0
#include "noisegen/measure/harm.hpp"

#include <algorithm>

namespace noisegen {

namespace {

// Work between `begin_ns` and `end_ns`.
Done done_between(const std::vector<Piece>& pieces, std::int64_t begin_ns, std::int64_t end_ns)
{
    Done done;
    auto piece = std::partition_point(pieces.begin(), pieces.end(),
                                      [begin_ns](const Piece& one) { return one.end_ns <= begin_ns; });
    for (; piece != pieces.end() && piece->begin_ns < end_ns; ++piece) {
        const auto length = static_cast<double>(piece->end_ns - piece->begin_ns);
        const auto inside = static_cast<double>(std::min(end_ns, piece->end_ns) - std::max(begin_ns, piece->begin_ns));
        done.amount += piece->amount * inside / length;
        done.seconds += inside * 1e-9;
    }
    return done;
}

}  // namespace

WorkByBlock work_in_slots(std::size_t levels, const std::vector<Slot>& table, std::int64_t start_ns,
                          const std::vector<Piece>& pieces, double settle_share)
{
    WorkByBlock work;
    for (const Slot& slot : table) {
        const auto settle =
            static_cast<std::int64_t>(settle_share * static_cast<double>((slot.end - slot.begin).count()));
        const Done done = done_between(pieces, start_ns + slot.begin.count() + settle, start_ns + slot.end.count());
        std::vector<Done>& sums = work.try_emplace(slot.block, levels + 1).first->second;
        Done& sum = sums[slot.treatment.empty() ? levels : slot.treatment.front()];
        sum.amount += done.amount;
        sum.seconds += done.seconds;
    }
    return work;
}

WorkByBlock work_of_kind(const VictimDone& done, Slice::Kind kind)
{
    WorkByBlock work;
    for (const auto& [block, by_level] : done.blocks)
        for (const auto& sums : by_level) work[block].push_back(of_kind(sums, kind));
    return work;
}

Estimate slowdown(const WorkByBlock& work, std::size_t level)
{
    std::vector<double> ratios;
    for (const auto& [block, sums] : work) {
        const Done& noisy = sums[level];
        const Done& quiet = sums.back();
        if (noisy.amount <= 0.0 || quiet.amount <= 0.0) continue;
        ratios.push_back(quiet.per_second() / noisy.per_second());
    }
    return estimate_ratio(ratios);
}

double quiet_per_second(const WorkByBlock& work)
{
    Done all;
    for (const auto& [block, sums] : work) {
        all.amount += sums.back().amount;
        all.seconds += sums.back().seconds;
    }
    return all.per_second();
}

}  // namespace noisegen
