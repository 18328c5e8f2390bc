#include "analysis/input/training_archive.hpp"

#include "analysis/input/parts_of_steps.hpp"
#include "analysis/input/step_work/work_reader.hpp"
#include "base/contract/phases.hpp"
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "trace-tools/otf2/read/fan_out.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/read/soundness.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace analysis {

namespace {

constexpr std::size_t no_phase = base::recorded_phases.size();

// Its place among base::recorded_phases; no_phase for another region.
std::size_t phase_of(const std::string& region)
{
    const auto phase = std::find_if(base::recorded_phases.begin(), base::recorded_phases.end(),
                                    [&](base::TrainingPhase known) { return base::text(known) == region; });
    return static_cast<std::size_t>(phase - base::recorded_phases.begin());
}

struct RecordedStep {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::array<std::int64_t, no_phase> phase_ns{};
    std::optional<std::int64_t> ready_ns;      // last bucket of this rank
    std::optional<std::int64_t> exchanged_ns;  // end of its last exchange
};

struct RecordedRank {
    std::map<std::int64_t, RecordedStep> steps;
    std::map<std::pair<std::int64_t, std::uint64_t>, std::int64_t> exchange_ns;  // (step, bucket): duration
    std::uint32_t location = 0;                                                  // that holds the steps
};

class StepReader : public otf2::Visitor {
 public:
    StepReader(const otf2::Archive& archive, otf2::StepObserver& observer)
        : archive_{archive}, observer_{observer}, state_(archive.locations.size())
    {
        step_attribute_ = archive.find_attribute(base::attribute::step);
        bucket_attribute_ = archive.find_attribute(base::attribute::bucket);
        for (const otf2::Region& region : archive.regions) {
            phase_of_.push_back(phase_of(region.name));
            is_step_.push_back(region.name == base::region::step);
            is_ready_.push_back(region.name == base::region::bucket_ready);
            is_exchange_.push_back(region.name == base::region::bucket_exchange);
        }
    }

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
    {
        State& state = state_[at.location];
        if (is_step_[region] && !state.in_step) {
            const std::optional<std::int64_t> number = number_of(attributes, step_attribute_);
            if (!number) return;
            state.in_step = true;
            state.depth = 0;
            state.number = *number;
            state.step = {};
            state.step.begin_ns = at.time_ns;
            observer_.begin_step(at, number);
            return;
        }
        if (is_exchange_[region]) {
            state.exchange_begin_ns = at.time_ns;
            state.exchange_step = number_of(attributes, step_attribute_);
            state.exchange_bucket = bucket_attribute_ ? attributes.number(*bucket_attribute_) : std::nullopt;
        }
        if (!state.in_step) return;
        if (is_ready_[region]) state.step.ready_ns = at.time_ns;
        if (state.depth == 0) state.phase_begin_ns = at.time_ns;
        ++state.depth;
    }

    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        State& state = state_[at.location];
        if (is_exchange_[region] && state.exchange_step) end_exchange(at, state);
        if (!state.in_step) return;
        if (state.depth > 0) {
            --state.depth;
            if (state.depth == 0 && phase_of_[region] != no_phase)
                state.step.phase_ns[phase_of_[region]] += at.time_ns - state.phase_begin_ns;
            return;
        }
        state.in_step = false;
        state.step.end_ns = at.time_ns;
        observer_.end_step(at);
        RecordedRank& rank = rank_of(at.location);
        rank.location = at.location;
        RecordedStep& recorded = rank.steps[state.number];
        if (recorded.end_ns != 0) base::fail("step ", state.number, " was recorded twice in ", place(at.location));
        state.step.exchanged_ns = recorded.exchanged_ns;  // the transport's location may come first
        recorded = state.step;
    }

    std::map<std::uint32_t, RecordedRank>& ranks() { return ranks_; }

 private:
    struct State {
        bool in_step = false;
        int depth = 0;
        std::int64_t number = 0;
        std::int64_t phase_begin_ns = 0;
        RecordedStep step;
        std::int64_t exchange_begin_ns = 0;
        std::optional<std::int64_t> exchange_step;
        std::optional<std::uint64_t> exchange_bucket;
    };

