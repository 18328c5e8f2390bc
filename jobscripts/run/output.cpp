#include "jobscripts/run/output.hpp"

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include <fcntl.h>
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

// "loss 0.31 at step 12" -> "loss # at step #"
std::string without_numbers(const std::string& line)
{
    std::string kind;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool in_number = !kind.empty() && kind.back() == '#';
        const bool point = in_number && line[i] == '.' && i + 1 < line.size() && is_digit(line[i + 1]);
        if (point || (in_number && is_digit(line[i]))) continue;
        kind += is_digit(line[i]) ? '#' : line[i];
    }
    return kind;
}

}  // namespace

LineKinds::LineKinds(const std::string& expression) : expression_text_{expression}
{
    try {
        expression_.emplace(expression);
    } catch (const std::regex_error& error) {
        base::fail_usage("--step-line: '", expression, "' is no regular expression: ", error.what());
    }
}

void LineKinds::add(const std::string& line, std::int64_t at_ns)
{
    if (expression_) {
        std::smatch found;
        if (!std::regex_search(line, found, *expression_)) return;
        Lines& lines = kinds_[expression_text_];
        const std::string number = found.size() > 1 ? found[1].str() : std::string{};
        if (found.size() > 1 && !lines.at_ns.empty() && number == lines.last) return;
        lines.last = number;
        lines.at_ns.push_back(at_ns);
        return;
    }
    const std::string kind = without_numbers(line);
    if (kind.find('#') == std::string::npos || (kinds_.size() >= most_kinds && !kinds_.contains(kind))) return;
    Lines& lines = kinds_[kind];
    if (lines.last == line) return;
    lines.last = line;
    lines.at_ns.push_back(at_ns);
}

std::optional<LineKinds::Kind> LineKinds::most_frequent(std::size_t least) const
{
    std::optional<Kind> most;
    for (const auto& [name, lines] : kinds_)
        if (lines.at_ns.size() >= least && (!most || lines.at_ns.size() > most->at_ns.size()))
            most = Kind{name, lines.at_ns};
    return most;
}

std::size_t LineKinds::most() const
{
    std::size_t most = 0;
    for (const auto& [name, lines] : kinds_) most = std::max(most, lines.at_ns.size());
    return most;
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
    termios settings{};
    base::check_errno(::tcgetattr(writing_, &settings), "look at the job's terminal");
    ::cfmakeraw(&settings);  // what the job writes is what arrives
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

LineKinds Output::finish()
{
    close();
    return kinds_;
}

// Once nobody has the terminal open for writing, reading ends with an error.
void Output::close()
{
    if (writing_ >= 0) ::close(writing_);
    writing_ = -1;
    if (reader_.joinable()) reader_.join();
    log_.flush();
}

void Output::read()
{
    // At no higher priority than others: that would take the job's CPU from it at each line. write_steps() makes up for
    // lines that wait to be read.
    std::array<char, 4096> bytes{};
    while (true) {
        const ssize_t count = ::read(reading_, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;
        take(bytes.data(), static_cast<std::size_t>(count), base::now_ns());
    }
}

// A line ends with either of \n and \r: progress bars rewrite theirs.
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
        if (!line_.empty()) kinds_.add(line_, at_ns);
        line_.clear();
    }
}

LineTimes spread(LineTimes at_ns)
{
    std::size_t first = 0;  // of those read at once
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

}  // namespace crosstalk
