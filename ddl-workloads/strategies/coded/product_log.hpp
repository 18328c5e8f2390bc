// SPDX-License-Identifier: Apache-2.0
// Rows of DIR/train/products.csv, in the order of the products. That of a product with late symbols is written when the
// last of them has come.
#pragma once

#include "base/contract/code_tables.hpp"
#include "base/csv.hpp"
#include "ddl-workloads/codes/symbol_decoder.hpp"
#include "ddl-workloads/strategies/coded/open_products.hpp"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <vector>

namespace ddl {

// The times at which a product's symbols arrived, or were known not to come.
struct SymbolTimes {
    std::vector<std::int64_t> ended_ns{};
    std::vector<bool> came{};
};

// Time from when the symbols that had arrived were enough, with `spare` more, until the last one arrived or was known
// not to come.
std::int64_t lag_ns(const SymbolDecoder& decoder, int spare, const SymbolTimes& times);

// With late=skip a late rank carries its lag on to the next products. What each product saves is the time by which the
// lag has grown since the product before: the sum is the time that a job would have waited.
class ProductLog {
 public:
    explicit ProductLog(const std::filesystem::path& directory);

    // Adds a row, whose last_rank and saved_ns are those of the times, or of the product once it is complete. Decoder
    // and routes must outlive the log.
    void add(base::code::ProductRow row, const SymbolDecoder& decoder, const SymbolRoutes& routes,
             const SymbolTimes& times);
    void add(base::code::ProductRow row, const SymbolDecoder& decoder, const SymbolRoutes& routes, int spare,
             std::shared_ptr<const OpenProduct> product);

    // Call when all products are complete and no rank has begun the next: writes their rows, and forgets the lag.
    void settled();

 private:
    struct Row {
        base::code::ProductRow row;
        const SymbolDecoder* decoder;
        const SymbolRoutes* routes;
        int spare = 0;
        std::shared_ptr<const OpenProduct> product;  // null: it waited for all symbols, and the row is finished
    };

    void write_complete();

    base::CsvWriter rows_;
    std::deque<Row> waiting_{};
    std::int64_t carried_ns_ = 0;  // lag of the newest product written, if its symbols could be late
};

}  // namespace ddl
