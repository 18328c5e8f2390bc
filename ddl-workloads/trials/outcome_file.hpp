// SPDX-License-Identifier: Apache-2.0
// outcomes.csv while trials run: a row is added when a trial ends, and a mark exists while one runs, so that a
// restarted process continues after the last row. A trial that was begun but did not end has crashed the process.
#pragma once

#include "base/contract/trials.hpp"
#include "base/csv.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

class OutcomeFile {
 public:
    // Opens or creates DIR/outcomes.csv. Throws Error unless its rows belong to the first trials of the list.
    OutcomeFile(std::filesystem::path directory, const std::vector<base::Trial>& trials, std::string strategy);

    std::size_t ended() const { return ended_; }
    std::size_t crashed() const { return crashed_; }

    void begin(const base::Trial& trial);
    void end(const base::Outcome& outcome);

 private:
    std::filesystem::path directory_;
    std::size_t ended_ = 0;
    std::size_t crashed_ = 0;
    std::optional<base::CsvWriter> rows_;
};

}  // namespace ddl
