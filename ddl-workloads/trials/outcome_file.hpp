// SPDX-License-Identifier: Apache-2.0
// outcomes.csv while its trials run: a row when a trial ends, and a mark while one is at hand, so that a process that
// is started again continues after the last row. The trial that was begun and did not end has crashed it.
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
    // Opens or creates DIR/outcomes.csv. Throws Error if its rows are not those of the first trials.
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
