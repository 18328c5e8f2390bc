// SPDX-License-Identifier: Apache-2.0
// Plain CSV: header first, comma, quotes where needed (RFC 4180).
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace base {

// A text as it stands in the file, quoted if needed. Made once and then used for cells of many rows.
class CsvText {
 public:
    explicit CsvText(std::string_view text);
    const std::string& quoted() const { return quoted_; }

 private:
    std::string quoted_;
};

// A time as a cell in seconds: the same text as for static_cast<double>(ns) / 1e9.
struct CsvSeconds {
    std::int64_t ns = 0;
};

class CsvWriter {
 public:
    // rows: rows appear one by one, so they survive a crash. whole: the table appears when it is finished, which is
    // faster and never leaves half a table. more_rows: adds rows to a table that another process has created; several
    // processes may do so.
    enum class Appear { rows, whole, more_rows };

    // Creates the file and writes the header; if that fails, no file is left behind. Throws std::system_error if the
    // file exists. more_rows opens an existing file.
    CsvWriter(std::filesystem::path path, const std::vector<std::string>& columns, Appear appear = Appear::rows);
    ~CsvWriter();  // removes a whole table that was not finished
    CsvWriter(const CsvWriter&) = delete;
    CsvWriter& operator=(const CsvWriter&) = delete;

    // Throws std::system_error, Error (a full disk), or std::logic_error for a wrong number of cells. The file never
    // holds part of a row.
    template <class... Cells>
    void row(const Cells&... cells)
    {
        check_width(sizeof...(cells));
        (add(cells), ...);
        end_row();
    }
    void write(const std::vector<std::string>& cells);

    // Must be the last call for a whole table: gives the file its name. Errors as for row().
    void finish();

 private:
    void write_held();

    void check_width(std::size_t cells) const;
    void add(std::string_view text);
    void add(const std::string& text) { add(std::string_view{text}); }
    void add(const char* text) { add(std::string_view{text}); }
    void add(const CsvText& text)
    {
        held_ += text.quoted();
        held_ += ',';
    }
    void add(CsvSeconds time);
    void add(double number) { add_number(number); }
    template <class Whole>
    requires std::is_integral_v<Whole>
    void add(Whole number)
    {
        if constexpr (std::is_signed_v<Whole>)
            add_number(static_cast<std::int64_t>(number));
        else
            add_number(static_cast<std::uint64_t>(number));
    }
    template <class Number>
    void add_number(Number number);  // writes the shortest text that reads back as the same number
    void end_row();

    std::filesystem::path path_;
    std::size_t columns_ = 0;
    std::filesystem::path unfinished_;  // temporary path of a whole table until it is finished, else empty
    std::string held_;                  // rows that are not in the file yet
    int file_ = -1;
    bool shared_ = false;    // other processes add rows, too
    std::int64_t size_ = 0;  // length of the rows in the file, in bytes
};

struct CsvHeader {
    std::filesystem::path path;
    std::vector<std::string> columns{};
    std::map<std::string, std::size_t> index{};  // by column

    std::size_t at(const std::string& column) const;  // throws Error if there is no such column
    std::string place(std::size_t line, const std::string& column) const;
};

// A row of a table while the table is read.
class CsvRow {
 public:
    const std::vector<std::string>& columns() const { return header_.columns; }
    bool has(const std::string& column) const { return header_.index.contains(column); }
    std::size_t line() const { return line_; }

    // These functions correspond to those of CsvTable.
    std::string place(const std::string& column) const { return header_.place(line_, column); }
    const std::string& text(const std::string& column) const { return cells_[header_.at(column)]; }
    template <class T>
    T get(const std::string& column) const;

 private:
    friend bool read_rows(const std::filesystem::path& path, const std::function<void(const CsvRow&)>& with_row);

    CsvHeader header_;
    std::vector<std::string> cells_;
    std::size_t line_ = 0;
};

// Reads a table row by row and keeps one row in memory. Returns false if the last line lacks its newline; that line is
// dropped. Throws as CsvTable does.
bool read_rows(const std::filesystem::path& path, const std::function<void(const CsvRow&)>& with_row);

extern template std::int64_t CsvRow::get(const std::string&) const;

// A whole file in memory. If the last line lacks its newline (the writer was killed), it is dropped and cut_off() is
// true.
class CsvTable {
 public:
    // Throws Error that names file and line if the file is missing or has no header, or if a row has another number of
    // cells.
    explicit CsvTable(const std::filesystem::path& path);

    std::size_t rows() const { return cells_.size(); }
    const std::vector<std::string>& columns() const { return header_.columns; }
    bool has(const std::string& column) const { return header_.index.contains(column); }
    bool cut_off() const { return cut_off_; }
    void refuse_cut_off() const;  // throws Error if cut_off(): for tables that appear whole

    // "steps.csv line 7 column end_ns", for error messages.
    std::string place(std::size_t row, const std::string& column) const
    {
        return header_.place(lines_.at(row), column);
    }

    // Throws Error that names file, line and column.
    const std::string& text(std::size_t row, const std::string& column) const
    {
        return cells_.at(row).at(header_.at(column));
    }
    template <class T>
    T get(std::size_t row, const std::string& column) const;

 private:
    CsvHeader header_;
    std::vector<std::vector<std::string>> cells_;
    std::vector<std::size_t> lines_;
    bool cut_off_ = false;
};

extern template std::int64_t CsvTable::get(std::size_t, const std::string&) const;
extern template double CsvTable::get(std::size_t, const std::string&) const;
extern template int CsvTable::get(std::size_t, const std::string&) const;
extern template std::string CsvTable::get(std::size_t, const std::string&) const;

}  // namespace base
