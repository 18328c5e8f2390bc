// SPDX-License-Identifier: Apache-2.0
// The soft errors of a rank, from injection to their outcome: rows of DIR/train/errors.csv.
#pragma once

#include "base/contract/code_tables.hpp"
#include "base/csv.hpp"
#include "ddl-workloads/strategies/coded/soft_errors.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <cmath>
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

    // size: the largest change of a value; of: the largest value of the block or product that was altered.
    void injected(std::int64_t step, const std::string& layer, const std::string& site, double size, double of);

    // This rank's block was behind a wrong symbol and is recomputed, which changed its values by `change`. Ends open
    // errors as regenerated, or as corrected if they are only in the product. Returns false if nothing was wrong: no
    // error is open, and the change is not above `least`.
    bool regenerated(std::int64_t step, const std::string& layer, ErrorSite site, double change, double least);
    // This rank's term of a product was wrong, and was not used.
    bool corrected(std::int64_t step, const std::string& layer);
    // The state was kept to roll back to, with the open errors in it.
    void state_kept();
    // Ends the open errors that the kept state does not have.
    void rolled_back(std::int64_t step);
    void outvoted(std::int64_t step);  // in what every rank computes alike: ends such errors
    void false_alarm(std::int64_t step, const std::string& layer, ErrorSite site);

    // After the last step: errors that were not found, by whether they are smaller than `detectable(layer)`, which is
    // relative to the value `of` above; infinite if nothing checks the layer, and then all were missed. An error in
    // what every rank computes alike is found unless nothing used it.
    template <class Detectable>
    void finish(const Detectable& detectable)
    {
        for (Open& open : open_) {
            base::code::ErrorRow& row = open.row;
            const double least = open.of * detectable(row.layer);
            const bool small = is_alike(open) || (std::isfinite(least) && row.size.value_or(0.0) < least);
            row.outcome = small ? "below_threshold" : "missed";
            write(row);
        }
        open_.clear();
    }

 private:
    struct Open {
        base::code::ErrorRow row;
        double of = 0.0;
        bool is_kept = false;
    };

    // An error in what every rank computes alike.
    static bool is_alike(const Open& open)
    {
        const std::string& site = open.row.site;
        return site == "activation" || site == "decoded" || site == "replica";
    }

    // Ends the open errors of these sites. Returns false if there are none.
    template <class Is>
    bool end(std::int64_t step, const std::string& outcome, const Is& is);
    void found(std::int64_t step, const std::string& layer, const std::string& site, std::optional<double> size,
               const std::string& outcome);
    void write(const base::code::ErrorRow& row);

    std::filesystem::path directory_;
    int rank_;
    std::vector<Open> open_{};
    std::optional<base::CsvWriter> rows_{};
};

}  // namespace ddl
