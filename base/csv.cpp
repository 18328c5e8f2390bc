// SPDX-License-Identifier: Apache-2.0
#include "base/csv.hpp"

#include "base/error.hpp"
#include "base/files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace base {

namespace {

bool needs_quotes(std::string_view text)
{
    return std::ranges::any_of(text, [](char c) { return c == ',' || c == '"' || c == '\n' || c == '\r'; });
}

void append_quoted(std::string& line, std::string_view text)
{
    if (!needs_quotes(text)) {
        line += text;
        return;
    }
    line += '"';
    for (const char c : text) {
        if (c == '"') line += '"';
        line += c;
    }
    line += '"';
}

// Splits text, which may come in pieces, into lines of cells; a quoted cell may hold commas and newlines.
class CsvLines {
 public:
    // Receives the cells of a line, which it may move from, and the line's number.
    using WithLine = std::function<void(std::vector<std::string>& cells, std::size_t number)>;
    explicit CsvLines(WithLine with_line) : with_line_{std::move(with_line)} {}

    void add(std::string_view text)
    {
        for (const char c : text) add(c);
    }
    bool cut_off() const { return in_quotes_ || !cell_.empty() || !line_.empty(); }

 private:
    void add(char c)
    {
        if (c == '\n') ++number_;
        const bool was_quote = std::exchange(quote_in_quotes_, false);
        if (was_quote && c == '"') {  // two quotes stand for one in the cell
            in_quotes_ = true;
            cell_ += '"';
        } else if (in_quotes_) {
            if (c != '"') {
                cell_ += c;
            } else {
                in_quotes_ = false;
                quote_in_quotes_ = true;
            }
        } else if (c == '"') {
            in_quotes_ = true;
        } else if (c == ',') {
            end_cell();
        } else if (c == '\n') {
            end_cell();
            with_line_(line_, begin_);
            line_.clear();
            begin_ = number_;
        } else if (c != '\r') {
            cell_ += c;
        }
    }
    void end_cell()
    {
        line_.push_back(std::move(cell_));
        cell_.clear();
    }

    WithLine with_line_;
    std::vector<std::string> line_;
    std::string cell_;
    bool in_quotes_ = false;
    bool quote_in_quotes_ = false;  // the last character was a quote: it ends the cell unless another follows
    std::size_t number_ = 1;
    std::size_t begin_ = 1;
};

// Takes the columns from the first line. Spreadsheets put a byte order mark (U+FEFF) before it.
void set_columns(CsvHeader& header, std::vector<std::string> cells)
{
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    if (!cells.empty() && cells.front().starts_with(mark)) cells.front().erase(0, mark.size());
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (!header.index.emplace(cells[i], i).second) fail(header.path.string(), " has two columns '", cells[i], "'");
    header.columns = std::move(cells);
}

// Reads the header, and calls with_row(cells, line) for each row. Returns false if the last line lacks its newline.
template <class WithRow>
bool read_table(CsvHeader& header, const WithRow& with_row)
{
    CsvLines lines{[&](std::vector<std::string>& cells, std::size_t line) {
        if (header.columns.empty()) return set_columns(header, std::move(cells));
        if (cells.size() != header.columns.size())
            fail(header.path.string(), " line ", line, " has ", cells.size(), " cells, not ", header.columns.size());
        with_row(cells, line);
    }};
    read_pieces(header.path, [&](std::string_view piece) { lines.add(piece); });
    if (header.columns.empty()) fail(header.path.string(), " has no header");
    return !lines.cut_off();
}

template <class T, class Table, class... Where>
T value_in(const Table& table, const Where&... where)
try {
    return parse<T>(table.text(where...));
} catch (const UsageError& error) {
    fail(table.place(where...), ": ", error.what());
}

}  // namespace

CsvText::CsvText(std::string_view text)
{
    append_quoted(quoted_, text);
}

CsvWriter::CsvWriter(std::filesystem::path path, const std::vector<std::string>& columns, Appear appear)
    : path_{std::move(path)}, columns_{columns.size()}
{
    std::filesystem::path file = path_;
    if (appear == Appear::whole) {
        refuse_taken(path_);
        file += join(".", ::getpid(), ".tmp");
        unfinished_ = file;
    }
    shared_ = appear == Appear::more_rows;
    const int creation = shared_ ? 0 : O_CREAT | O_EXCL;
    const int opened = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | creation, 0644);
    if (opened < 0 && errno == EEXIST) fail_taken(path_);
    file_ = check_errno(opened, shared_ ? "open " : "create ", path_.string());
    if (shared_) return;
    try {
        write(columns);
    } catch (...) {  // the destructor will not run, and a file without a header is not a table
        ::close(file_);
        ::unlink(file.c_str());
        throw;
    }
}

CsvWriter::~CsvWriter()
{
    ::close(file_);
    if (!unfinished_.empty()) ::unlink(unfinished_.c_str());
}

void CsvWriter::write(const std::vector<std::string>& cells)
{
    check_width(cells.size());
    for (const std::string& text : cells) add(text);
    end_row();
}