    static std::optional<std::int64_t> number_of(const otf2::EventAttributes& attributes,
                                                 const std::optional<std::uint32_t>& attribute)
    {
        if (!attribute) return std::nullopt;
        const std::optional<std::uint64_t> number = attributes.number(*attribute);
        if (!number || *number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return std::nullopt;
        return static_cast<std::int64_t>(*number);
    }

    void end_exchange(const otf2::At& at, State& state)
    {
        RecordedRank& rank = rank_of(at.location);
        std::optional<std::int64_t>& last = rank.steps[*state.exchange_step].exchanged_ns;
        last = std::max(last.value_or(at.time_ns), at.time_ns);
        if (state.exchange_bucket)
            rank.exchange_ns[{*state.exchange_step, *state.exchange_bucket}] += at.time_ns - state.exchange_begin_ns;
        state.exchange_step.reset();
    }

    RecordedRank& rank_of(std::uint32_t location) { return ranks_[archive_.locations[location].process]; }

    std::string place(std::uint32_t location) const
    {
        const std::uint32_t process = archive_.locations[location].process;
        return process == otf2::nowhere ? archive_.locations[location].name : archive_.processes[process].name;
    }

    const otf2::Archive& archive_;
    otf2::StepObserver& observer_;
    std::optional<std::uint32_t> step_attribute_;
    std::optional<std::uint32_t> bucket_attribute_;
    std::vector<std::size_t> phase_of_;
    std::vector<bool> is_step_;
    std::vector<bool> is_ready_;
    std::vector<bool> is_exchange_;
    std::vector<State> state_;
    std::map<std::uint32_t, RecordedRank> ranks_;  // by process
};

double ms(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e6;
}

// Numbers of the steps that every rank completed.
std::vector<std::int64_t> common_steps(const std::vector<const RecordedRank*>& ranks)
{
    std::vector<std::int64_t> numbers;
    for (const auto& [step_number, step] : ranks.front()->steps) {
        const std::int64_t number = step_number;  // clang below 16 lets no lambda capture a structured binding
        const bool everywhere = std::all_of(ranks.begin(), ranks.end(), [&](const RecordedRank* rank) {
            const auto found = rank->steps.find(number);
            return found != rank->steps.end() && found->second.end_ns > found->second.begin_ns;
        });
        if (everywhere) numbers.push_back(number);
    }
    return numbers;
}

// Phases that took any time on any rank.
std::vector<std::size_t> phases_seen(const std::vector<const RecordedRank*>& ranks)
{
    std::set<std::size_t> seen;
    for (const RecordedRank* rank : ranks)
        for (const auto& [number, step] : rank->steps)
            for (std::size_t p = 0; p < no_phase; ++p)
                if (step.phase_ns[p] > 0) seen.insert(p);
    return {seen.begin(), seen.end()};
}

RankSteps steps_of(int rank, const RecordedRank& recorded, const base::LongColumn<std::int64_t>& numbers,
                   const std::vector<std::size_t>& phases)
{
    RankSteps steps;
    steps.rank = rank;
    steps.phase_ms.resize(static_cast<Eigen::Index>(numbers.size()), static_cast<Eigen::Index>(phases.size()) + 1);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const RecordedStep& step = recorded.steps.at(numbers[i]);
        steps.begin_ns.push_back(step.begin_ns);
        steps.end_ns.push_back(step.end_ns);
        std::int64_t other = step.end_ns - step.begin_ns;
        const auto row = static_cast<Eigen::Index>(i);
        for (std::size_t p = 0; p < phases.size(); ++p) {
            steps.phase_ms(row, static_cast<Eigen::Index>(p)) = ms(step.phase_ns[phases[p]]);
            other -= step.phase_ns[phases[p]];
        }
        steps.phase_ms(row, static_cast<Eigen::Index>(phases.size())) = ms(other);
    }
    return steps;
}

// The shortest exchange of each bucket, summed over the buckets of each step that every rank exchanged.
std::map<std::int64_t, std::int64_t> shortest_exchanges(const std::vector<const RecordedRank*>& ranks)
{
    std::map<std::int64_t, std::int64_t> sums;
    for (const auto& [bucket, duration] : ranks.front()->exchange_ns) {
        std::int64_t shortest = duration;
        bool everywhere = true;
        for (const RecordedRank* rank : ranks) {
            const auto found = rank->exchange_ns.find(bucket);
            everywhere = everywhere && found != rank->exchange_ns.end();
            if (everywhere) shortest = std::min(shortest, found->second);
        }
        if (everywhere) sums[bucket.first] += shortest;
    }
    return sums;
}

