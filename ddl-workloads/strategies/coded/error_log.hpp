// SPDX-License-Identifier: Apache-2.0
// The soft errors of a rank, from injection to their outcome: rows of DIR/train/errors.csv.
#pragma once

#include "base/contract/code_tables.hpp"
#include "base/csv.hpp"
#include "ddl-workloads/strategies/coded/soft_errors.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

class ErrorLog {
 public:
    ErrorLog(std::filesystem::path directory, int rank) : directory_{std::move(directory)}, rank_{rank} {}

    // Collective: creates the table.
    void begin(ExchangeThread& exchanges);

    void injected(std::int64_t step, const std::string& layer, ErrorSite site, double size);

    // Ends the open errors of this layer. Returns false if there are none.
    bool end(const std::string& layer, std::int64_t step, const std::string& outcome);
    void end_all(std::int64_t step, const std::string& outcome);
    // A block was wrong, and regenerated, for a reason other than --soft-errors.
    void unknown(std::int64_t step, const std::string& layer, ErrorSite site, double size);
    void outvoted(std::int64_t step);  // in what every rank computes alike
    void false_alarm(std::int64_t step, const std::string& layer, ErrorSite site);

    // After the last step: errors that were not found, by whether they are smaller than `detectable(layer)`.
    template <class Detectable>
    void finish(const Detectable& detectable)
    {
        for (base::code::ErrorRow& row : open_) {
            row.outcome = row.size.value_or(0.0) < detectable(row.layer) ? "below_threshold" : "missed";
            write(row);
        }
        open_.clear();
    }

 private:
    void found(std::int64_t step, const std::string& layer, const std::string& site, std::optional<double> size,
               const std::string& outcome);
    void write(const base::code::ErrorRow& row);

    std::filesystem::path directory_;
    int rank_;
    std::vector<base::code::ErrorRow> open_{};
    std::optional<base::CsvWriter> rows_{};
};

}  // namespace ddl
