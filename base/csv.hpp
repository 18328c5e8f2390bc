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

// A text as it stands in the file, quoted where needed: made once for the cells of many rows.
class CsvText {
 public:
    explicit CsvText(std::string_view text);
    const std::string& quoted() const { return quoted_; }

 private:
    std::string quoted_;
};

// The cell of a time in seconds, as that of static_cast<double>(ns) / 1e9 is.
struct CsvSeconds {
    std::int64_t ns = 0;
};

class CsvWriter {
 public:
    // Rows appear one by one, which makes the file a record of a crash, or the table appears as a whole, which is
    // faster and leaves no half of it. Several processes may add rows to a table that one of them has made.
    enum class Appear { rows, whole, more_rows };

    // Creates the file (it must not exist yet, else std::system_error) and writes the header, or leaves no file behind;
    // or opens it for more rows.
    CsvWriter(std::filesystem::path path, const std::vector<std::string>& columns, Appear appear = Appear::rows);
    ~CsvWriter();  // a whole table that was not finished is taken away
    CsvWriter(const CsvWriter&) = delete;
    CsvWriter& operator=(const CsvWriter&) = delete;

    // Throws std::system_error, Error (a full disk), std::logic_error for a wrong number of cells. The file has whole
    // rows whatever happens.
    template <class... Cells>
    void row(const Cells&... cells)
    {
        check_width(sizeof...(cells));
        (add(cells), ...);
        end_row();
    }
    void write(const std::vector<std::string>& cells);

    // The last call for a whole table: gives it its name. Errors as above.
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
    void add_number(Number number);  // the shortest text that reads back as the same number
    void end_row();

    std::filesystem::path path_;
    std::size_t columns_ = 0;
    std::filesystem::path unfinished_;  // what a whole table is called until it is finished, or empty
    std::string held_;                  // rows that are not in the file yet
    int file_ = -1;
    bool shared_ = false;    // others add rows, too
    std::int64_t size_ = 0;  // of the rows in the file
};

// A row of a table while it is read.
class CsvRow {
 public:
    const std::vector<std::string>& columns() const { return columns_; }
    bool has(const std::string& column) const { return index_.contains(column); }
    std::size_t line() const { return line_; }

    // Like those of CsvTable.
    std::string place(const std::string& column) const;
    const std::string& text(const std::string& column) const;
    template <class T>
    T get(const std::string& column) const;

 private:
    friend bool read_rows(const std::filesystem::path& path, const std::function<void(const CsvRow&)>& with_row);

    std::filesystem::path path_;
    std::vector<std::string> columns_;
    std::map<std::string, std::size_t> index_;
    std::vector<std::string> cells_;
    std::size_t line_ = 0;
};

// A table row by row, of which one is in memory. A last line without its newline is dropped; then it returns false.
// Throws as CsvTable does.
bool read_rows(const std::filesystem::path& path, const std::function<void(const CsvRow&)>& with_row);

extern template std::int64_t CsvRow::get(const std::string&) const;

// A whole file in memory. A last line without its newline (a killed writer) is dropped and remembered.
class CsvTable {
 public:
    // Throws Error that names file and line for a missing file, a file without a header, rows of another width.
    explicit CsvTable(const std::filesystem::path& path);

    std::size_t rows() const { return cells_.size(); }
    const std::vector<std::string>& columns() const { return columns_; }
    bool has(const std::string& column) const { return index_.contains(column); }
    bool cut_off() const { return cut_off_; }
    void refuse_cut_off() const;  // throws Error; for a table that only a damage can have cut

    // "steps.csv line 7 column end_ns", for an error.
    std::string place(std::size_t row, const std::string& column) const;

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
