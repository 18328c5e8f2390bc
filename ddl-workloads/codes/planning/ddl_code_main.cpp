// SPDX-License-Identifier: Apache-2.0
// ddl-code: plans a coded training, and describes a code.
#include "base/cli/commands.hpp"
#include "base/cli/option_checks.hpp"
#include "base/csv.hpp"
#include "base/figures.hpp"
#include "ddl-workloads/codes/code.hpp"
#include "ddl-workloads/codes/planning/plan.hpp"
#include "ddl-workloads/codes/strength.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <optional>

namespace {

constexpr auto name = "ddl-code";

// Significant digits, as "%g" writes them; "-" for none.
std::string digits(std::optional<double> number, int count)
{
    if (!number) return "-";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.*g", count, *number);
    return text.data();
}

std::string simulated(const ddl::PlannedScheme& scheme)
{
    if (!scheme.rollback_simulated) return "-";
    return base::join(digits(scheme.rollback_simulated, 2), " (", digits(scheme.simulated_low, 2), " to ",
                      digits(scheme.simulated_high, 2), ")");
}

class Plan : public base::Command {
 public:
    Plan()
        : Command{"ddl-code plan", "predicts what redundancy costs and saves in a training with errors and late ranks"}
    {
        options.add("grid", grid_, "blocks of each weight matrix: rows x columns", "RxC");
        options.add("parity", parity_, "parity blocks of codenet: rows below the grid x columns beside it", "RxC");
        options.add("layers", request_.layers, "coded layers");
        options.add("width", request_.width, "inputs and outputs of each layer, for memory and words");
        options.add("batch", request_.batch, "samples of a step, for words");
        options.add("error-rate", request_.error_rate,
                    "probability that a rank errs in one of the three operations on its block", "P");
        options.add("late", late_, "share of ranks that are late in a product, and how much: 1%:20ms", "SHARE:TIME");
        options.add("iteration", iteration_, "time of an iteration without errors and waits, whatever the scheme",
                    "TIME");
        options.add("checkpoint", checkpoint_, "time to write a checkpoint", "TIME");
        options.add_word("restart", "", "time to roll back to a checkpoint; default: as --checkpoint", "TIME");
        options.add("simulate", request_.simulate,
                    "iterations in which rollbacks are counted with the decoder; 0: none");
        options.add("seed", request_.seed, "seed of the codes and of the simulation");
        options.add("out", out_, "CSV table to write; must not exist", "FILE");
        options.example("ddl-code plan --grid 5x4 --parity 2x2 --error-rate 3e-4 --late 1%:20ms --out plan.csv");
    }

    int run() override
    {
        complete();
        const std::vector<ddl::PlannedScheme> schemes = ddl::plan(request_);
        if (!out_.empty()) {
            base::CsvWriter table{out_, base::names_of(ddl::plan_columns()), base::CsvWriter::Appear::whole};
            for (const ddl::PlannedScheme& scheme : schemes) table.write(base::cells_of(ddl::plan_columns(), scheme));
            table.finish();
        }
        print(schemes);
        return base::exit_fine;
    }

