// SPDX-License-Identifier: Apache-2.0
#include "base/contract/trials.hpp"

#include "base/contract/stored_state.hpp"
#include "base/contract/table_columns.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace base {

namespace {

const std::vector<TableColumn<Trial>>& trial_table()
{
    static const std::vector<TableColumn<Trial>> columns{
        table_column("trial", &Trial::name),
        table_column("block", &Trial::block),
        table_column("kind", &Trial::kind),
        table_column("step", &Trial::step),
        table_column("location", &Trial::location),
        table_column("bits", &Trial::bits),
        table_column("count", &Trial::count),
        table_column("target", &Trial::target),
        table_column("rank", &Trial::rank),
        table_column("guard", &Trial::guard),
        table_column("steps", &Trial::steps),
        table_column("seed", &Trial::seed),
        table_column("store", &Trial::store, Since::later),
        table_column("detect", &Trial::detect, Since::later),
        table_column("rate", &Trial::rate, Since::later),
        table_column("reads", &Trial::reads, Since::later),
    };
    return columns;
}

const std::vector<TableColumn<Outcome>>& outcome_table()
{
    static const std::vector<TableColumn<Outcome>> columns{
        table_column("trial", &Outcome::trial),
        table_column("kind", &Outcome::kind),
        table_column("strategy", &Outcome::strategy),
        table_column("rank", &Outcome::rank),
        table_column("step", &Outcome::step),
        table_column("path", &Outcome::path),
        table_column("bits", &Outcome::bits),
        table_column("guard", &Outcome::guard),
        table_column("class", &Outcome::what),
        table_column("accuracy", &Outcome::accuracy),
        table_column("loss", &Outcome::loss),
        table_column("first_difference", &Outcome::first_difference),
        table_column("caught", &Outcome::caught),
        table_column("checksum", &Outcome::checksum),
        table_column("state_checksum", &Outcome::state_checksum),
        table_column("index", &Outcome::index),
        table_column("drawn_from", &Outcome::drawn_from),
        table_column("accuracies", &Outcome::accuracies),
        table_column("largest", &Outcome::largest),
        table_column("not_finite", &Outcome::not_finite),
        table_column("steps", &Outcome::steps),
        table_column("seconds", &Outcome::seconds),
        table_column("flipped", &Outcome::flipped, Since::later),
        table_column("detected", &Outcome::detected, Since::later),
    };
    return columns;
}

template <std::size_t Count>
void check_word(const CsvTable& table, std::size_t row, const char* column, const std::string& word,
                const std::array<const char*, Count>& words)
{
    if (std::ranges::find(words, word) != words.end()) return;
    std::string all;
    for (const char* one : words) all += (all.empty() ? "" : ", ") + std::string{one};
    fail(table.place(row, column), ": '", word, "' is not one of ", all);
}

// Checks a trial of kind `stored`. Missing cells get their smallest values.
void check_stored(const CsvTable& table, std::size_t row, Trial& trial)
{
    if (trial.detect.empty()) trial.detect = stored::detections.front();
    if (trial.reads.empty()) trial.reads = stored::reads.front();
    check_word(table, row, "store", trial.store, stored::codes);
    check_word(table, row, "detect", trial.detect, stored::detections);
    check_word(table, row, "reads", trial.reads, stored::reads);
    if (!(trial.rate >= 0.0 && trial.rate <= 1.0))
        fail(table.place(row, "rate"), ": a bit flips with a probability from 0 to 1, not ", trial.rate);
    if (trial.target != "model")
        fail(table.place(row, "target"), ": a stored trial alters the model, not the ", trial.target);
    if (trial.reads == stored::each && trial.guard != "none")
        fail(table.place(row, "guard"), ": a stored trial with reads = each takes no guard");
}

Trial trial_in(const CsvTable& table, std::size_t row)
{
    auto trial = row_of(trial_table(), table, row);
    check_word(table, row, "kind", trial.kind,
               std::array{trial_kind::null, trial_kind::positive, trial_kind::trial, trial_kind::stored});
    check_word(table, row, "target", trial.target, std::array{"model", "optimizer", "both"});
    if (trial.count < 1) fail(table.place(row, "count"), ": ", trial.count, " is less than 1");
    if (trial.kind == trial_kind::stored) check_stored(table, row, trial);
    if (trial.rank == "all") return trial;
    std::int64_t rank = 0;
    take_cell(rank, table, row, "rank");
    return trial;
}

Outcome outcome_in(const CsvTable& table, std::size_t row)
{
    namespace known = outcome_class;
    auto outcome = row_of(outcome_table(), table, row);
    check_word(table, row, "class", outcome.what,
               std::array{known::crashed, known::collapsed, known::masked, known::ended, known::degraded,
                          known::recovered, known::latent, known::tolerated});
    if (outcome.accuracy && !(*outcome.accuracy >= 0.0 && *outcome.accuracy <= 1.0))
        fail(table.place(row, "accuracy"), ": an accuracy is from 0 to 1, not ", *outcome.accuracy);
    return outcome;
}

}  // namespace

std::vector<Trial> read_trials(const std::filesystem::path& file)
{
    const CsvTable table{file};
    table.refuse_cut_off();
    std::vector<Trial> trials;
    std::set<std::string> names;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        trials.push_back(trial_in(table, row));
        if (!names.insert(trials.back().name).second)
            fail(table.place(row, "trial"), ": ", trials.back().name, " occurs twice");
    }
    if (trials.empty()) fail_usage(file.string(), " has no trial");
    return trials;
}

void write_trials(const std::filesystem::path& file, const std::vector<Trial>& trials)
{
    CsvWriter table{file, names_of(trial_table()), CsvWriter::Appear::whole};
    for (const Trial& one : trials) table.write(cells_of(trial_table(), one));
    table.finish();
}

const std::vector<std::string>& outcome_columns()
{
    static const std::vector<std::string> columns = names_of(outcome_table());
    return columns;
}

std::vector<std::string> cells(const Outcome& outcome)
{
    return cells_of(outcome_table(), outcome);
}

std::vector<Outcome> read_outcomes(const std::filesystem::path& file)
{
    const CsvTable table{file};
    std::vector<Outcome> all;
    for (std::size_t row = 0; row < table.rows(); ++row) all.push_back(outcome_in(table, row));
    return all;
}

}  // namespace base
