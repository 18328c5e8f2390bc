// SPDX-License-Identifier: Apache-2.0
#include "analysis/checkpoints/input.hpp"

#include "analysis/estimate/analyse.hpp"
#include "analysis/input/join.hpp"
#include "analysis/input/run_steps.hpp"
#include "analysis/input/training_reader.hpp"
#include "analysis/results/record.hpp"
#include "analysis/sections/checkpoints/checkpoints.hpp"
#include "base/contract/background_work.hpp"
#include "base/contract/checkpoint_table.hpp"
#include "base/contract/phases.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/table_columns.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/words.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace analysis {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t slot_rounding_ns = 1000;

using SaveRow = base::checkpoint::Save;

// Time from the start of a save until it was written. The training thread waits for a synchronous save, and for the
// copy of an asynchronous one.
std::int64_t duration_ns(const SaveRow& row)
{
    if (row.mode == "async") return std::max(row.stall_ns, row.copy_ns) + row.write_ns + row.sync_ns;
    return std::max(row.stall_ns, row.copy_ns + row.write_ns + row.sync_ns);
}

// A training's steps, and for each of its ranks the slots on that rank's clock; empty without noise.
struct StepsAndSlots {
    const StepTable& steps;
    const std::vector<std::vector<Slot>>& slots;
    int all_ranks = 0;  // of the training; `steps` lacks those on nodes without noise

    std::optional<std::size_t> index_of(int rank) const
    {
        for (std::size_t r = 0; r < steps.ranks.size(); ++r)
            if (steps.ranks[r].rank == rank) return r;
        return std::nullopt;
    }
};

bool is_request(const Assigned& on)
{
    return on.stressor == base::job_checkpoint;
}

NoiseState state_of(const Slot& slot)
{
    Treatment treatment{slot.on};
    std::erase_if(treatment.on, is_request);
    return {treatment.name(), treatment.on.empty() ? "" : treatment.on.front().stressor, !is_without_noise(treatment)};
}

NoiseState merged_state(const std::optional<NoiseState>& so_far, const NoiseState& next)
{
    if (!so_far || so_far->name == next.name) return next;
    return {several_noises, "", true};
}

NoiseState state_during(const std::vector<Slot>& slots, std::int64_t begin_ns, std::int64_t end_ns)
{
    const NoiseState quiet{no_noise, "", false};
    if (slots.empty()) return quiet;
    std::optional<NoiseState> state;
    if (begin_ns < slots.front().begin_ns - slot_rounding_ns || end_ns > slots.back().end_ns + slot_rounding_ns)
        state = quiet;
    auto slot = std::upper_bound(slots.begin(), slots.end(), begin_ns,
                                 [](std::int64_t time_ns, const Slot& one) { return time_ns < one.end_ns; });
    for (; slot != slots.end() && slot->begin_ns < end_ns; ++slot) state = merged_state(state, state_of(*slot));
    return state.value_or(quiet);
}

// Index of the step of that rank in which the time lies, or which is the last one before it; none if it lies before all
// steps.
std::optional<std::size_t> step_at(const RankSteps& rank, std::int64_t time_ns)
{
    const auto after = std::upper_bound(rank.begin_ns.begin(), rank.begin_ns.end(), time_ns);
    if (after == rank.begin_ns.begin()) return std::nullopt;
    return static_cast<std::size_t>(after - rank.begin_ns.begin()) - 1;
}

// Adds one rank's part of a save.
void take_part(Save& save, const SaveRow& row, const StepsAndSlots& beside, std::optional<NoiseState>& noise)
{
    const auto slowest = [](double& longest_s, std::int64_t ns) {
        longest_s = std::max(longest_s, static_cast<double>(ns) / 1e9);
    };
    slowest(save.stall_s, row.stall_ns);
    slowest(save.copy_s, row.copy_ns);
    slowest(save.write_s, row.write_ns);
    slowest(save.sync_s, row.sync_ns);
    slowest(save.duration_s, duration_ns(row));
    save.bytes += static_cast<double>(row.bytes);
    const std::optional<std::size_t> rank = beside.index_of(row.rank);
    if (!rank) return;
    const RankSteps& steps = beside.steps.ranks[*rank];
    const std::int64_t end_ns = row.begin_ns + duration_ns(row);
    if (!beside.slots.empty()) noise = merged_state(noise, state_during(beside.slots[*rank], row.begin_ns, end_ns));
    const std::optional<std::size_t> first = step_at(steps, row.begin_ns);
    if (!first || row.begin_ns >= steps.end_ns[*first]) return;
    save.first_step = std::min(save.first_step.value_or(*first), *first);
    save.last_step = std::max(save.last_step, *step_at(steps, end_ns));
}

