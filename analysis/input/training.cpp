#include "analysis/input/training.hpp"

#include "analysis/input/step_file.hpp"
#include "analysis/input/training_archive.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace analysis {

namespace {

// Numbers of the steps that every rank has, ascending.
std::vector<std::int64_t> common_numbers(const otf2::StepTable& table)
{
    std::map<std::int64_t, std::size_t> ranks_with;
    for (const otf2::StepsOfRank& rank : table.ranks) {
        std::set<std::int64_t> numbers;
        for (const otf2::Step& step : rank.steps)
            if (step.end_ns > step.begin_ns) numbers.insert(step.number);
        for (const std::int64_t number : numbers) ++ranks_with[number];
    }
    std::vector<std::int64_t> common;
    for (const auto& [number, ranks] : ranks_with)
        if (ranks == table.ranks.size()) common.push_back(number);
    return common;
}

RankSteps steps_of(const otf2::StepsOfRank& recorded, const std::vector<std::int64_t>& numbers, std::size_t phases)
{
    std::map<std::int64_t, const otf2::Step*> by_number;
    for (const otf2::Step& step : recorded.steps) by_number.emplace(step.number, &step);
    RankSteps steps;
    steps.rank = static_cast<int>(recorded.rank);
    steps.phase_ms.resize(static_cast<Eigen::Index>(numbers.size()), static_cast<Eigen::Index>(phases));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const otf2::Step& step = *by_number.at(numbers[i]);
        steps.begin_ns.push_back(step.begin_ns);
        steps.end_ns.push_back(step.end_ns);
        for (std::size_t phase = 0; phase < phases; ++phase)
            steps.phase_ms(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(phase)) =
                static_cast<double>(step.phase_ns[phase]) / 1e6;
    }
    return steps;
}

StepTable common_steps(const otf2::StepTable& table)
{
    StepTable steps;
    steps.phases = table.phases;
    steps.numbers = common_numbers(table);
    for (const otf2::StepsOfRank& rank : table.ranks)
        steps.ranks.push_back(steps_of(rank, steps.numbers, steps.phases.size()));
    return steps;
}

Training from_archive(const std::filesystem::path& file, const otf2::StepChoice& choice)
{
    if (choice.region.empty() && choice.from.empty())
        if (std::optional<Training> own = read_numbered_steps(file)) return std::move(*own);
    otf2::Reader reader{file, {.undo_clock_offsets = true}};
    const std::optional<otf2::ChosenSteps> chosen = otf2::chosen_steps(reader, choice);
    if (!chosen) base::fail("no training steps: ", otf2::how_to_choose_steps(file.string(), reader.archive()));
    if (chosen->table.ranks.empty()) base::fail("in ", file.string(), " no step ends: ", chosen->name);
    Training training;
    training.steps_are = base::join(chosen->between ? "a step lasts from " : "a step is a visit of ", chosen->name);
    training.steps = common_steps(chosen->table);
    for (const otf2::StepsOfRank& rank : chosen->table.ranks) add_place(training, reader.archive(), rank.location);
    return training;
}

Training from_table(const std::filesystem::path& file)
{
    const StepFile read = read_step_file(file);
    Training training;
    training.is_table = true;
    training.steps = common_steps(read.table);
    training.host = read.host;
    training.clock.resize(read.host.size());
    return training;
}

}  // namespace

Training read_training(const std::filesystem::path& file, const otf2::StepChoice& choice)
{
    choice.check();
    const bool is_table = file.extension() == ".csv";
    if (is_table && !(choice.region.empty() && choice.from.empty()))
        base::fail_usage("--step-region and --step-from choose the steps of an archive; ", file.string(),
                         " is a table");
    Training training = is_table ? from_table(file) : from_archive(file, choice);
    training.file = file;
    if (training.steps.numbers.empty())
        base::fail(file.string(), " holds no step that all ", training.steps.ranks.size(), " ranks completed");
    return training;
}

}  // namespace analysis
