#include "noisegen/chip_table.hpp"

#include "base/random.hpp"
#include "base/saturating.hpp"

#include <algorithm>

namespace noisegen {

namespace {

constexpr std::size_t most_chips = 10'000'000;

// Lays chips end to end until the duration is full.
class Table {
 public:
    explicit Table(base::Nanoseconds duration) : duration_{duration} {}

    bool full() const { return at_ >= duration_; }

    // Before anything is laid: chips of this mean length.
    void expect(base::Nanoseconds length) const
    {
        if (length.count() <= 0 || duration_ / length > static_cast<std::int64_t>(most_chips)) refuse();
    }

    void add(std::uint64_t block, std::uint64_t chip, base::Nanoseconds length, const Treatment& treatment)
    {
        if (full()) return;
        if (chips_.size() == most_chips) refuse();
        const base::Nanoseconds end = std::min(at_ + length, duration_);
        chips_.push_back({chips_.size(), block, chip, at_, end, treatment});
        at_ = end;
    }

    std::vector<Chip> take() { return std::move(chips_); }

 private:
    [[noreturn]] void refuse() const
    {
        base::fail_usage("the schedule has more than ", most_chips, " chips in ", base::format(duration_));
    }

    base::Nanoseconds duration_;
    base::Nanoseconds at_{};
    std::vector<Chip> chips_;
};

void fill(Table& table, const Sequence& sequence, base::Random&)
{
    base::Nanoseconds cycle{};
    for (const auto& phase : sequence.phases)
        cycle = base::Nanoseconds{base::saturated_sum(cycle.count(), phase.length.count())};
    table.expect(cycle / static_cast<std::int64_t>(sequence.phases.size()));
    for (std::uint64_t block = 0; !table.full(); ++block)
        for (std::size_t i = 0; i < sequence.phases.size(); ++i)
            table.add(block, i, sequence.phases[i].length, sequence.phases[i].treatment);
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
    table.expect(blocks.chip.value());
    for (std::uint64_t block = 0; !table.full(); ++block) {
        std::vector<Treatment> order = blocks.treatments;
        base::shuffle(random, std::span{order});
        for (std::size_t i = 0; i < order.size(); ++i) table.add(block, i, blocks.chip.value(), order[i]);
    }
}

}  // namespace

std::vector<Chip> chip_table(const Schedule& schedule, std::uint64_t seed, base::Nanoseconds duration)
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
        const Dose& dose = schedule.doses.at(index);
        if (!words.empty()) words += "+";
        words += dose.factor;
        if (!dose.level.empty()) words += "[" + dose.level + "]";
    }
    return words.empty() ? "quiet" : words;
}

void print(std::ostream& out, const Schedule& schedule, const std::vector<Chip>& table)
{
    out << "phase,block,chip,begin_ns,end_ns,treatment\n";
    for (const Chip& chip : table)
        out << chip.phase << "," << chip.block << "," << chip.chip << "," << chip.begin.count() << ","
            << chip.end.count() << "," << text(schedule, chip.treatment) << "\n";
}

}  // namespace noisegen
