#include "base/contract/trials.hpp"

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

namespace base {

namespace {

const std::vector<std::string> trial_columns{"trial", "block",  "kind", "step",  "location", "bits",
                                             "count", "target", "rank", "guard", "steps",    "seed"};

// The shortest text that reads back as the same number; none is an empty cell.
std::string cell(std::optional<double> number)
{
    if (!number) return {};
    if (std::isnan(*number)) return "nan";
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), *number).ptr;
    return {text.data(), end};
}

std::optional<double> number_in(const CsvTable& table, std::size_t row, const char* column)
{
    if (table.text(row, column).empty()) return std::nullopt;
    if (table.text(row, column) == "nan") return std::nan("");
    if (table.text(row, column) == "inf") return HUGE_VAL;
    return table.get<double>(row, column);
}

template <std::size_t Count>
void check_word(const CsvTable& table, std::size_t row, const char* column, const std::array<const char*, Count>& words)
{
    const std::string& word = table.text(row, column);
    if (std::find(words.begin(), words.end(), word) != words.end()) return;
    std::string all;
    for (const char* one : words) all += (all.empty() ? "" : ", ") + std::string{one};
    fail(table.place(row, column), ": '", word, "' is none of ", all);
}

std::int64_t whole(const CsvTable& table, std::size_t row, const char* column, std::int64_t least)
{
    const auto number = table.get<std::int64_t>(row, column);
    if (number < least) fail(table.place(row, column), ": ", number, " is less than ", least);
    return number;
}

Trial trial_in(const CsvTable& table, std::size_t row)
{
    check_word<3>(table, row, "kind", {trial_kind::null, trial_kind::positive, trial_kind::trial});
    check_word<3>(table, row, "target", {"model", "optimizer", "both"});
    Trial trial{.name = table.text(row, "trial"),
                .block = table.get<int>(row, "block"),
                .kind = table.text(row, "kind"),
                .step = whole(table, row, "step", 0),
                .location = table.text(row, "location"),
                .bits = table.text(row, "bits"),
                .count = whole(table, row, "count", 1),
                .target = table.text(row, "target"),
                .rank = table.text(row, "rank"),
                .guard = table.text(row, "guard"),
                .steps = whole(table, row, "steps", 0),
                .seed = static_cast<std::uint64_t>(whole(table, row, "seed", 0))};
    if (trial.rank != "all") whole(table, row, "rank", 0);
    return trial;
}

}  // namespace

std::vector<Trial> read_trials(const std::filesystem::path& file)
{
    const CsvTable table{file};
    std::vector<Trial> trials;
    std::set<std::string> names;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        trials.push_back(trial_in(table, row));
        if (!names.insert(trials.back().name).second)
            fail(table.place(row, "trial"), ": ", trials.back().name, " is there twice");
    }
    if (trials.empty()) fail_usage(file.string(), " has no trial");
    return trials;
}

void write_trials(const std::filesystem::path& file, const std::vector<Trial>& trials)
{
    CsvWriter table{file, trial_columns, CsvWriter::Appear::whole};
    for (const Trial& one : trials)
        table.row(one.name, one.block, one.kind, one.step, one.location, one.bits, one.count, one.target, one.rank,
                  one.guard, one.steps, one.seed);
    table.finish();
}

const std::vector<std::string>& outcome_columns()
{
    static const std::vector<std::string> columns{
        "trial",   "kind",       "strategy",       "rank",     "step",       "path",
        "bits",    "guard",      "class",          "accuracy", "loss",       "first_difference",
        "caught",  "checksum",   "state_checksum", "index",    "drawn_from", "accuracies",
        "largest", "not_finite", "steps",          "seconds"};
    return columns;
}

std::vector<std::string> cells(const Outcome& one)
{
    return {one.trial,
            one.kind,
            one.strategy,
            one.rank,
            std::to_string(one.step),
            one.path,
            one.bits,
            one.guard,
            one.what,
            cell(one.accuracy),
            cell(one.loss),
            one.first_difference ? std::to_string(*one.first_difference) : std::string{},
            one.caught,
            one.checksum,
            one.state_checksum,
            one.index,
            cell(one.drawn_from),
            one.accuracies,
            cell(one.largest),
            std::to_string(one.not_finite),
            std::to_string(one.steps),
            cell(one.seconds)};
}

std::vector<Outcome> read_outcomes(const std::filesystem::path& file)
{
    const CsvTable table{file};
    std::vector<Outcome> all;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto text = [&](const char* column) { return table.text(row, column); };
        Outcome one{.trial = text("trial"),
                    .kind = text("kind"),
                    .strategy = text("strategy"),
                    .rank = text("rank"),
                    .step = whole(table, row, "step", 0),
                    .path = text("path"),
                    .bits = text("bits"),
                    .guard = text("guard"),
                    .what = text("class"),
                    .accuracy = number_in(table, row, "accuracy"),
                    .loss = number_in(table, row, "loss"),
                    .caught = text("caught"),
                    .checksum = text("checksum"),
                    .state_checksum = text("state_checksum"),
                    .index = text("index"),
                    .drawn_from = number_in(table, row, "drawn_from").value_or(0.0),
                    .accuracies = text("accuracies"),
                    .largest = number_in(table, row, "largest"),
                    .not_finite = whole(table, row, "not_finite", 0),
                    .steps = whole(table, row, "steps", 0),
                    .seconds = number_in(table, row, "seconds").value_or(0.0)};
        if (!text("first_difference").empty()) one.first_difference = whole(table, row, "first_difference", 0);
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace base
