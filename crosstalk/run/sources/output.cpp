// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/sources/output.hpp"

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace crosstalk {

namespace {

constexpr std::size_t longest_line = 4096;
constexpr std::size_t most_kinds = 1000;

bool is_digit(char c)
{
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_letter(char c)
{
    return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

// Is it a block of a progress bar, U+2580 to U+259F? In UTF-8 these have three bytes.
bool is_block(const std::string& line, std::size_t i)
{
    return line.compare(i, 2, "\xe2\x96") == 0 && i + 2 < line.size() && static_cast<unsigned char>(line[i + 2]) < 0xa0;
}

// The end of the number at `begin`, with its sign, point and exponent: "-1.5e-05", ".5", "1.", "2D+00", "nan". Returns
// `begin` if there is no number.
std::size_t end_of_number(const std::string& line, std::size_t begin)
{
    const auto at = [&line](std::size_t i) { return i < line.size() ? line[i] : ' '; };
    const bool after_word = begin > 0 && (is_letter(line[begin - 1]) || is_digit(line[begin - 1]));
    std::size_t i = begin;
    if (!after_word && (at(i) == '-' || at(i) == '+')) ++i;
    for (const char* word : {"nan", "NaN", "inf", "Infinity"})
        if (const std::size_t size = std::strlen(word);
            !after_word && line.compare(i, size, word) == 0 && !is_letter(at(i + size)))
            return i + size;
    if (!is_digit(at(i)) && (after_word || at(i) != '.' || !is_digit(at(i + 1)))) return begin;
    const auto skip_digits = [&] {
        while (is_digit(at(i))) ++i;
    };
    skip_digits();
    if (at(i) == '.') ++i;
    skip_digits();
    const std::size_t sign = at(i + 1) == '-' || at(i + 1) == '+' ? 2 : 1;
    if (std::strchr("eEdD", at(i)) == nullptr || !is_digit(at(i + sign))) return i;
    i += sign;
    skip_digits();
    return i;
}

// Replaces numbers by #: "loss  -0.31 at step 12" becomes "loss # at step #".
std::string without_numbers(const std::string& line)
{
    std::string kind;
    for (std::size_t i = 0; i < line.size();) {
        if (const std::size_t end = end_of_number(line, i); end > i) {
            kind += '#';
            i = end;
        } else if (line[i] == ' ' || line[i] == '\t' || is_block(line, i)) {
            if (!kind.empty() && kind.back() != ' ') kind += ' ';
            i += is_block(line, i) ? 3 : 1;
        } else {
            kind += line[i++];
        }
    }
    return kind;
}

// Removes blanks, which pad numbers in columns, and progress bars of =, >, # and the like between [ ] or | |.
std::string without_blanks_and_bars(std::string kind)
{
    kind.erase(std::remove(kind.begin(), kind.end(), ' '), kind.end());
    for (std::size_t begin = 0; (begin = kind.find_first_of("[|", begin)) != std::string::npos; ++begin) {
        const std::size_t end = kind.find_first_not_of("=>#.-*_+~", begin + 1);
        if (end != std::string::npos && kind[end] == (kind[begin] == '[' ? ']' : '|'))
            kind.erase(begin + 1, end - begin - 1);
    }
    return kind;
}

}  // namespace

namespace {

[[noreturn]] void fail_expression(const std::string& expression, const std::string& why)
{
    base::fail_usage("--step-line: '", base::shortened(expression, 80), "' is not a regular expression: ", why);
}

// Converts \d, and classes such as \w within brackets, to POSIX, which lacks them. Refuses expressions that POSIX would
// silently interpret in another way.
std::string in_posix(const std::string& expression)
{
    static const std::map<char, std::string> classes{{'d', "0-9"}, {'w', "[:alnum:]_"}, {'s', "[:space:]"}};
    std::string posix;
    bool in_brackets = false;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        const char c = expression[i];
        const char next = i + 1 < expression.size() ? expression[i + 1] : '\0';
        if (c == '\\' && in_brackets) {
            const auto found = classes.find(next);
            if (found == classes.end()) fail_expression(expression, "within brackets write it without a backslash");
            posix += found->second;
            ++i;
        } else if (c == '\\' && (next == 'd' || next == 'D')) {
            posix += next == 'd' ? "[0-9]" : "[^0-9]";
            ++i;
        } else if (c == '\\') {
            (posix += c) += next;
            ++i;
        } else {
            if (!in_brackets && next == '?' && (c == '*' || c == '+' || c == '?' || c == '}' || c == '('))
                fail_expression(expression, base::join("'", c, "?' is not known: POSIX expressions are always greedy"));
            const bool first = !posix.empty() && (posix.ends_with('[') || posix.ends_with("[^"));
            if (c == '[' && !in_brackets)
                in_brackets = true;
            else if (c == ']' && !first)
                in_brackets = false;
            posix += c;
        }
    }
    return posix;
}

}  // namespace

LineKinds::LineKinds(const std::string& expression) : expression_text_{expression}
{
    constexpr std::size_t longest = 1000;
    if (expression.size() > longest) fail_expression(expression, base::join("it is longer than ", longest, " bytes"));
    auto compiled = std::make_unique<regex_t>();
    if (const int code = ::regcomp(compiled.get(), in_posix(expression).c_str(), REG_EXTENDED); code != 0) {
        std::array<char, 200> why{};
        ::regerror(code, compiled.get(), why.data(), why.size());
        fail_expression(expression, why.data());
    }
    expression_ = {compiled.release(), [](regex_t* one) {
                       ::regfree(one);
                       delete one;
                   }};
}

void LineKinds::add(const std::string& line, std::int64_t at_ns)
{
    if (expression_) {
        std::array<regmatch_t, 2> found{};
        if (::regexec(expression_.get(), line.c_str(), found.size(), found.data(), 0) != 0) return;
        Lines& lines = kinds_[expression_text_];
        lines.name = expression_text_;
        const auto& [begin, end] = found[1];
        const std::string number =
            begin < 0 ? "" : line.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        if (expression_->re_nsub > 0 && !lines.at_ns.empty() && number == lines.last) return;
        lines.last = number;
        lines.at_ns.push_back(at_ns);
        return;
    }
    const std::string name = without_numbers(line);
    const std::string kind = without_blanks_and_bars(name);
    if (kind.empty() || (kinds_.size() >= most_kinds && !kinds_.contains(kind))) return;
    Lines& lines = kinds_[kind];
    lines.has_numbers = name.find('#') != std::string::npos;
    constexpr std::int64_t together_ns = 1'000'000;  // ranks that print the same line differ by less
    if (!lines.has_numbers && !lines.at_ns.empty() && at_ns - lines.at_ns.back() < together_ns) return;
    if (lines.name.empty()) lines.name = name;
    lines.same.push_back(!lines.at_ns.empty() && lines.last == line);
    lines.last = line;
    lines.at_ns.push_back(at_ns);
}

// If all ranks print the same line, equal lines form groups of equal size; otherwise each of the equal lines is a step.
LineTimes LineKinds::steps_of(const Lines& lines)
{
    constexpr std::size_t least_groups = 10;
    constexpr double alike = 0.9;
    std::map<std::size_t, std::size_t> groups;  // number of groups by size
    std::size_t count = 0;
    std::size_t size = 0;
    for (std::size_t i = 0; i <= lines.same.size(); ++i) {
        const bool ends = i == lines.same.size() || !lines.same[i];
        if (ends && size > 0) {
            ++groups[size];
            ++count;
        }
        size = ends ? 1 : size + 1;
    }
    const auto common = std::max_element(groups.begin(), groups.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (count < least_groups || common->first == 1 ||
        static_cast<double>(common->second) < alike * static_cast<double>(count))
        return lines.at_ns;
    LineTimes first;
    for (std::size_t i = 0; i < lines.same.size(); ++i)
        if (!lines.same[i]) first.push_back(lines.at_ns[i]);
    return first;
}

std::optional<LineKinds::Kind> LineKinds::most_frequent(std::size_t least) const
{
    std::optional<Kind> most = most_frequent(least, true);
    return most ? most : most_frequent(least, false);
}

std::optional<LineKinds::Kind> LineKinds::most_frequent(std::size_t least, bool has_numbers) const
{
    std::optional<Kind> most;
    for (const auto& [kind, lines] : kinds_) {
        if (!expression_ && lines.has_numbers != has_numbers) continue;
        if (lines.at_ns.size() < least || (most && lines.at_ns.size() <= most->at_ns.size())) continue;
        Kind found{lines.name, expression_ ? lines.at_ns : steps_of(lines)};
        if (found.at_ns.size() >= least && (!most || found.at_ns.size() > most->at_ns.size())) most = std::move(found);
    }
    return most;
}

std::size_t LineKinds::most() const
{
    std::size_t most = 0;
    std::size_t most_without_numbers = 0;
    for (const auto& [kind, lines] : kinds_) {
        std::size_t& of_these = expression_ || lines.has_numbers ? most : most_without_numbers;
        of_these = std::max(of_these, lines.at_ns.size());
    }
    return most > 1 ? most : std::max(most, most_without_numbers);
}

Output::Output(const std::filesystem::path& log, LineKinds kinds) : log_{log}, kinds_{std::move(kinds)}
{
    if (!log_) base::fail("cannot write ", log.string());
    reading_ = base::check_errno(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), "open a terminal for the job");
    base::check_errno(::grantpt(reading_), "prepare the job's terminal");
    base::check_errno(::unlockpt(reading_), "prepare the job's terminal");
    std::array<char, 64> name{};
    if (const int code = ::ptsname_r(reading_, name.data(), name.size()); code != 0)
        throw std::system_error{code, std::generic_category(), "cannot name the job's terminal"};
    terminal_ = name.data();
    writing_ = base::check_errno(::open(name.data(), O_WRONLY | O_NOCTTY | O_CLOEXEC), "open the job's terminal");
    winsize size{};
    size.ws_row = 24;  // tqdm shows no bar on a terminal without a size
    size.ws_col = 80;
    base::check_errno(::ioctl(writing_, TIOCSWINSZ, &size), "set the size of the job's terminal");
    termios settings{};
    base::check_errno(::tcgetattr(writing_, &settings), "read the job's terminal settings");
    ::cfmakeraw(&settings);  // output arrives unchanged
    base::check_errno(::tcsetattr(writing_, TCSANOW, &settings), "set the job's terminal");
    reader_ = std::thread{[this] { read(); }};
}

Output::~Output()
{
    close();
    ::close(reading_);
}

std::size_t Output::most_lines() const
{
    const std::lock_guard lock{mutex_};
    return kinds_.most();
}

Output::Seen Output::seen() const
{
    const std::lock_guard lock{mutex_};
    return {lines_, all_.most_frequent(2)};
}

LineKinds Output::finish()
{
    close();
    return kinds_;
}

// Reading ends with an error when no process has the terminal open for writing.
void Output::close()
{
    if (writing_ >= 0) ::close(writing_);
    writing_ = -1;
    if (reader_.joinable()) reader_.join();
    log_.flush();
}

void Output::read()
{
    // Keeps normal priority: a higher one would take the job's CPU at each line. write_steps() compensates for lines
    // that wait to be read.
    std::array<char, 4096> bytes{};
    while (true) {
        const ssize_t count = ::read(reading_, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;
        take(bytes.data(), static_cast<std::size_t>(count), base::now_ns());
    }
}

// A line ends with \n or \r, since progress bars rewrite their line.
void Output::take(const char* bytes, std::size_t count, std::int64_t at_ns)
{
    log_.write(bytes, static_cast<std::streamsize>(count));
    log_.flush();
    const std::lock_guard lock{mutex_};
    for (std::size_t i = 0; i < count; ++i) {
        if (bytes[i] != '\n' && bytes[i] != '\r') {
            if (line_.size() < longest_line) line_ += bytes[i];
            continue;
        }
        if (!line_.empty()) {
            ++lines_;
            kinds_.add(line_, at_ns);
            all_.add(line_, at_ns);
        }
        line_.clear();
    }
}

LineTimes spread(LineTimes at_ns)
{
    std::size_t first = 0;  // index of the first line read at the same time
    for (std::size_t end = 1; end <= at_ns.size(); ++end) {
        if (end < at_ns.size() && at_ns[end] == at_ns[first]) continue;
        const auto count = static_cast<std::int64_t>(end - first);
        if (first > 0) {
            const std::int64_t before_ns = at_ns[first - 1];
            const std::int64_t since_ns = at_ns[first] - before_ns;
            for (std::int64_t i = 1; i < count; ++i)
                at_ns[first + static_cast<std::size_t>(i) - 1] = before_ns + since_ns * i / count;
        }
        first = end;
    }
    return at_ns;
}

void write_steps(const std::filesystem::path& file, const LineTimes& at_ns)
{
    base::CsvWriter table{file, {"rank", "step", "begin_ns", "end_ns"}, base::CsvWriter::Appear::whole};
    const LineTimes ends_ns = spread(at_ns);
    for (std::size_t i = 1; i < ends_ns.size(); ++i)
        if (ends_ns[i] > ends_ns[i - 1]) table.row(0, i - 1, ends_ns[i - 1], ends_ns[i]);
    table.finish();
}

std::string expression_for(const std::string& kind)
{
    const std::string before{base::trim(std::string_view{kind}.substr(0, kind.find('#')))};
    if (before.empty() || before.size() == kind.size()) return "";
    std::string expression;
    for (const char c : before) {
        if (std::strchr(R"(\^$.|?*+()[]{})", c) != nullptr) expression += '\\';
        expression += c;
        if (c == ' ') expression += '+';
    }
    return expression + " *[0-9]";
}

std::vector<std::string> last_words_in(const std::filesystem::path& log)
{
    constexpr std::size_t most = 5;
    std::vector<std::string> own;
    std::vector<std::string> all;
    std::ifstream in{log};
    for (std::string line; std::getline(in, line);) {
        if (line.find_first_not_of(" \t\r-") == std::string::npos) continue;  // parts of mpirun's frames
        if (line.starts_with("ddl-train: ") && std::find(own.begin(), own.end(), line) == own.end())
            own.push_back(line);
        all.push_back(line);
    }
    std::vector<std::string>& last = own.empty() ? all : own;
    if (last.size() > most) last.erase(last.begin(), last.end() - most);
    return last;
}

}  // namespace crosstalk
