// SPDX-License-Identifier: Apache-2.0
#include "base/contract/table_columns.hpp"

#include "base/error.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace base {

std::string cell_of(const std::string& text)
{
    return text;
}

std::string cell_of(std::int64_t number)
{
    return std::to_string(number);
}

std::string cell_of(std::optional<double> number)
{
    if (!number) return {};
    if (std::isnan(*number)) return "nan";
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), *number).ptr;
    return {text.data(), end};
}

std::string cell_of(std::optional<std::int64_t> number)
{
    return number ? std::to_string(*number) : std::string{};
}

void take_cell(std::string& text, const CsvTable& table, std::size_t row, const char* column)
{
    text = table.text(row, column);
}

void take_cell(std::int64_t& number, const CsvTable& table, std::size_t row, const char* column)
{
    number = table.get<std::int64_t>(row, column);
    if (number < 0) fail(table.place(row, column), ": ", number, " is less than 0");
}

void take_cell(int& number, const CsvTable& table, std::size_t row, const char* column)
{
    number = table.get<int>(row, column);
}

void take_cell(std::uint64_t& number, const CsvTable& table, std::size_t row, const char* column)
{
    std::int64_t read = 0;
    take_cell(read, table, row, column);
    number = static_cast<std::uint64_t>(read);
}

void take_cell(double& number, const CsvTable& table, std::size_t row, const char* column)
{
    std::optional<double> read;
    take_cell(read, table, row, column);
    if (read) number = *read;
}

void take_cell(std::optional<double>& number, const CsvTable& table, std::size_t row, const char* column)
{
    const std::string& text = table.text(row, column);
    if (text.empty())
        number.reset();
    else if (text == "nan")
        number = std::nan("");
    else if (text == "inf")
        number = HUGE_VAL;
    else
        number = table.get<double>(row, column);
}

void take_cell(std::optional<std::int64_t>& number, const CsvTable& table, std::size_t row, const char* column)
{
    number.reset();
    if (!table.text(row, column).empty()) take_cell(number.emplace(), table, row, column);
}

}  // namespace base
