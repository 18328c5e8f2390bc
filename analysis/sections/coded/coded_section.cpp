// SPDX-License-Identifier: Apache-2.0
// Section on coded trainings: soft errors and their outcomes, and the waiting for symbols under each noise.
#include "analysis/metrics/metric.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/record.hpp"
#include "analysis/sections/coded/coded.hpp"
#include "analysis/sections/section.hpp"
#include "base/contract/factor_name.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>

namespace analysis {

namespace {

namespace fs = std::filesystem;
namespace code = base::code;
using base::join;
using CodedJson = nlohmann::ordered_json;

constexpr const char* errors_file = "coded_errors.csv";
constexpr const char* products_file = "coded_products.csv";
constexpr const char* last_file = "coded_last_ranks.csv";

struct CodedRun {
    std::vector<ErrorsOf> errors;
    std::vector<ProductsUnder> products;
    std::optional<double> rollbacks;  // as the training's record has them
    std::optional<double> steps;
    std::optional<double> steps_undone;
};

const CodedRun& coded_of(const Report& report)
{
    return report.kept.of<CodedRun>();
}

// The table beside train/trace/traces.otf2 or train/steps.csv; empty if there is none.
fs::path beside_training(const Report& report, const char* name)
{
    const fs::path& training = report.records.front().archive;
    for (const fs::path& folder : {training.parent_path().parent_path(), training.parent_path()})
        if (fs::is_regular_file(folder / name)) return folder / name;
    return {};
}

std::vector<code::ErrorRow> read_errors(Report& report, const fs::path& file)
{
    const base::CsvTable table{file};
    std::vector<code::ErrorRow> all;
    for (std::size_t row = 0; row < table.rows(); ++row) all.push_back(base::row_of(code::error_columns(), table, row));
    if (table.cut_off()) report.notes.push_back(join(code::errors_table, " is cut off: its last row is left out"));
    return all;
}

void estimate_coded(Report& report, const SectionInput&)
{
    if (report.records.empty()) return;
    const fs::path errors_csv = beside_training(report, code::errors_table);
    const fs::path products_csv = beside_training(report, code::products_table);
    if (errors_csv.empty() && products_csv.empty()) return;
    CodedRun coded;
    std::vector<code::ErrorRow> errors;
    if (!errors_csv.empty())
        read_or_note(report, "soft errors of the coded training are",
                     [&] { errors = read_errors(report, errors_csv); });
    coded.errors = errors_by_outcome(errors);
    if (!products_csv.empty())
        read_or_note(report, "coded products are",
                     [&] { coded.products = products_by_noise(report, products_csv, errors); });
    if (const Record* training = training_record(report)) {
        const CodedJson result = object_in(training->json, "result");
        coded.rollbacks = number_in(object_in(result, "code"), "rollbacks");
        coded.steps = number_in(result, "steps");
        coded.steps_undone = number_in(result, "steps_undone");
    }
    report.kept.of<CodedRun>() = std::move(coded);
}

std::string words_of(std::string outcome)
{
    std::ranges::replace(outcome, '_', ' ');
    return outcome;
}

double largest(const std::vector<double>& values)
{
    return *std::ranges::max_element(values);
}

// Times until detection, over all errors that have one.
ErrorsOf all_found(const std::vector<ErrorsOf>& errors)
{
    ErrorsOf all;
    for (const ErrorsOf& some : errors) {
        all.steps.insert(all.steps.end(), some.steps.begin(), some.steps.end());
        all.ms.insert(all.ms.end(), some.ms.begin(), some.ms.end());
    }
    return all;
}

std::string sentence_of_errors(const std::vector<ErrorsOf>& errors)
{
    std::map<std::string, std::size_t> outcomes;
    for (const ErrorsOf& some : errors) outcomes[some.outcome] += some.errors;
    std::vector<std::string> counts;
    for (const auto& [outcome, count] : outcomes) counts.push_back(join(count, " ", words_of(outcome)));
    std::string text = join("Soft errors: ", base::join_words(counts, ", "));
    if (const ErrorsOf found = all_found(errors); !found.ms.empty())
        text +=
            join("; time until found: ", fixed(median(found.ms), 2), " ms in the median, ", fixed(largest(found.ms), 2),
                 " ms at most; steps: ", fixed(median(found.steps), 0), " and ", fixed(largest(found.steps), 0));
    return text + ".";
}

std::string sentence_of_rollbacks(const CodedRun& coded)
{
    std::string text = counted(static_cast<std::size_t>(*coded.rollbacks), "rollback");
    if (coded.steps && coded.steps_undone && *coded.steps > 0.0)
        text += join(" undid ", fixed(*coded.steps_undone, 0), " of ", fixed(*coded.steps, 0), " steps (",
                     percent(100.0 * *coded.steps_undone / *coded.steps), "), which were made again");
    return text + ".";
}

std::string sentence_of_quiet(const ProductsUnder& quiet)
{
    return join("Coded products: in quiet, one waits ", fixed(quiet.wait_ms, 3), " ms for symbols; waiting is ",
                percent(quiet.wait_percent), " of the step, decoding ", percent(quiet.decode_percent), ".");
}

std::string sentence_of_noise(const Treatment& treatment, const ProductsUnder& under)
{
    const NoiseTable::Row row = row_of(treatment);
    return join(base::factor_name(row.factor, row.level), ": a coded product waits ",
                under.more_wait_ms < 0.0 ? "" : "+", fixed(under.more_wait_ms, 3), " ms (", fixed(under.more->low, 3),
                " to ", fixed(under.more->high, 3), " ms) against quiet.");
}

std::vector<std::string> coded_sentences(const Report& report)
{
    const CodedRun& coded = coded_of(report);
    std::vector<std::string> all;
    if (!coded.errors.empty()) all.push_back(sentence_of_errors(coded.errors));
    if (coded.rollbacks.value_or(0.0) > 0.0) all.push_back(sentence_of_rollbacks(coded));
    for (const ProductsUnder& under : coded.products) {
        const Treatment& treatment = report.run.plan.treatments[under.treatment];
        if (under.treatment == 0) all.push_back(sentence_of_quiet(under));
        if (!is_without_noise(treatment)) all.push_back(sentence_of_noise(treatment, under));
    }
    return all;
}

// Columns of a table, which JSON has as members. None: an empty cell, or null.
template <class Row>
struct NumberColumn {
    const char* name;
    std::optional<double> (*value)(const Row&);
};

std::optional<double> none_or(const std::vector<double>& values, double (*of)(const std::vector<double>&))
{
    return values.empty() ? std::nullopt : std::optional{of(values)};
}

double median_of(const std::vector<double>& values)
{
    return median(values);
}

using OptionalNumber = std::optional<double>;

constexpr std::array error_numbers{
    NumberColumn<ErrorsOf>{"errors",
                           [](const ErrorsOf& of) -> OptionalNumber { return static_cast<double>(of.errors); }},
    NumberColumn<ErrorsOf>{"median_steps", [](const ErrorsOf& of) { return none_or(of.steps, median_of); }},
    NumberColumn<ErrorsOf>{"most_steps", [](const ErrorsOf& of) { return none_or(of.steps, largest); }},
    NumberColumn<ErrorsOf>{"median_ms", [](const ErrorsOf& of) { return none_or(of.ms, median_of); }},
    NumberColumn<ErrorsOf>{"most_ms", [](const ErrorsOf& of) { return none_or(of.ms, largest); }},
};

using Under = ProductsUnder;
constexpr std::array product_numbers{
    NumberColumn<Under>{"steps", [](const Under& of) -> OptionalNumber { return static_cast<double>(of.steps); }},
    NumberColumn<Under>{"products", [](const Under& of) -> OptionalNumber { return static_cast<double>(of.products); }},
    NumberColumn<Under>{"errors", [](const Under& of) -> OptionalNumber { return static_cast<double>(of.errors); }},
    NumberColumn<Under>{"product_ms", [](const Under& of) -> OptionalNumber { return of.product_ms; }},
    NumberColumn<Under>{"wait_ms", [](const Under& of) -> OptionalNumber { return of.wait_ms; }},
    NumberColumn<Under>{"decode_ms", [](const Under& of) -> OptionalNumber { return of.decode_ms; }},
    NumberColumn<Under>{"more_wait_ms",
                        [](const Under& of) { return of.more ? OptionalNumber{of.more_wait_ms} : std::nullopt; }},
    NumberColumn<Under>{"low_ms",
                        [](const Under& of) { return of.more ? OptionalNumber{of.more->low} : std::nullopt; }},
    NumberColumn<Under>{"high_ms",
                        [](const Under& of) { return of.more ? OptionalNumber{of.more->high} : std::nullopt; }},
    NumberColumn<Under>{"wait_percent", [](const Under& of) -> OptionalNumber { return of.wait_percent; }},
    NumberColumn<Under>{"decode_percent", [](const Under& of) -> OptionalNumber { return of.decode_percent; }},
    NumberColumn<Under>{"late_symbols", [](const Under& of) -> OptionalNumber { return of.late; }},
    NumberColumn<Under>{"saved_ms", [](const Under& of) -> OptionalNumber { return of.saved_ms; }},
};

template <class Columns>
std::vector<std::string> head_of(std::vector<std::string> keys, const Columns& columns)
{
    for (const auto& column : columns) keys.emplace_back(column.name);
    return keys;
}

template <class Columns, class Row>
std::vector<std::string> cells_of(std::vector<std::string> keys, const Columns& columns, const Row& row)
{
    for (const auto& column : columns) keys.push_back(base::cell_of(column.value(row)));
    return keys;
}

// Counts have no fraction in JSON either.
CodedJson json_number(double value)
{
    return std::trunc(value) == value ? CodedJson(static_cast<std::int64_t>(value)) : CodedJson(value);
}

template <class Columns, class Row>
void add_numbers(CodedJson& json, const Columns& columns, const Row& row)
{
    for (const auto& column : columns) {
        const OptionalNumber value = column.value(row);
        json[column.name] = value ? json_number(*value) : CodedJson(nullptr);
    }
}

void write_errors(const fs::path& file, const Report& report)
{
    base::CsvWriter table{file, head_of({"site", "outcome"}, error_numbers)};
    for (const ErrorsOf& some : coded_of(report).errors)
        table.write(cells_of({some.site, some.outcome}, error_numbers, some));
}

std::string treatment_name(const Report& report, const ProductsUnder& under)
{
    return report.run.plan.treatments[under.treatment].name();
}

void write_products(const fs::path& file, const Report& report)
{
    base::CsvWriter table{file, head_of({"treatment"}, product_numbers)};
    for (const ProductsUnder& under : coded_of(report).products)
        table.write(cells_of({treatment_name(report, under)}, product_numbers, under));
}

double percent_of_products(const ProductsUnder& under, std::size_t products)
{
    return 100.0 * static_cast<double>(products) / static_cast<double>(under.products);
}

void write_last(const fs::path& file, const Report& report)
{
    base::CsvWriter table{file, {"treatment", "last_rank", "products", "percent_of_products"}};
    for (const ProductsUnder& under : coded_of(report).products)
        for (const auto& [rank, products] : under.last)
            table.row(treatment_name(report, under), rank, products, percent_of_products(under, products));
}

std::string last_most_often(const ProductsUnder& under)
{
    if (under.last.empty()) return "–";
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto& [rank, products] = *std::max_element(under.last.begin(), under.last.end(), fewer);
    return join("rank ", rank, " (", fixed(percent_of_products(under, products), 0), " %)");
}

NoiseTable products_table(const Report& report)
{
    NoiseTable table{
        .title = "Coded products",
        .head = {"Noise"},
        .rows = {},
        .note = join("Products of rank 0. Waiting and decoding in percent of the step under this noise; waits in ms, "
                     "the difference from quiet ± half of the ",
                     100.0 * report.verdict.confidence,
                     " % interval over blocks; per step late symbols, and the ms from enough symbols to the last "
                     "one, which late=skip saves. Last is the rank that sent the last symbol; all ranks: ",
                     last_file, ".")};
    for (const char* name : {"coded_products", "coded_wait", "coded_decoding", "symbol_wait", "symbol_wait_difference",
                             "late_symbols", "time_saved", "coded_errors_found"})
        table.head.push_back(metric_named(name).title);
    table.head.emplace_back("last most often");
    for (const ProductsUnder& under : coded_of(report).products) {
        NoiseTable::Row row = row_of(report.run.plan.treatments[under.treatment]);
        row.cells = {{join(under.products), ""},
                     {fixed(under.wait_percent, 2), ""},
                     {fixed(under.decode_percent, 2), ""},
                     {fixed(under.wait_ms, 3), ""},
                     under.more ? NoiseTable::Cell{fixed(under.more_wait_ms, 3), fixed(under.more->half_width(), 3)}
                                : NoiseTable::Cell{"–", ""},
                     {fixed(under.late, 2), ""},
                     {fixed(under.saved_ms, 3), ""},
                     {join(under.errors), ""},
                     {last_most_often(under), ""}};
        table.rows.push_back(std::move(row));
    }
    return table;
}

NoiseTable errors_table(const Report& report)
{
    NoiseTable table{
        .title = "Soft errors",
        .head = {"Site", "outcome", "errors", "steps until found", "steps at most", "ms until found", "ms at most"},
        .rows = {},
        .note =
            "From injection to detection, in the median and at most. –: found without a known "
            "injection, or not found."};
    const auto shown = [](const std::vector<double>& values, double (*of)(const std::vector<double>&), int digits) {
        return NoiseTable::Cell{values.empty() ? "–" : fixed(of(values), digits), ""};
    };
    for (const ErrorsOf& some : coded_of(report).errors)
        table.rows.push_back({some.site,
                              "",
                              "",
                              {{words_of(some.outcome), ""},
                               {join(some.errors), ""},
                               shown(some.steps, median_of, 0),
                               shown(some.steps, largest, 0),
                               shown(some.ms, median_of, 2),
                               shown(some.ms, largest, 2)}});
    return table;
}

CodedJson coded_json(const Report& report)
{
    const CodedRun& coded = coded_of(report);
    CodedJson json;
    json["errors"] = CodedJson::array();
    for (const ErrorsOf& some : coded.errors) {
        json["errors"].push_back({{"site", some.site}, {"outcome", some.outcome}});
        add_numbers(json["errors"].back(), error_numbers, some);
    }
    json["rollbacks"] = coded.rollbacks ? json_number(*coded.rollbacks) : CodedJson(nullptr);
    json["steps_undone"] = coded.steps_undone ? json_number(*coded.steps_undone) : CodedJson(nullptr);
    json["products"] = CodedJson::array();
    for (const ProductsUnder& under : coded.products) {
        json["products"].push_back({{"treatment", treatment_name(report, under)}});
        CodedJson& row = json["products"].back();
        add_numbers(row, product_numbers, under);
        row["last_ranks"] = CodedJson::array();
        for (const auto& [rank, products] : under.last)
            row["last_ranks"].push_back({{"last_rank", rank}, {"products", products}});
    }
    return json;
}

}  // namespace

namespace section {

extern const Section coded{
    .estimate = estimate_coded,
    .tables = [](const Report& report) -> std::vector<Table> {
        std::vector<Table> tables;
        if (!coded_of(report).errors.empty()) tables.push_back({errors_file, write_errors});
        if (coded_of(report).products.empty()) return tables;
        tables.push_back({products_file, write_products});
        tables.push_back({last_file, write_last});
        return tables;
    },
    .sentences = coded_sentences,
    .below = [](const Report& report) -> std::vector<NoiseTable> {
        std::vector<NoiseTable> tables;
        if (!coded_of(report).products.empty()) tables.push_back(products_table(report));
        if (!coded_of(report).errors.empty()) tables.push_back(errors_table(report));
        return tables;
    },
    .plots = [](const fs::path& folder, const Report& report) -> std::vector<Plot> {
        if (coded_of(report).products.empty()) return {};
        return {draw_coded(folder, report, coded_of(report).products)};
    },
    .terminal = coded_sentences,
    .markdown_title = "Coded training",
    .markdown = coded_sentences,
    .json =
        [](nlohmann::ordered_json& verdict, const Report& report) {
            if (!coded_of(report).errors.empty() || !coded_of(report).products.empty())
                verdict["coded"] = coded_json(report);
        },
};

}  // namespace section

}  // namespace analysis
