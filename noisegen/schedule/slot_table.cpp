// SPDX-License-Identifier: Apache-2.0
#include "noisegen/schedule/slot_table.hpp"

#include "base/random.hpp"
#include "base/saturating.hpp"

#include <algorithm>

namespace noisegen {

namespace {

constexpr std::size_t most_slots = 10'000'000;

// Appends slots one after the other until the duration is filled.
class Table {
 public:
    explicit Table(base::Nanoseconds duration) : duration_{duration} {}

    bool full() const { return at_ >= duration_; }

    // Call it first: throws if slots of this mean length would be too many.
    void expect(base::Nanoseconds length) const
    {
        if (length.count() <= 0 || duration_ / length > static_cast<std::int64_t>(most_slots)) refuse();
    }

    void add(std::uint64_t block, std::uint64_t slot, base::Nanoseconds length, const Treatment& treatment)
    {
        if (full()) return;
        if (slots_.size() == most_slots) refuse();
        const base::Nanoseconds end = std::min(at_ + length, duration_);
        slots_.push_back({slots_.size(), block, slot, at_, end, treatment});
        at_ = end;
    }

    std::vector<Slot> take() { return std::move(slots_); }

 private:
    [[noreturn]] void refuse() const
    {
        base::fail_usage("the schedule has more than ", most_slots, " slots in ", base::format(duration_));
    }

    base::Nanoseconds duration_;
    base::Nanoseconds at_{};
    std::vector<Slot> slots_;
};

void fill(Table& table, const Sequence& sequence, base::Random&)
{
    base::Nanoseconds cycle{};
    for (const auto& slot : sequence.entries)
        cycle = base::Nanoseconds{base::saturated_sum(cycle.count(), slot.length.count())};
    table.expect(cycle / static_cast<std::int64_t>(sequence.entries.size()));
    for (std::uint64_t block = 0; !table.full(); ++block)
        for (std::size_t i = 0; i < sequence.entries.size(); ++i)
            table.add(block, i, sequence.entries[i].length, sequence.entries[i].treatment);
}

void fill(Table& table, const RandomSlots& slots, base::Random& random)
{
    table.expect(slots.slot);
    for (std::uint64_t slot = 0; !table.full(); ++slot) {
        double left = base::draw_unit(random) * 100.0;
        const RandomSlots::Share* drawn = &slots.shares.back();
        for (const RandomSlots::Share& share : slots.shares) {
            left -= share.percent.value;
            if (left < 0.0) {
                drawn = &share;
                break;
            }
        }
        table.add(0, slot, slots.slot, drawn->treatment);
    }
}

void fill(Table& table, const Blocks& blocks, base::Random& random)
{
    table.expect(blocks.slot.value());
    for (std::uint64_t block = 0; !table.full(); ++block) {
        std::vector<Treatment> order = blocks.treatments;
        base::shuffle(random, std::span{order});
        for (std::size_t i = 0; i < order.size(); ++i) table.add(block, i, blocks.slot.value(), order[i]);
    }
}

}  // namespace

std::vector<Slot> slot_table(const Schedule& schedule, std::uint64_t seed, base::Nanoseconds duration)
{
    base::Random random{seed};
    Table table{duration};
    std::visit([&](const auto& order) { fill(table, order, random); }, schedule.order);
    return table.take();
}

std::string text(const Schedule& schedule, const Treatment& treatment)
{
    std::string words;
    for (const std::size_t index : treatment) {
        if (!words.empty()) words += "+";
        words += text(schedule.levels.at(index));
    }
    return words.empty() ? "quiet" : words;
}

void print(std::ostream& out, const Schedule& schedule, const std::vector<Slot>& table)
{
    out << "slot,block,position,begin_ns,end_ns,treatment\n";
    for (const Slot& slot : table)
        out << slot.number << "," << slot.block << "," << slot.position << "," << slot.begin.count() << ","
            << slot.end.count() << "," << text(schedule, slot.treatment) << "\n";
}

}  // namespace noisegen
