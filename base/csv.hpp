// Plain CSV: header first, comma, quotes where needed (RFC 4180). Rows are flushed one by one: the file is the crash
// record.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace base {

class CsvWriter {
 public:
    // Creates the file (it must not exist yet, else std::system_error) and writes the header.
    CsvWriter(std::filesystem::path path, const std::vector<std::string>& columns);
    ~CsvWriter();
    CsvWriter(const CsvWriter&) = delete;
    CsvWriter& operator=(const CsvWriter&) = delete;

    // One row, written with one system call. Throws std::system_error (a full disk), Error for a wrong number of cells.
    template <class... Cells>
    void row(const Cells&... cells)
    {
        write({cell(cells)...});
    }
    void write(const std::vector<std::string>& cells);

 private:
    static std::string cell(const std::string& text) { return text; }
    static std::string cell(const char* text) { return text; }
    static std::string cell(double number) { return format(number); }
    template <class Whole>
    requires std::is_integral_v<Whole>
    static std::string cell(Whole number) { return std::to_string(number); }

    std::filesystem::path path_;
    std::size_t columns_ = 0;
    int file_ = -1;
    std::int64_t size_ = 0;  // of the whole rows
};

// A whole file in memory. A last line without its newline (a killed writer) is dropped and remembered.
class CsvTable {
 public:
    // Throws Error that names file and line for a missing file, a file without a header, rows of another width.
    explicit CsvTable(const std::filesystem::path& path);

    std::size_t rows() const { return cells_.size(); }
    const std::vector<std::string>& columns() const { return columns_; }
    bool has(const std::string& column) const { return index_.contains(column); }
    bool cut_off() const { return cut_off_; }

    // Throws Error that names file, line and column.
    const std::string& text(std::size_t row, const std::string& column) const;
    template <class T>
    T get(std::size_t row, const std::string& column) const;

 private:
    std::filesystem::path path_;
    std::vector<std::string> columns_;
    std::map<std::string, std::size_t> index_;
    std::vector<std::vector<std::string>> cells_;
    std::vector<std::size_t> lines_;
    bool cut_off_ = false;
};

extern template std::int64_t CsvTable::get(std::size_t, const std::string&) const;
extern template double CsvTable::get(std::size_t, const std::string&) const;
extern template int CsvTable::get(std::size_t, const std::string&) const;
extern template std::string CsvTable::get(std::size_t, const std::string&) const;

}  // namespace base
