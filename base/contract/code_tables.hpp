// SPDX-License-Identifier: Apache-2.0
// DIR/train/errors.csv: soft errors of a coded training and what became of them; every rank appends its own.
// DIR/train/products.csv: the coded products of rank 0.
#pragma once

#include "base/contract/table_columns.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace base::code {

inline constexpr const char* errors_table = "errors.csv";
inline constexpr const char* products_table = "products.csv";

struct ErrorRow {
    std::int64_t step = 0;
    std::string layer{};
    std::string site{};  // forward, backward, update
    int rank = 0;
    std::optional<std::int64_t> injected_ns{};  // none: a false alarm
    std::optional<double> size{};               // largest change of a value
    std::optional<std::int64_t> detected_step{};
    std::optional<std::int64_t> detected_ns{};
    std::string outcome{};
};

inline const std::vector<TableColumn<ErrorRow>>& error_columns()
{
    static const std::vector<TableColumn<ErrorRow>> all{table_column("step", &ErrorRow::step),
                                                        table_column("layer", &ErrorRow::layer),
                                                        table_column("site", &ErrorRow::site),
                                                        table_column("rank", &ErrorRow::rank),
                                                        table_column("injected_ns", &ErrorRow::injected_ns),
                                                        table_column("size", &ErrorRow::size),
                                                        table_column("detected_step", &ErrorRow::detected_step),
                                                        table_column("detected_ns", &ErrorRow::detected_ns),
                                                        table_column("outcome", &ErrorRow::outcome)};
    return all;
}

struct ProductRow {
    std::int64_t step = 0;
    std::string layer{};
    std::string pass{};  // forward, backward
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t product_ns = 0;  // this rank multiplies with its block
    std::int64_t wait_ns = 0;     // until all symbols used have arrived
    std::int64_t decode_ns = 0;
    int symbols = 0;
    int used = 0;  // symbols that agree
    int late = 0;  // symbols that the product did not wait for
    int last_rank = 0;
    std::int64_t saved_ns = 0;  // from enough symbols to the last one, less the lag from the product before
    double residual = 0.0;      // relative disagreement of the symbols used
};

inline const std::vector<TableColumn<ProductRow>>& product_columns()
{
    static const std::vector<TableColumn<ProductRow>> all{
        table_column("step", &ProductRow::step),         table_column("layer", &ProductRow::layer),
        table_column("pass", &ProductRow::pass),         table_column("begin_ns", &ProductRow::begin_ns),
        table_column("end_ns", &ProductRow::end_ns),     table_column("product_ns", &ProductRow::product_ns),
        table_column("wait_ns", &ProductRow::wait_ns),   table_column("decode_ns", &ProductRow::decode_ns),
        table_column("symbols", &ProductRow::symbols),   table_column("used", &ProductRow::used),
        table_column("late", &ProductRow::late),         table_column("last_rank", &ProductRow::last_rank),
        table_column("saved_ns", &ProductRow::saved_ns), table_column("residual", &ProductRow::residual)};
    return all;
}

}  // namespace base::code
