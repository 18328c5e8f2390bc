// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/training_reader.hpp"

#include "analysis/input/step_file.hpp"
#include "analysis/input/step_work/numbered_rows.hpp"
#include "analysis/input/step_work/work_reader.hpp"
#include "analysis/input/training_archive.hpp"
#include "base/contract/phases.hpp"
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"

#include <algorithm>

namespace analysis {

namespace {

RankSteps steps_of(const otf2::StepsOfRank& recorded, const base::LongColumn<std::size_t>& rows)
{
    RankSteps steps;
    steps.rank = static_cast<int>(recorded.rank);
    std::vector<double> phase_ms(recorded.phase_ns.size());
    for (const std::size_t row : rows) {
        const otf2::Step step = recorded.steps[row];
        steps.begin_ns.push_back(step.begin_ns);
        steps.end_ns.push_back(step.end_ns);
        for (std::size_t phase = 0; phase < phase_ms.size(); ++phase)
            phase_ms[phase] = static_cast<double>(recorded.phase_ns[phase][row]) / 1e6;
        steps.phase_ms.append_row(phase_ms);
    }
    return steps;
}

// The steps that every rank has and that took any time.
StepTable common_table(const otf2::StepTable& table)
{
    std::vector<base::LongColumn<NumberedRow>> whole;
    for (const otf2::StepsOfRank& rank : table.ranks) {
        base::LongColumn<NumberedRow> rows;
        for (std::size_t row = 0; row < rank.steps.size(); ++row) {
            const otf2::Step step = rank.steps[row];
            if (step.end_ns > step.begin_ns) rows.push_back({step.number, row});
        }
        whole.push_back(in_order_of_numbers(std::move(rows)));
    }
    CommonSteps common = common_steps(whole);
    StepTable steps;
    steps.phases = table.phases;
    for (std::size_t r = 0; r < table.ranks.size(); ++r)
        steps.ranks.push_back(steps_of(table.ranks[r], common.rows[r]));
    steps.numbers = std::move(common.numbers);
    steps.incomplete = common.incomplete;
    return steps;
}

// True if the archive defines the names that numbered steps need.
bool may_number_steps(const otf2::Archive& archive)
{
    return archive.find_region(base::region::step) && archive.find_attribute(base::attribute::step);
}

bool has_region_of(const otf2::StepChoice& choice, const otf2::Archive& archive)
{
    return !choice.given() || archive.find_region(choice.region.empty() ? choice.from : choice.region);
}

Training from_archive(const std::filesystem::path& file, const otf2::StepChoice& choice,
                      const otf2::StepChoice& unless_numbered)
{
    const auto opened = std::make_shared<otf2::Reader>(file, otf2::ReadOptions{.undo_clock_offsets = true});
    otf2::Reader& reader = *opened;
    const otf2::Archive& archive = reader.archive();
    if (!choice.given() && may_number_steps(archive))
        if (std::optional<Training> own = read_numbered_steps(reader)) {
            own->archive = opened;
            return std::move(*own);
        }
    const bool instead = !choice.given() && has_region_of(unless_numbered, archive);
    std::optional<WorkReader> observer;
    const std::optional<otf2::ChosenSteps> chosen =
        otf2::chosen_steps(reader, instead ? unless_numbered : choice,
                           [&]() -> otf2::StepObserver& { return observer.emplace(archive, false); });
    if (!chosen) base::fail("no training steps: ", otf2::how_to_choose_steps(archive));
    if (chosen->table.ranks.empty()) base::fail("in ", file.string(), " no step ends: ", chosen->name);
    const WorkReader& work = *observer;
    Training training;
    training.archive = opened;
    training.steps_are = base::join(chosen->between ? "a step lasts from " : "a step is a visit of ", chosen->name);
    training.steps = common_table(chosen->table);
    training.choice = chosen->choice;
    training.numbered = work.numbered();
    training.cut_off = archive.property(base::property::cut_off).has_value();
    std::vector<std::uint32_t> locations;
    for (const otf2::StepsOfRank& rank : chosen->table.ranks) locations.push_back(rank.location);
    for (const std::uint32_t location : locations) add_place(training, archive, location);
    training.work = work.work(training.steps.numbers, locations);
    training.signature = work.signatures(training.steps.numbers, locations.front());
    return training;
}

// Work by a table, which has phases only: the shortest wait_exchange of any rank is transfer, the rest of it waiting.
Work work_of_table(const StepTable& steps)
{
    Work work;
    std::vector<Eigen::Index> own;  // columns of own work
    Eigen::Index waits = -1;
    for (std::size_t p = 0; p < steps.phases.size(); ++p) {
        const auto phase = static_cast<Eigen::Index>(p);
        if (steps.phases[p] == base::text(base::TrainingPhase::wait_exchange)) {
            waits = phase;
        } else if (part_of_phase(steps.phases[p]) != Part::rest) {
            own.push_back(phase);
            work.regions.push_back(steps.phases[p]);
        }
    }
    if (steps.phases.size() < 2) return {};  // without phases nothing is known
    const auto rows = static_cast<Eigen::Index>(steps.numbers.size());
    for (const RankSteps& rank : steps.ranks) {
        RankWork& mine = work.ranks.emplace_back();
        mine.parts_ms.resize(rows, static_cast<Eigen::Index>(part_count));
        mine.own_ms.resize(rows, static_cast<Eigen::Index>(own.size()));
        for (Eigen::Index i = 0; i < rows; ++i) {
            double parts = 0.0;
            double phases = 0.0;
            for (std::size_t k = 0; k < own.size(); ++k) {
                const double ms = rank.phase_ms(i, own[k]);
                mine.own_ms(i, static_cast<Eigen::Index>(k)) = ms;
                mine.parts_ms(i, column(part_of_phase(work.regions[k]))) += ms;
            }
            if (waits >= 0) {
                double shortest = steps.ranks.front().phase_ms(i, waits);
                for (const RankSteps& other : steps.ranks) shortest = std::min(shortest, other.phase_ms(i, waits));
                mine.parts_ms(i, column(Part::transfer)) = shortest;
                mine.parts_ms(i, column(Part::waiting)) = rank.phase_ms(i, waits) - shortest;
            }
            for (std::size_t part = 0; part < part_count; ++part)
                parts += mine.parts_ms(i, static_cast<Eigen::Index>(part));
            for (Eigen::Index p = 0; p < rank.phase_ms.cols(); ++p) phases += rank.phase_ms(i, p);
            mine.parts_ms(i, column(Part::rest)) = phases - parts;
        }
    }
    return work;
}

Training from_table(const std::filesystem::path& file)
{
    StepFile read = read_step_file(file);
    Training training;
    training.is_table = true;
    training.steps = std::move(read.steps);
    training.host = std::move(read.host);
    training.clock.resize(training.host.size());
    training.realtime_minus_clock_ns.resize(training.host.size());
    training.work = work_of_table(training.steps);
    return training;
}

}  // namespace

Training read_training(const std::filesystem::path& file, const otf2::StepChoice& choice,
                       const otf2::StepChoice& unless_numbered)
{
    choice.check();
    const bool is_table = file.extension() == ".csv";
    if (is_table && choice.given())
        base::fail_usage("--step-region and --step-from are for archives; ", file.string(), " is a table");
    Training training = is_table ? from_table(file) : from_archive(file, choice, unless_numbered);
    training.file = file;
    for (std::string& phase : training.steps.phases)
        if (phase == "step") phase = "step (region)";  // "step" is the name of the whole step's measure
    if (training.steps.numbers.empty())
        base::fail(file.string(), " holds no step that all ", training.steps.ranks.size(), " ranks completed");
    measure_cycles(training.steps);
    return training;
}

}  // namespace analysis
