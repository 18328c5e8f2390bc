// What a report says, without markup: sentences, checks and tables, each computed from the report.
#pragma once

#include "analysis/report/report.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// What speaks for trust in the run, or against it.
struct Check {
    bool holds = true;
    std::string name;
    std::string value;
    std::string meaning;
};
std::vector<Check> checks(const Report& report);

// Steps among which outliers were looked for.
std::size_t steps_looked_at(const Analysis& analysis);

// "512 steps used; left out: 10 (warm-up)."
std::string steps_used(const Analysis& analysis);

// A row a noise, or a region.
struct NoiseTable {
    struct Cell {
        std::string value;
        std::string half;  // of the interval; may be empty
        bool strong = false;
        bool zero = false;  // to two digits
    };
    struct Row {
        std::string factor;
        std::string level;
        std::string kind;  // of the effect, in a factorial only
        std::vector<Cell> cells;
    };
    std::string title;
    std::vector<std::string> head;
    std::vector<Row> rows;
    std::string note;
};
// Of an effect, which may be null: its estimate and half of its interval.
NoiseTable::Cell cell_of(const Effect* effect, double confidence);

// Effects by phase; where the time goes, if buckets were recorded; by rank, if those are few; outliers; waiting in MPI
// and the critical path, if the archive has any.
std::vector<NoiseTable> noise_tables(const Report& report);

// What a record holds that a reader looks for: "processor", "AMD EPYC 9654".
struct Fact {
    std::string name;
    std::string value;
};
std::vector<Fact> facts(const nlohmann::ordered_json& record);

// What the noise did by its own record; text, empty where it says nothing.
struct LevelDone {
    std::string factor;
    std::string level;
    std::string stressor;
    std::string slots;
    std::string moved;       // "3.21 GB/s"
    std::string operations;  // "120.00 /s"
};
std::vector<LevelDone> levels_done(const nlohmann::ordered_json& record);

// What a reader must not conclude.
std::vector<std::string> not_said(const Report& report);

}  // namespace analysis