std::vector<Save> saves_of(const std::vector<SaveRow>& rows, const StepsAndSlots& beside, const std::string& model)
{
    std::map<std::int64_t, std::vector<const SaveRow*>> of_step;
    for (const SaveRow& row : rows) of_step[row.step].push_back(&row);
    std::vector<Save> saves;
    for (const auto& [number, parts] : of_step) {
        std::set<int> ranks;
        std::optional<NoiseState> noise;
        for (const SaveRow* row : parts) {
            // A rank that has written already: the step was saved again, after a guard had undone it.
            if (ranks.empty() || ranks.contains(row->rank)) {
                ranks.clear();
                noise.reset();
                saves.push_back({.number = number,
                                 .setting = {row->format, row->content, row->by, row->mode, row->fsync == "yes",
                                             beside.all_ranks, model, row->compress},
                                 .noise = {}});
            }
            ranks.insert(row->rank);
            // Rank 0 of a script that calls torch.save does not know that others do so, too: they write "all".
            saves.back().setting.by = std::min(saves.back().setting.by, row->by);
            take_part(saves.back(), *row, beside, noise);
            saves.back().noise = noise.value_or(NoiseState{no_noise, "", false});
        }
    }
    return saves;
}

void read_saves(const fs::path& file, const StepsAndSlots& beside, CheckpointRun& run)
{
    if (!fs::exists(file)) {
        if (run.restarts.empty())
            run.notes.push_back(
                base::join(run.name, " has no ", file.filename().string(), ": no checkpoint was written"));
        return;
    }
    const base::CsvTable table{file};
    std::vector<SaveRow> rows;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        rows.push_back(base::row_of(base::checkpoint::columns(), table, row));
        const std::string& mode = rows.back().mode;
        if (mode != "sync" && mode != "async")
            base::fail(table.place(row, "mode"), ": '", mode, "', not sync or async");
    }
    if (table.cut_off())
        run.cut_off = base::join(file.string(), " is cut off: its ", table.rows(), " complete rows count");
    run.saves = saves_of(rows, beside, run.model);
}

void read_restarts(const fs::path& file, const StepsAndSlots& beside, CheckpointRun& run)
{
    if (!fs::exists(file)) return;
    const base::CsvTable table{file};
    std::set<int> ranks;
    std::optional<NoiseState> noise;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto part = base::row_of(base::checkpoint::restart_columns(), table, row);
        if (ranks.empty() || ranks.contains(part.rank)) {
            ranks.clear();
            noise.reset();
            run.restarts.push_back(
                {.setting = {part.format, part.content, part.by, "", false, beside.all_ranks, run.model, part.compress},
                 .noise = {}});
        }
        ranks.insert(part.rank);
        RestartTime& restart = run.restarts.back();
        restart.verify_s = std::max(restart.verify_s, static_cast<double>(part.verify_ns) / 1e9);
        restart.read_s = std::max(restart.read_s, static_cast<double>(part.read_ns) / 1e9);
        restart.bytes += static_cast<double>(part.bytes);
        if (const std::optional<std::size_t> rank = beside.index_of(part.rank); rank && !beside.slots.empty())
            noise = merged_state(noise, state_during(beside.slots[*rank], part.begin_ns, part.end_ns));
        restart.noise = noise.value_or(NoiseState{no_noise, "", false});
    }
}

// Steps without the time of checkpoints and of the control's barriers and delays.
void take_steps(const StepsAndSlots& beside, CheckpointRun& run)
{
    const std::vector<std::string>& phases = beside.steps.phases;
    std::vector<std::size_t> without;
    for (std::size_t p = 0; p < phases.size(); ++p) {
        const base::PhaseCard* card = base::find_phase(phases[p]);
        const bool apart =
            card != nullptr && (card->part == base::PhasePart::checkpoint || card->part == base::PhasePart::control);
        if (apart) without.push_back(1 + p);
    }
    const Measures measures = measures_of(beside.steps);
    std::vector<double> values(static_cast<std::size_t>(measures.cols()));
    const RankSteps& first = beside.steps.ranks.front();
    const std::vector<Slot> slots = beside.slots.empty() ? std::vector<Slot>{} : beside.slots.front();
    for (std::size_t step = 0; step < measures.steps(); ++step) {
        otf2::getting_on();
        measures.fill(step, values);
        double ms = values.front();
        for (const std::size_t p : without) ms -= values[p];
        run.step_ms.push_back(ms);
        const NoiseState state = state_during(slots, first.begin_ns[step], first.end_ns[step]);
        const auto known = std::find_if(run.states.begin(), run.states.end(),
                                        [&](const NoiseState& one) { return one.name == state.name; });
        run.state.push_back(static_cast<std::uint32_t>(known - run.states.begin()));
        if (known == run.states.end()) run.states.push_back(state);
        TimeUnderNoise& time = run.time[state.name];
        time.s += values.front() / 1e3;
        ++time.steps;
    }
}

