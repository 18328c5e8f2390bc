// SPDX-License-Identifier: Apache-2.0
// A table whose rows are structs: one list maps members to columns, for header, writer and reader.
#pragma once

#include "base/csv.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace base {

// Cells of a column. A number is written as the shortest text that reads back as the same number; none as an empty
// cell.
std::string cell_of(const std::string& text);
std::string cell_of(std::int64_t number);
std::string cell_of(std::optional<double> number);
std::string cell_of(std::optional<std::int64_t> number);
inline std::string cell_of(int number)
{
    return cell_of(static_cast<std::int64_t>(number));
}
inline std::string cell_of(std::uint64_t number)
{
    return std::to_string(number);
}
inline std::string cell_of(double number)
{
    return cell_of(std::optional{number});
}

// Each function throws Error that names file, line and column. Whole numbers must be 0 or more.
void take_cell(std::string& text, const CsvTable& table, std::size_t row, const char* column);
void take_cell(std::int64_t& number, const CsvTable& table, std::size_t row, const char* column);
void take_cell(int& number, const CsvTable& table, std::size_t row, const char* column);
void take_cell(std::uint64_t& number, const CsvTable& table, std::size_t row, const char* column);
void take_cell(double& number, const CsvTable& table, std::size_t row, const char* column);  // empty cell: no change
void take_cell(std::optional<double>& number, const CsvTable& table, std::size_t row, const char* column);
void take_cell(std::optional<std::int64_t>& number, const CsvTable& table, std::size_t row, const char* column);

// Tables of earlier versions may lack columns of Since::later; their members keep the struct's defaults.
enum class Since { first, later };

template <class Row>
struct TableColumn {
    const char* name;
    std::function<std::string(const Row&)> cell;
    std::function<void(Row&, const CsvTable&, std::size_t row)> take;
};

template <class Row, class Member>
TableColumn<Row> table_column(const char* name, Member Row::*member, Since since = Since::first)
{
    return {name, [member](const Row& row) { return cell_of(row.*member); },
            [name, member, since](Row& row, const CsvTable& table, std::size_t number) {
                if (since == Since::first || table.has(name)) take_cell(row.*member, table, number, name);
            }};
}

template <class Row>
std::vector<std::string> names_of(const std::vector<TableColumn<Row>>& columns)
{
    std::vector<std::string> names;
    for (const TableColumn<Row>& column : columns) names.emplace_back(column.name);
    return names;
}

template <class Row>
std::vector<std::string> cells_of(const std::vector<TableColumn<Row>>& columns, const Row& row)
{
    std::vector<std::string> cells;
    for (const TableColumn<Row>& column : columns) cells.push_back(column.cell(row));
    return cells;
}

template <class Row>
Row row_of(const std::vector<TableColumn<Row>>& columns, const CsvTable& table, std::size_t number)
{
    Row row;
    for (const TableColumn<Row>& column : columns) column.take(row, table, number);
    return row;
}

}  // namespace base
