// The tidy tables of a report (columns: docs/formats.md).
#pragma once

#include "analysis/report/report.hpp"

#include <filesystem>
#include <span>

namespace analysis {

struct Table {
    const char* file;  // in the report's directory
    void (*write)(const std::filesystem::path& file, const Report& report);
};

// All of them, in the order in which the page links to them.
std::span<const Table> tables();

}  // namespace analysis