void add_bucket_measures(Training& training, const std::vector<const RecordedRank*>& ranks,
                         const otf2::Archive& archive)
{
    const base::LongColumn<std::int64_t>& numbers = training.steps.numbers;
    const std::map<std::int64_t, std::int64_t> shortest = shortest_exchanges(ranks);
    const auto count = static_cast<double>(ranks.size());
    LongTable extra;
    extra.resize(static_cast<Eigen::Index>(numbers.size()), static_cast<Eigen::Index>(5 + ranks.size()));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        double step = 0.0;
        double begin = 0.0;
        double ready = 0.0;
        std::int64_t last_ready = std::numeric_limits<std::int64_t>::min();
        std::int64_t last_exchanged = last_ready;
        const auto row = static_cast<Eigen::Index>(i);
        const std::int64_t zero = ranks.front()->steps.at(numbers[i]).begin_ns;  // keeps doubles exact
        for (std::size_t r = 0; r < ranks.size(); ++r) {
            const RecordedStep& recorded = ranks[r]->steps.at(numbers[i]);
            if (!recorded.ready_ns || !recorded.exchanged_ns) return;  // not every step has buckets: nothing to say
            const otf2::Location& location = archive.locations[ranks[r]->location];
            const std::int64_t ready_ns = otf2::on_common_clock(*recorded.ready_ns, location.clock_offsets);
            step += ms(recorded.end_ns - recorded.begin_ns) / count;
            begin += ms(otf2::on_common_clock(recorded.begin_ns, location.clock_offsets) - zero) / count;
            ready += ms(ready_ns - zero) / count;
            last_ready = std::max(last_ready, ready_ns);
            last_exchanged =
                std::max(last_exchanged, otf2::on_common_clock(*recorded.exchanged_ns, location.clock_offsets));
            extra(row, static_cast<Eigen::Index>(5 + r)) = ms(*recorded.ready_ns - recorded.begin_ns);
        }
        extra(row, 0) = ms(last_ready - zero) - begin;
        extra(row, 1) = std::max(0.0, ms(last_exchanged - last_ready));
        extra(row, 2) = step - extra(row, 0) - extra(row, 1);
        extra(row, 3) = ms(last_ready - zero) - ready;
        const auto found = shortest.find(numbers[i]);
        extra(row, 4) = found == shortest.end() ? 0.0 : ms(found->second);
    }
    training.extra_ms = std::move(extra);
    training.extra_names = {"critical_compute", "exposed_transfer", "after_exchange", "waiting", "transfer_min"};
    for (const RankSteps& rank : training.steps.ranks)
        training.extra_names.push_back(base::join("ready rank ", rank.rank));
}

}  // namespace

void add_place(Training& training, const otf2::Archive& archive, std::uint32_t location)
{
    const std::uint32_t process = archive.locations[location].process;
    const std::uint32_t node = process == otf2::nowhere ? otf2::nowhere : archive.processes[process].node;
    training.clock.push_back(archive.clock_identity(archive.locations[location]));
    training.host.push_back(node == otf2::nowhere ? "" : archive.nodes[node].name);
    const auto realtime = archive.property(archive.locations[location], base::property::realtime_at_start);
    training.realtime_minus_clock_ns.push_back(realtime ? std::optional{base::parse<std::int64_t>(*realtime)}
                                                        : std::nullopt);
}

std::optional<Training> read_numbered_steps(otf2::Reader& reader)
{
    const otf2::Archive& archive = reader.archive();
    otf2::Soundness soundness{archive};
    PartsReader parts{archive};
    const bool has_phases = std::any_of(archive.regions.begin(), archive.regions.end(),
                                        [](const otf2::Region& region) { return phase_of(region.name) != no_phase; });
    WorkReader work{archive, has_phases};
    StepReader visitor{archive, work};
    otf2::FanOut all{&soundness, &visitor, &work, &parts};
    reader.read_by_location(all);
    otf2::refuse_unsound(reader, soundness);

    Training training;
    training.computes_while_stopped = archive.property(base::property::computes_while_stopped).value_or("") == "yes";
    training.cut_off = archive.property(base::property::cut_off).has_value();
    std::vector<const RecordedRank*> ranks;
    std::vector<std::uint32_t> locations;
    std::vector<int> numbers_of_ranks;
    std::vector<std::uint32_t> processes;
    for (const auto& [process, rank] : visitor.ranks()) {
        const bool any =
            std::any_of(rank.steps.begin(), rank.steps.end(), [](const auto& step) { return step.second.end_ns != 0; });
        if (!any) continue;
        ranks.push_back(&rank);
        processes.push_back(process);
        locations.push_back(rank.location);
        numbers_of_ranks.push_back(process == otf2::nowhere ? 0 : static_cast<int>(process));
        add_place(training, archive, rank.location);
    }
    if (ranks.empty()) return {};
    training.steps.numbers = common_steps(ranks);
    if (training.steps.numbers.empty())
        base::fail(reader.anchor().string(), " holds no step that all ", ranks.size(), " ranks completed");

    const std::vector<std::size_t> phases = phases_seen(ranks);
    for (const std::size_t phase : phases) training.steps.phases.push_back(base::text(base::recorded_phases[phase]));
    training.steps.phases.emplace_back("other");
    for (std::size_t r = 0; r < ranks.size(); ++r)
        training.steps.ranks.push_back(steps_of(numbers_of_ranks[r], *ranks[r], training.steps.numbers, phases));
    training.work = work.work(training.steps.numbers, locations);
    training.signature = work.signatures(training.steps.numbers, locations.front());
    add_bucket_measures(training, ranks, archive);
    if (!training.extra_names.empty()) parts.add_to(training, processes);
    return training;
}

}  // namespace analysis
