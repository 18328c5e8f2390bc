// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/predict.hpp"

#include "analysis/cli/run_files.hpp"
#include "analysis/input/confined.hpp"
#include "analysis/input/run_steps.hpp"
#include "analysis/input/training_reader.hpp"
#include "analysis/predict/tables.hpp"
#include "base/cli/option_checks.hpp"
#include "base/contract/run_directory.hpp"
#include "base/files.hpp"
#include "base/words.hpp"

#include <filesystem>
#include <iostream>

namespace analysis {

namespace {

namespace fs = std::filesystem;

constexpr int most_ranks_per_node = 4096;

// The files of a run with noise, without its added parts, or of a training alone.
RunFiles files_of(const std::string& directory, const Settings& settings, bool warm_up_given)
{
    if (fs::is_directory(fs::path{directory} / base::part::noise))
        return runs_in({directory}, settings, {"", warm_up_given}).front().front();
    return {
        .name = directory, .directory = directory, .train = steps_file(directory), .noise = {}, .settings = settings};
}

std::vector<fs::path> noise_records_of(const std::string& directory, const Settings& settings)
{
    std::vector<fs::path> records;
    for (const RunParts& parts : runs_in({directory}, settings, {}))
        for (const RunFiles& part : parts)
            for (const fs::path& archive : part.noise)
                records.push_back(archive.parent_path().parent_path() / base::file::noise_record);
    return records;
}

MeasuredTimes measured_times(const RunFiles& files)
{
    const Training training = read_training(files.train, files.settings.steps);
    std::optional<Joined> joined;
    std::vector<Noise> noise;
    for (const fs::path& archive : files.noise) noise.push_back(read_noise(archive));
    if (!noise.empty()) joined = join(training, noise, files.settings.clock_offset_ns());
    return own_times(
        training, joined,
        {joined ? warm_up_steps(files.settings, joined->run) : warm_up_steps(files.settings, training.steps),
         files.settings.guard});
}

}  // namespace

Predict::Predict() : Command{"interference predict", "predicts the slowdown by a neighbour, or on more ranks"}
{
    options.add_positional("DIR", directory_, "the run's directory, with train/ and noise/");
    options.group("A neighbour that was not measured with it");
    options.add(
        "neighbour", neighbour_,
        "pressure.json of noisegen probe --command; its slowdown is read from the response curves of DIR/report",
        "FILE");
    options.group("More ranks");
    options.add("ranks", ranks_,
                "numbers of ranks, as a list such as 64,128,512 or a range such as 1..65536 (its powers of two)",
                "NUMBERS");
    options.add("ranks-per-node", ranks_per_node_, "ranks per node (default: as measured)", "NUMBER");
    options.group("How");
    options.add("out", out_, "write the table as CSV; the file must not exist", "FILE.csv");
    options.add("page", page_, "directory for a page with the table and a plot; must not exist", "DIR");
    options.add("warmup", settings_.warm_up_text,
                "with --ranks: warm-up to exclude, a number of steps or a time such as 5s", "STEPS|TIME");
    options.add("clock-offset", settings_.clock_offset,
                "with --ranks: training's clock - noise's clock, if they have different clocks", "TIME");
    options.example("interference predict run1 --neighbour app/probe/pressure.json");
    options.example("interference predict run1 --ranks 1..65536");
    options.epilogue(
        "Pressures outside of the measured range get no prediction. Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 the "
        "neighbour's pressure lies outside of the measured range.");
}

int Predict::run()
{
    if (neighbour_.empty() == ranks_.empty())
        base::fail_usage("predict needs either --neighbour or --ranks (interference predict --help)");
    check(settings_);
    if (!fs::exists(directory_)) base::fail("there is no directory ", directory_);
    for (const std::string& wanted : {out_, page_})
        if (!wanted.empty() && fs::exists(wanted)) base::fail_taken(wanted);
    if (!neighbour_.empty()) return neighbour();
    static_cast<void>(parse_ranks(ranks_));
    if (options.given("ranks-per-node"))
        base::check_within(1, most_ranks_per_node, ranks_per_node_, "--ranks-per-node");
    const RunFiles files = files_of(directory_, settings_, options.given("warmup"));
    std::vector<fs::path> read{files.train};
    read.insert(read.end(), files.noise.begin(), files.noise.end());
    return otf2::confined("interference", limits_for(read), [this] { return ranks(); });
}

int Predict::neighbour() const
{
    NeighbourPrediction prediction{
        .directory = directory_,
        .neighbour = read_neighbour(neighbour_),
        .measured = read_curves(fs::path{directory_} / base::part::report, noise_records_of(directory_, settings_)),
        .parts = {},
        .notes = {}};
    prediction.notes = prediction.measured.notes;
    prediction.parts = predict_parts(prediction.measured, prediction.neighbour, prediction.notes);
    if (!out_.empty()) write_csv(out_, prediction);
    if (!page_.empty()) write_page(page_, prediction);
    base::print_lines(std::cout, [&](std::ostream& text) { print(text, prediction); });
    base::flush_stdout();
    const bool said = !prediction.parts.empty() && together(prediction.parts).high.has_value();
    return said ? base::exit_fine : base::exit_promise_not_kept;
}

int Predict::ranks() const
{
    Projection projection{.directory = directory_,
                          .measured = measured_times(files_of(directory_, settings_, options.given("warmup"))),
                          .ranks_per_node = ranks_per_node_,
                          .rows = {}};
    otf2::reading_is_over();
    if (projection.ranks_per_node == 0) projection.ranks_per_node = projection.measured.ranks_per_node;
    projection.rows = projected(projection.measured, parse_ranks(ranks_), projection.ranks_per_node);
    if (!out_.empty()) write_csv(out_, projection);
    if (!page_.empty()) write_page(page_, projection);
    base::print_lines(std::cout, [&](std::ostream& text) { print(text, projection); });
    base::flush_stdout();
    return base::exit_fine;
}

}  // namespace analysis