void CsvWriter::check_width(std::size_t cells) const
{
    if (cells != columns_) throw std::logic_error{join(path_.string(), " has ", columns_, " columns, not ", cells)};
}

void CsvWriter::add(std::string_view text)
{
    append_quoted(held_, text);
    held_ += ',';
}

// A decimal of up to 15 digits is the shortest text that reads back as its nearest double. The format is that of
// std::to_chars(): 0.0012, 1.2e-05.
void CsvWriter::add(CsvSeconds time)
{
    constexpr std::int64_t most_ns = 1'000'000'000'000'000;
    if (time.ns == 0 || time.ns <= -most_ns || time.ns >= most_ns)
        return add_number(static_cast<double>(time.ns) / 1e9);
    std::array<char, 20> digits{};
    char* end = std::to_chars(digits.data(), digits.data() + digits.size(), time.ns < 0 ? -time.ns : time.ns).ptr;
    int exponent = -9;
    for (; end[-1] == '0'; --end) ++exponent;
    const auto count = static_cast<int>(end - digits.data());
    const int before_point = count + exponent;
    const int fixed = exponent >= 0 ? before_point : before_point > 0 ? count + 1 : 2 - exponent;
    const int scientific = (count == 1 ? 1 : count + 1) + 4;
    if (time.ns < 0) held_ += '-';
    if (scientific < fixed) {
        held_ += digits[0];
        if (count > 1) held_.append(1, '.').append(digits.data() + 1, end);
        held_ += before_point > 0 ? "e+0" : "e-0";
        held_ += static_cast<char>('0' + std::abs(before_point - 1));
    } else if (before_point > 0) {
        const int whole = std::min(count, before_point);
        held_.append(digits.data(), digits.data() + whole).append(static_cast<std::size_t>(before_point - whole), '0');
        if (whole < count) held_.append(1, '.').append(digits.data() + whole, end);
    } else {
        held_.append("0.").append(static_cast<std::size_t>(-before_point), '0').append(digits.data(), end);
    }
    held_ += ',';
}

template <class Number>
void CsvWriter::add_number(Number number)
{
    std::array<char, 33> text{};
    const auto [end, code] = std::to_chars(text.data(), text.data() + text.size() - 1, number);
    *end = ',';
    held_.append(text.data(), end + 1);
}
template void CsvWriter::add_number(double);
template void CsvWriter::add_number(std::int64_t);
template void CsvWriter::add_number(std::uint64_t);

void CsvWriter::end_row()
{
    constexpr std::size_t most_held = 64 << 10U;
    held_.back() = '\n';
    if (unfinished_.empty() || held_.size() >= most_held) write_held();
}

void CsvWriter::finish()
{
    write_held();
    if (unfinished_.empty()) return;
    check_errno(rename_unless_taken(unfinished_, path_), "create ", path_.string());
    unfinished_.clear();
}

void CsvWriter::write_held()
{
    const std::string rows = std::exchange(held_, {});
    if (rows.empty()) return;
    if (!unfinished_.empty()) held_.reserve(rows.capacity());
    const ssize_t written = ::write(file_, rows.data(), rows.size());
    if (written < 0 && errno != ENOSPC) check_errno(written, "write ", path_.string());
    if (written < static_cast<ssize_t>(rows.size())) {
        if (!shared_) static_cast<void>(!::ftruncate(file_, size_));
        fail("cannot write ", path_.string(), ": the disk is full");
    }
    size_ += written;
}

std::size_t CsvHeader::at(const std::string& column) const
{
    const auto found = index.find(column);
    if (found == index.end()) fail(path.string(), " has no column '", column, "'");
    return found->second;
}

std::string CsvHeader::place(std::size_t line, const std::string& column) const
{
    return join(path.string(), " line ", line, " column ", column);
}

template <class T>
T CsvRow::get(const std::string& column) const
{
    return value_in<T>(*this, column);
}
template std::int64_t CsvRow::get(const std::string&) const;

bool read_rows(const std::filesystem::path& path, const std::function<void(const CsvRow&)>& with_row)
{
    CsvRow row;
    row.header_.path = path;
    return read_table(row.header_, [&](std::vector<std::string>& cells, std::size_t line) {
        row.line_ = line;
        std::swap(row.cells_, cells);
        with_row(row);
    });
}

CsvTable::CsvTable(const std::filesystem::path& path) : header_{.path = path}
{
    cut_off_ = !read_table(header_, [&](std::vector<std::string>& cells, std::size_t line) {
        cells_.push_back(std::move(cells));
        lines_.push_back(line);
    });
}

void CsvTable::refuse_cut_off() const
{
    if (cut_off_) fail(header_.path.string(), " is cut off: its last line does not end in a newline");
}

template <class T>
T CsvTable::get(std::size_t row, const std::string& column) const
{
    return value_in<T>(*this, row, column);
}

template std::int64_t CsvTable::get(std::size_t, const std::string&) const;
template double CsvTable::get(std::size_t, const std::string&) const;
template int CsvTable::get(std::size_t, const std::string&) const;
template std::string CsvTable::get(std::size_t, const std::string&) const;

}  // namespace base
