// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/training_archive.hpp"

#include "analysis/input/input_reads.hpp"
#include "analysis/input/step_work/recorded_steps.hpp"
#include "analysis/input/step_work/work_reader.hpp"
#include "base/contract/phases.hpp"
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "trace-tools/otf2/read/fan_out.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/read/soundness.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace analysis {

namespace {

double ms(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e6;
}

// Ranks in the order of their processes.
struct RanksWithSteps {
    std::vector<std::uint32_t> processes;
    std::vector<RecordedRank*> recorded;
    CommonSteps common;

    std::size_t count() const { return recorded.size(); }
    RecordedStep step(std::size_t rank, std::size_t i) const
    {
        const RecordedRank& own = *recorded[rank];
        return own.steps[common.rows[rank][i]];
    }
};

RankSteps steps_of(int number, const RanksWithSteps& ranks, std::size_t r, const std::vector<std::size_t>& phases)
{
    RankSteps steps;
    steps.rank = number;
    std::vector<double> phase_ms(phases.size() + 1);
    for (std::size_t i = 0; i < ranks.common.numbers.size(); ++i) {
        const RecordedStep step = ranks.step(r, i);
        steps.begin_ns.push_back(step.begin_ns);
        steps.end_ns.push_back(step.end_ns);
        std::int64_t other = step.end_ns - step.begin_ns;
        for (std::size_t p = 0; p < phases.size(); ++p) {
            phase_ms[p] = ms(step.phase_ns[phases[p]]);
            other -= step.phase_ns[phases[p]];
        }
        phase_ms.back() = ms(other);
        steps.phase_ms.append_row(phase_ms);
    }
    return steps;
}

// The exchanges of a step's buckets on all ranks.
class Buckets {
 public:
    // Takes over the exchanges that the ranks recorded.
    explicit Buckets(const RanksWithSteps& ranks)
    {
        for (RecordedRank* rank : ranks.recorded) of_rank_.emplace_back(std::move(rank->exchanges));
    }

    void go_to(std::int64_t step)
    {
        for (ExchangesOfSteps& rank : of_rank_) rank.go_to(step);
    }
    std::optional<std::int64_t> last_end_ns(std::size_t rank) const { return of_rank_[rank].last_end_ns(); }

    // Sum of the shortest exchange of each bucket, over the buckets that every rank exchanged.
    std::int64_t shortest_ns() const
    {
        std::int64_t sum = 0;
        for (const auto& [bucket, duration] : of_rank_.front().buckets())
            if (const std::optional<std::int64_t> shortest = shortest_of(bucket)) sum += *shortest;
        return sum;
    }

    // Mean over ranks; none if some rank did not exchange the bucket.
    std::optional<double> mean_ms(std::uint64_t bucket) const
    {
        double mean = 0.0;
        for (const ExchangesOfSteps& rank : of_rank_) {
            const auto* exchange = rank.find(bucket);
            if (exchange == nullptr) return std::nullopt;
            mean += ms(exchange->second) / static_cast<double>(of_rank_.size());
        }
        return mean;
    }

 private:
    std::optional<std::int64_t> shortest_of(std::uint64_t bucket) const
    {
        std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
        for (const ExchangesOfSteps& rank : of_rank_) {
            const auto* exchange = rank.find(bucket);
            if (exchange == nullptr) return std::nullopt;
            shortest = std::min(shortest, exchange->second);
        }
        return shortest;
    }

