// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/plan.hpp"

#include "base/cli/cards.hpp"
#include "base/contract/campaign_directory.hpp"
#include "base/contract/table_columns.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/random.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <ostream>
#include <span>

namespace crosstalk {

namespace {

// Random streams of the seed. Blocks have numbers from 1, so these are different from the blocks' streams.
constexpr std::uint64_t stream_of_repetition = std::uint64_t{1} << 32U;
constexpr std::uint64_t stream_of_run = std::uint64_t{2} << 32U;

const std::vector<base::TableColumn<PlannedRun>>& columns()
{
    static const std::vector<base::TableColumn<PlannedRun>> all{
        base::table_column("run", &PlannedRun::name),          base::table_column("block", &PlannedRun::block),
        base::table_column("position", &PlannedRun::position), base::table_column("model", &PlannedRun::model),
        base::table_column("data", &PlannedRun::data),         base::table_column("strategy", &PlannedRun::strategy),
        base::table_column("ranks", &PlannedRun::ranks),       base::table_column("noise", &PlannedRun::noise),
        base::table_column("level", &PlannedRun::level),       base::table_column("cores", &PlannedRun::cores),
        base::table_column("schedule", &PlannedRun::schedule), base::table_column("seed", &PlannedRun::seed),
        base::table_column("wait_ms", &PlannedRun::wait_ms),   base::table_column("options", &PlannedRun::options)};
    return all;
}

struct Level {
    std::string name;  // "rate=1GiB/s"
    std::map<std::string, std::string> options;
};

// Levels of a stressor: memory.stream[rate=1|2,duty=3|4] has four; without a | there is a single one with an empty
// name.
std::vector<Level> levels_of(const base::PlugInText& stressor)
{
    std::vector<Level> levels{{}};
    for (const auto& [option, values] : stressor.options) {
        const std::vector<std::string> choices = base::split(values, '|');
        std::vector<Level> more;
        for (const Level& level : levels)
            for (const std::string& choice : choices) {
                Level next = level;
                next.options[option] = choice;
                if (choices.size() > 1) next.name += (next.name.empty() ? "" : ",") + option + "=" + choice;
                more.push_back(next);
            }
        levels = std::move(more);
    }
    return levels;
}

std::string steady_schedule(const std::string& stressor, const Level& level)
{
    std::vector<std::string> options;
    for (const auto& [name, value] : level.options) options.push_back(name + "=" + value);
    const std::string brackets = options.empty() ? "" : "[" + base::join_words(options, ",") + "]";
    return base::join(stressor, brackets, " ", base::format(slot_of_steady_noise));
}

PlannedRun without_noise()
{
    PlannedRun run;
    run.noise = base::campaign::no_noise;
    run.cores = "0";
    return run;
}

PlannedRun beside(const std::string& noise, const std::string& level, const std::string& schedule,
                  const std::string& cores)
{
    PlannedRun run;
    run.noise = noise;
    run.level = level;
    run.schedule = schedule;
    run.cores = cores;
    return run;
}

// Treatments of a block, in the spec's order.
std::vector<PlannedRun> treatments(const Spec& spec)
{
    std::vector<PlannedRun> runs;
    if (!spec.noise.empty()) runs.resize(static_cast<std::size_t>(spec.quiet), without_noise());
    for (const std::string& text : spec.noise) {
        const base::PlugInText stressor = base::parse_plug_in(text);
        const std::string& name = stressor.label.empty() ? stressor.name : stressor.label;
        for (const Level& level : levels_of(stressor))
            for (const std::string& cores : spec.cores)
                runs.push_back(beside(name, level.name, steady_schedule(stressor.name, level), cores));
    }
    for (const std::string& schedule : spec.designed)
        for (const std::string& cores : spec.cores)
            runs.push_back(beside(base::campaign::designed, "", schedule, cores));
    return runs;
}

// The trainings; all runs of a block have the same one.
std::vector<PlannedRun> trainings(const Spec& spec)
{
    std::vector<PlannedRun> all;
    if (!spec.command.empty()) {
        all.emplace_back().model = spec.command;
        return all;
    }
    for (const std::string& model : spec.models)
        for (const std::string& strategy : spec.strategies)
            for (const int ranks : spec.ranks)
                for (const std::string& options : choices_of(spec.options).combinations) {
                    PlannedRun& one = all.emplace_back();
                    one.model = model;
                    one.data = spec.data;
                    one.strategy = strategy;
                    one.ranks = ranks;
                    one.options = options;
                }
    return all;
}

void take_training(PlannedRun& run, const PlannedRun& training)
{
    run.model = training.model;
    run.data = training.data;
    run.strategy = training.strategy;
    run.ranks = training.ranks;
    run.options = training.options;
}

void add_block(Plan& plan, const PlannedRun& training, std::vector<PlannedRun> runs, const Spec& spec)
{
    const int block = plan.empty() ? 1 : plan.back().block + 1;
    base::Random order = base::random_stream(spec.seed, static_cast<std::uint64_t>(block));
    base::shuffle(order, std::span{runs});
    int position = 0;
    for (PlannedRun run : runs) {
        run.block = block;
        run.position = ++position;
        std::array<char, 32> name{};
        std::snprintf(name.data(), name.size(), "b%02d.%d", block, position);
        run.name = name.data();
        take_training(run, training);
        base::Random draws = base::random_stream(spec.seed, stream_of_run + plan.size());
        run.seed = 1 + base::draw_below(draws, 1'000'000'000);
        const auto most_ms = static_cast<std::uint64_t>(spec.wait.count() / 1'000'000);
        if (run.noise != base::campaign::designed)
            run.wait_ms = static_cast<std::int64_t>(base::draw_below(draws, most_ms + 1));
        plan.push_back(run);
    }
}

std::string about(base::Nanoseconds time)
{
    const double minutes = base::seconds(time) / 60.0;
    return minutes < 120.0 ? base::fixed(minutes, minutes < 10.0 ? 1 : 0) + " minutes"
                           : base::fixed(minutes / 60.0, 1) + " hours";
}

}  // namespace

Plan make_plan(const Spec& spec)
{
    Plan plan;
    for (int repetition = 0; repetition < spec.repetitions; ++repetition) {
        std::vector<PlannedRun> victims = trainings(spec);
        base::Random order =
            base::random_stream(spec.seed, stream_of_repetition + static_cast<std::uint64_t>(repetition));
        base::shuffle(order, std::span{victims});
        for (const PlannedRun& training : victims) add_block(plan, training, treatments(spec), spec);
    }
    return plan;
}

Plan combinations(const Spec& spec)
{
    Plan all;
    for (const PlannedRun& training : trainings(spec))
        for (const PlannedRun& treatment : treatments(spec)) {
            all.push_back(treatment);
            take_training(all.back(), training);
        }
    return all;
}

std::string treatment_name(const PlannedRun& run)
{
    const std::string noise = run.level.empty() ? run.noise : base::join(run.noise, "[", run.level, "]");
    if (run.cores == "all" || run.cores == "0") return noise;
    return base::join(noise, " on ", run.cores, run.cores == "1" ? " core" : " cores");
}

void write_plan(const std::filesystem::path& file, const Plan& plan)
{
    base::CsvWriter table{file, base::names_of(columns()), base::CsvWriter::Appear::whole};
    for (const PlannedRun& run : plan) table.write(base::cells_of(columns(), run));
    table.finish();
}

Plan read_plan(const std::filesystem::path& file)
{
    const base::CsvTable table{file};
    table.refuse_cut_off();
    Plan plan;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const std::string& name = plan.emplace_back(base::row_of(columns(), table, row)).name;
        if (name.empty() || name.find_first_of("/") != std::string::npos || name.starts_with("."))
            base::fail(table.place(row, "run"), ": '", name, "' is not the name of a run");
    }
    return plan;
}

// Estimates measured with two ranks: start and end take some seconds, a designed run's report some more; archive and
// tables grow by some 100 kB per rank and second with steps of 10 ms, which is short.
Expected expected(const PlannedRun& run, const Spec& spec)
{
    constexpr base::Nanoseconds start_and_end = std::chrono::seconds{5};
    constexpr base::Nanoseconds report = std::chrono::seconds{15};
    constexpr double bytes_per_rank_s = 100e3;
    constexpr double bytes_of_data = 2e6;
    Expected one;
    one.time = spec.duration + start_and_end + std::chrono::milliseconds{run.wait_ms};
    if (run.noise == base::campaign::designed) one.time += report;
    one.disk.count = static_cast<std::int64_t>(bytes_of_data + bytes_per_rank_s * base::seconds(spec.duration) *
                                                                   std::max(run.ranks, 1));
    return one;
}

Expected expected(const Plan& plan, const Spec& spec)
{
    Expected all;
    for (const PlannedRun& run : plan) {
        const Expected one = expected(run, spec);
        all.time += one.time;
        all.disk.count += one.disk.count;
    }
    return all;
}

void print_plan(std::ostream& out, const Plan& plan, const Spec& spec)
{
    const Expected all = expected(plan, spec);
    const auto blocks = static_cast<std::size_t>(plan.empty() ? 0 : plan.back().block);
    out << base::counted(plan.size(), "run") << " in " << base::counted(blocks, "block") << ", about "
        << about(all.time) << ", about " << base::fixed(static_cast<double>(all.disk.count) / 1048576.0, 0) << " MiB\n";
    int block = 0;
    for (const PlannedRun& run : plan) {
        if (run.block != block) {
            block = run.block;
            out << "block " << block << ": " << run.model;
            if (run.ranks > 0)
                out << ", " << run.strategy << ", " << base::counted(static_cast<std::size_t>(run.ranks), "rank")
                    << (run.options.empty() ? "" : ", ") << run.options;
            out << "\n";
        }
        out << "  " << run.name << "  " << treatment_name(run)
            << (run.noise == base::campaign::designed ? " " + run.schedule : "") << "\n";
    }
}

}  // namespace crosstalk
