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
std::int64_t saved_ns(const SymbolDecoder& decoder, int spare, const SymbolTimes& times);

class ProductLog {
 public:
    explicit ProductLog(const std::filesystem::path& directory);

    // Adds a row, whose last_rank and saved_ns are those of the times, or of the product once it is complete. Decoder
    // and routes must outlive the log.
    void add(base::code::ProductRow row, const SymbolDecoder& decoder, const SymbolRoutes& routes,
             const SymbolTimes& times);
    void add(base::code::ProductRow row, const SymbolDecoder& decoder, const SymbolRoutes& routes, int spare,
             std::shared_ptr<const OpenProduct> product);

    // Writes the rows of complete products. Call when all are.
    void finish() { write_complete(); }

 private:
    struct Row {
        base::code::ProductRow row;
        const SymbolDecoder* decoder;
        const SymbolRoutes* routes;
        int spare = 0;
        std::shared_ptr<const OpenProduct> product;  // null: the row is finished
    };

    void write_complete();

    base::CsvWriter rows_;
    std::deque<Row> waiting_{};
};

}  // namespace ddl