// The costs of a design whose slots asked for checkpoints, as the run's report has them.
void take_requested(DesignedRun& designed, Design design, CheckpointRun& run)
{
    const std::vector<Slot>& slots = designed.slots.front();
    const auto asks = [](const Slot& slot) { return std::any_of(slot.on.begin(), slot.on.end(), is_request); };
    if (std::none_of(slots.begin(), slots.end(), asks)) return;
    const std::string only_mode = run.saves.empty() ? "" : run.saves.front().setting.mode;
    try {
        designed.plan = experiment(design, slots);
        if (!designed.plan.randomised()) return;
        const Analysis analysis = analyse(designed, {.by_rank = false});
        for (const CheckpointCost& cost : checkpoint_costs(designed, analysis)) {
            const bool async = cost.level.find("mode=async") != std::string::npos;
            const bool sync = cost.level.find("mode=sync") != std::string::npos;
            run.requested.push_back({async ? "async" : sync ? "sync" : only_mode, cost.percent, cost.between_s});
        }
    } catch (const base::Error& error) {
        run.notes.push_back(
            base::join(run.name, ": the slots of ", base::job_checkpoint, " allow no estimate: ", error.what()));
    }
}

void take_record(const fs::path& train, CheckpointRun& run)
{
    std::error_code ignored;
    for (const fs::path& folder : {train.parent_path(), train.parent_path().parent_path()}) {
        const fs::path file = folder / base::file::run_record;
        if (!fs::is_regular_file(file, ignored)) continue;
        try {
            const nlohmann::ordered_json record = base::read_json(file);
            if (word(record, "program") == "ddl-train") run.model = word(object_in(record, "training"), "model");
            run.parameters = number_in(object_in(record, "result"), "parameters");
            run.steps_per_epoch = number_in(object_in(record, "training"), "steps_per_epoch");
        } catch (const base::Error& error) {
            run.notes.push_back(base::join("the training's record is left out: ", error.what()));
        } catch (const nlohmann::json::exception&) {
            run.notes.push_back(base::join("the training's record is left out: ", file.string(), " is not JSON"));
        }
        return;
    }
}

CheckpointFiles files_of_run(const fs::path& directory)
{
    const fs::path train = directory / base::part::train;
    CheckpointFiles files{.name = directory.string(),
                          .saves = train / base::checkpoint::table,
                          .restarts = train / base::checkpoint::restarts,
                          .train = steps_file(directory),
                          .noise = {}};
    const fs::path noise = directory / base::part::noise;
    if (fs::is_directory(noise))
        for (const fs::directory_entry& process : fs::directory_iterator{noise})
            if (process.is_directory()) files.noise.push_back(process.path() / base::file::anchor_in_part);
    std::sort(files.noise.begin(), files.noise.end());
    return files;
}

}  // namespace

std::vector<CheckpointFiles> checkpoint_files(const std::vector<std::string>& directories)
{
    std::vector<CheckpointFiles> all;
    for (const fs::path directory : directories) {
        if (!fs::is_directory(directory)) base::fail("there is no directory ", directory.string());
        all.push_back(files_of_run(directory));
        for (int part = base::first_added_part;; ++part) {
            const fs::path added = directory / (base::part::added + std::to_string(part));
            if (!fs::is_directory(added)) break;
            all.push_back(files_of_run(added));
        }
    }
    return all;
}

CheckpointRun read_checkpoint_run(const CheckpointFiles& files, std::optional<std::int64_t> clock_offset_ns)
{
    CheckpointRun run;
    run.name = files.name;
    const Training training = read_training(files.train);
    std::vector<Noise> noise;
    for (const fs::path& archive : files.noise) noise.push_back(read_noise(archive));
    std::optional<Joined> joined;
    if (!noise.empty()) joined = join_without_plan(training, noise, clock_offset_ns);
    const std::vector<std::vector<Slot>> no_slots;
    const StepsAndSlots beside{joined ? joined->run.steps : training.steps, joined ? joined->run.slots : no_slots,
                               static_cast<int>(training.steps.ranks.size())};
    take_steps(beside, run);
    take_record(files.train, run);
    read_restarts(files.restarts, beside, run);
    read_saves(files.saves, beside, run);
    if (training.steps.cut_off && run.cut_off.empty())
        run.cut_off =
            base::join(files.train.string(), " is cut off: its ", run.step_ms.size(), " complete steps count");
    if (joined) {
        for (const std::string& broken : joined->promises_broken) run.notes.push_back(run.name + ": " + broken);
        take_requested(joined->run, noise.front().design, run);
    }
    return run;
}

}  // namespace analysis