    std::vector<ExchangesOfSteps> of_rank_;
};

// Measures of a step from its buckets: a row of Training::extra_ms without the measures of single buckets. Empty if
// some rank has no buckets. locations: [rank].
std::vector<double> measures_of_buckets(const std::vector<RecordedStep>& steps, const Buckets& buckets,
                                        const std::vector<const otf2::Location*>& locations)
{
    const auto count = static_cast<double>(steps.size());
    const std::int64_t zero = steps.front().begin_ns;  // subtracted first, so that doubles are exact
    double step = 0.0;
    double begin = 0.0;
    double ready = 0.0;
    std::int64_t last_ready = std::numeric_limits<std::int64_t>::min();
    std::int64_t last_exchanged = last_ready;
    std::vector<double> row(5);
    for (std::size_t r = 0; r < steps.size(); ++r) {
        const RecordedStep& recorded = steps[r];
        const std::optional<std::int64_t> exchanged_ns = buckets.last_end_ns(r);
        if (!recorded.ready_ns || !exchanged_ns) return {};
        const auto& offsets = locations[r]->clock_offsets;
        const std::int64_t ready_ns = otf2::on_common_clock(*recorded.ready_ns, offsets);
        step += ms(recorded.end_ns - recorded.begin_ns) / count;
        begin += ms(otf2::on_common_clock(recorded.begin_ns, offsets) - zero) / count;
        ready += ms(ready_ns - zero) / count;
        last_ready = std::max(last_ready, ready_ns);
        last_exchanged = std::max(last_exchanged, otf2::on_common_clock(*exchanged_ns, offsets));
        row.push_back(ms(*recorded.ready_ns - recorded.begin_ns));
    }
    row[0] = ms(last_ready - zero) - begin;
    row[1] = std::max(0.0, ms(last_exchanged - last_ready));
    row[2] = step - row[0] - row[1];
    row[3] = ms(last_ready - zero) - ready;
    row[4] = ms(buckets.shortest_ns());
    return row;
}

// Adds the measures if every step of every rank has buckets.
void add_bucket_measures(Training& training, const RanksWithSteps& ranks, Buckets buckets,
                         const std::vector<const otf2::Location*>& locations)
{
    std::vector<RecordedStep> steps(ranks.count());
    LongTable extra;
    std::vector<base::LongColumn<double>> of_bucket(most_parts);
    for (std::size_t i = 0; i < ranks.common.numbers.size(); ++i) {
        buckets.go_to(ranks.common.numbers[i]);
        for (std::size_t r = 0; r < steps.size(); ++r) steps[r] = ranks.step(r, i);
        const std::vector<double> row = measures_of_buckets(steps, buckets, locations);
        if (row.empty()) return;
        extra.append_row(row);
        for (std::size_t bucket = 0; bucket < of_bucket.size(); ++bucket)
            if (const std::optional<double> mean = buckets.mean_ms(bucket)) of_bucket[bucket].push_back(*mean);
    }
    training.extra_ms = std::move(extra);
    training.extra_names = {"critical_compute", "exposed_transfer", "after_exchange", "waiting", "transfer_min"};
    for (const RankSteps& rank : training.steps.ranks)
        training.extra_names.push_back(base::join("ready rank ", rank.rank));
    for (std::size_t bucket = 0; bucket < of_bucket.size(); ++bucket) {
        if (of_bucket[bucket].size() < ranks.common.numbers.size()) continue;
        training.extra_ms.append(std::move(of_bucket[bucket]));
        training.extra_names.push_back(base::join("exchange bucket ", bucket));
    }
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
    ReadsReader reads{archive};
    const bool has_phases = std::any_of(archive.regions.begin(), archive.regions.end(),
                                        [](const otf2::Region& region) { return is_phase(region.name); });
    WorkReader work{archive, has_phases};
    StepReader visitor{archive, work};
    otf2::FanOut all{&soundness, &visitor, &work, &reads};
    reader.read_by_location(all);
    otf2::refuse_unsound(reader, soundness);

    Training training;
    const std::string computes = archive.property(base::property::computes_while_stopped).value_or("no");
    training.computes_on_gpu = computes == base::on_gpu;
    training.computes_while_stopped = training.computes_on_gpu || computes == "yes";
    training.cut_off = archive.property(base::property::cut_off).has_value();
    RanksWithSteps ranks;
    std::vector<base::LongColumn<NumberedRow>> whole;
    std::vector<std::uint32_t> locations;
    for (auto& [process, rank] : visitor.ranks()) {
        if (rank.steps.empty()) continue;
        ranks.processes.push_back(process);
        ranks.recorded.push_back(&rank);
        whole.push_back(visitor.whole_steps(rank));
        locations.push_back(rank.steps.back().location);
        add_place(training, archive, locations.back());
    }
    if (whole.empty()) return {};
    ranks.common = common_steps(whole);
    training.steps.numbers = ranks.common.numbers;
    training.steps.incomplete = ranks.common.incomplete;
    if (training.steps.numbers.empty())
        base::fail(reader.anchor().string(), " holds no step that all ", ranks.count(), " ranks completed");

    std::vector<std::size_t> phases;
    for (std::size_t p = 0; p < base::recorded_phases.size(); ++p)
        if (visitor.has_phase(p)) phases.push_back(p);
    for (const std::size_t phase : phases) training.steps.phases.push_back(base::text(base::recorded_phases[phase]));
    training.steps.phases.emplace_back("other");
    std::vector<const otf2::Location*> places;
    for (std::size_t r = 0; r < ranks.count(); ++r) {
        const std::uint32_t process = ranks.processes[r];
        const int number = process == otf2::nowhere ? 0 : static_cast<int>(process);
        training.steps.ranks.push_back(steps_of(number, ranks, r, phases));
        places.push_back(&archive.locations[locations[r]]);
    }
    training.work = work.work(training.steps.numbers, locations);
    training.signature = work.signatures(training.steps.numbers, locations.front());
    add_bucket_measures(training, ranks, Buckets{ranks}, places);
    if (!training.extra_names.empty()) reads.add_to(training, ranks.processes);
    return training;
}

}  // namespace analysis