 private:
    void complete()
    {
        request_.grid = ddl::parse_grid(grid_);
        request_.parity = ddl::parse_grid(parity_, 0);
        // The plan has an uncoded grid of twice as many columns.
        base::check_within(1, ddl::most_grid_side / 2, request_.grid.columns, "the columns of --grid");
        base::check_within(1, 100'000, request_.layers, "--layers");
        base::check_within(std::max(request_.grid.rows, request_.grid.columns), 10'000'000, request_.width, "--width");
        base::check_within(1, 10'000'000, request_.batch, "--batch");
        if (!(request_.error_rate >= 0.0 && request_.error_rate <= 0.5))
            base::fail_usage("--error-rate is a probability of 0 to 0.5, not ", request_.error_rate);
        const std::vector<std::string> late = base::split(late_, ':');
        if (late.size() != 2) base::fail_usage("--late '", late_, "': a share and a time are needed: 1%:20ms");
        request_.late = base::parsed<base::Percent>("--late", late[0]).fraction();
        if (!(request_.late >= 0.0 && request_.late < 1.0)) base::fail_usage("--late must be a share of 0% to 99%");
        request_.late_s = base::seconds(base::parsed<base::Nanoseconds>("--late", late[1]));
        request_.iteration_s = base::seconds(iteration_);
        if (request_.iteration_s <= 0.0) base::fail_usage("--iteration must be more than 0");
        request_.checkpoint_s = base::seconds(checkpoint_);
        const std::string& restart = options.text("restart");
        request_.restart_s = restart.empty() ? request_.checkpoint_s
                                             : base::seconds(base::parsed<base::Nanoseconds>("--restart", restart));
        base::check_within<std::int64_t>(0, 1'000'000'000, request_.simulate, "--simulate");
    }

    static void print(const std::vector<ddl::PlannedScheme>& schemes)
    {
        std::vector<std::vector<std::string>> costs{{"scheme", "ranks", "memory", "words sent", "P(rollback)",
                                                     "simulated", "P(unnoticed)", "checkpoint every",
                                                     "kept iteration"}};
        std::vector<std::vector<std::string>> waits{
            {"scheme", "P(wait) forward", "backward", "with a spare: forward", "backward"}};
        std::vector<std::vector<std::string>> executed{{"iterations executed to keep", "5", "10", "20", "50"}};
        for (const ddl::PlannedScheme& one : schemes) {
            costs.push_back({one.scheme, base::format(one.ranks),
                             base::bytes_text(static_cast<double>(one.memory_bytes), base::Prefixes::binary),
                             digits(static_cast<double>(one.words_sent), 3), digits(one.rollback, 4), simulated(one),
                             digits(one.unnoticed, 3), one.interval ? base::format(*one.interval) : "-",
                             base::fixed(one.kept_iteration_ns.value_or(0.0) / 1e6, 1) + " ms"});
            if (one.wait_forward)
                waits.push_back({one.scheme, digits(one.wait_forward, 3), digits(one.wait_backward, 3),
                                 digits(one.wait_forward_spare, 3), digits(one.wait_backward_spare, 3)});
            if (one.executed_5)
                executed.push_back({one.scheme, digits(one.executed_5, 4), digits(one.executed_10, 4),
                                    digits(one.executed_20, 4), digits(one.executed_50, 4)});
        }
        std::cout << base::table_text(costs, 1) << "\n" << base::table_text(waits, 1);
        if (executed.size() > 1) std::cout << "\n" << base::table_text(executed, 1);
    }

    ddl::PlanRequest request_;
    std::string grid_ = "5x4";
    std::string parity_ = "2x2";
    std::string late_ = "1%:20ms";
    base::Nanoseconds iteration_ = std::chrono::milliseconds{80};
    base::Nanoseconds checkpoint_ = std::chrono::milliseconds{400};
    std::string out_;
};

// A set of symbols that are decoded together.
struct Symbols {
    std::string pass;
    ddl::Matrix generator;
    int rows_per_symbol = 1;
};

class Info : public base::Command {
 public:
    Info() : Command{"ddl-code info", "describes a code: ranks, errors and late ranks tolerated, condition number"}
    {
        options.add_positional("CODE", code_, "a code with its options: codenet[grid=5x4,parity=2x2]");
        options.add("ranks", ranks_, "ranks of a code for single products; 0: as few as possible");
        options.add("seed", seed_, "seed of the code");
        options.example("ddl-code info 'codenet[grid=5x4,parity=2x2]'");
        options.example("ddl-code info 'polydot[t=5,s=4]' --ranks 130");
    }

    int run() override
    {
        const base::PlugInText text = base::parse_plug_in(code_);
        const ddl::CodeCard& card = ddl::codes().find(text.name);
        const base::Settings settings = ddl::codes().settings(card, text.options);
        base::check_within(0, 100'000, ranks_, "--ranks");
        if (card.layer != nullptr) {
            if (ranks_ != 0) base::fail_usage("--ranks: the options of ", card.name, " say how many ranks it takes");
            const ddl::LayerCode code = card.layer(settings, seed_);
            std::cout << "code    " << code_ << "\nranks   " << code.ranks() << "\n\n";
            print({{"forward", code.rows}, {"backward", code.columns}});
            return base::exit_fine;
        }
        const ddl::ProductCode code = card.product(settings, ranks_);
        std::cout << "code    " << code_ << "\nranks   " << code.ranks() << "\n\n";
        const int forward = ddl::polydot_forward_threshold(code.t, code.s);
        const int backward = ddl::polydot_backward_threshold(code.t, code.s);
        print({{"product", code.symbols, code.rows_per_symbol},
               {"matrix x vector", ddl::evaluations(forward, forward, code.points), code.rows_per_symbol},
               {"transposed", ddl::evaluations(backward, backward, code.points), code.rows_per_symbol}});
        return base::exit_fine;
    }

 private:
    static void print(const std::vector<Symbols>& all)
    {
        std::vector<std::vector<std::string>> lines{{""},
                                                    {"symbols"},
                                                    {"threshold"},
                                                    {"missing symbols tolerated"},
                                                    {"wrong symbols noticed"},
                                                    {"wrong symbols corrected, random errors"},
                                                    {"wrong symbols corrected, any errors"},
                                                    {"condition number"},
                                                    {"in single precision"}};
        bool some = false;
        for (const Symbols& symbols : all) {
            const ddl::Strength strength = ddl::strength(symbols.generator, symbols.rows_per_symbol);
            const ddl::WorstCondition condition = ddl::worst_condition(symbols.generator, symbols.rows_per_symbol);
            some = some || !condition.all;
            const std::vector<std::string> cells{
                symbols.pass,
                base::format(strength.symbols),
                base::format(strength.threshold),
                base::format(strength.erasures),
                base::format(strength.detected),
                base::format(strength.random_errors),
                base::format(strength.any_errors),
                digits(condition.largest, 2) + (condition.all ? "" : "*"),
                condition.largest <= ddl::largest_single_condition ? "yes" : "refused",
            };
            for (std::size_t line = 0; line < lines.size(); ++line) lines[line].push_back(cells[line]);
        }
        std::cout << base::table_text(lines, 1);
        if (some) std::cout << "* of a thousand random sets of symbols\n";
    }

    std::string code_;
    int ranks_ = 0;
    std::uint64_t seed_ = 1;
};

int run(int argc, char** argv)
{
    bool list = false;
    bool json = false;
    base::Options options{name,
                          "plans and describes codes that let a training survive wrong arithmetic and late ranks"};
    options.add_switch("list", list, "list all codes and their options, and exit");
    options.add_switch("json", json, "with --list: as JSON");
    return base::run_program(options, base::commands<Plan, Info>(), argc, argv, [&] {
        if (list) base::list(std::cout, {ddl::codes().catalogue()}, json);
        return list;
    });
}

}  // namespace

int main(int argc, char** argv)
try {
    const int code = run(argc, argv);
    base::flush_stdout();
    return code;
} catch (...) {
    return base::report_failure(name);
}
