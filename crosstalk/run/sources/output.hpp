// SPDX-License-Identifier: Apache-2.0
// Output of a job, kept in a log with the time of each line. If nothing else shows the job's steps, repeated lines do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <regex.h>

namespace crosstalk {

// Times of the lines of one kind, CLOCK_MONOTONIC.
using LineTimes = std::vector<std::int64_t>;

// Groups lines by kind. With a regular expression (POSIX extended, whose matching is bounded in stack and time; \d
// works, too) the lines that match are the only kind; if it has a group, only the first of lines with the same match
// counts, since other ranks print it, too. Without an expression, lines that differ only in numbers, blanks and
// progress bars are one kind; lines without numbers count only if there are no others.
class LineKinds {
 public:
    LineKinds() = default;
    explicit LineKinds(const std::string& expression);  // throws UsageError for an invalid regular expression

    void add(const std::string& line, std::int64_t at_ns);

    // The kind with the most lines, with their times; none if there are fewer than `least`.
    struct Kind {
        std::string name;  // "step # of #", or the expression
        LineTimes at_ns;
    };
    std::optional<Kind> most_frequent(std::size_t least) const;
    std::size_t most() const;  // number of lines of that kind

 private:
    struct Lines {
        std::string name;
        std::string last;
        LineTimes at_ns;
        std::vector<bool> same;  // equal to the previous line of its kind; empty with an expression
        bool has_numbers = false;
    };
    static LineTimes steps_of(const Lines& lines);
    std::optional<Kind> most_frequent(std::size_t least, bool has_numbers) const;

    std::shared_ptr<const regex_t> expression_;  // null: no expression was given
    std::string expression_text_;
    std::map<std::string, Lines> kinds_;
};

// Reads a pseudo-terminal that the job writes to, so that the job prints line by line.
class Output {
 public:
    // Throws std::system_error.
    Output(const std::filesystem::path& log, LineKinds kinds);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    // Path that the job opens as its output.
    const std::filesystem::path& terminal() const { return terminal_; }

    // Number of lines so far of the most frequent kind, or of those that match the expression.
    std::size_t most_lines() const;

    // Number of all lines so far, and the most frequent kind regardless of an expression.
    struct Seen {
        std::size_t lines = 0;
        std::optional<LineKinds::Kind> most;
    };
    Seen seen() const;

    // Call it when all processes of the job have ended: reads the rest of the output.
    LineKinds finish();

 private:
    void close();
    void read();
    void take(const char* bytes, std::size_t count, std::int64_t at_ns);

    std::filesystem::path terminal_;
    std::ofstream log_;
    int reading_ = -1;
    int writing_ = -1;  // our own writing end keeps the terminal open until finish()
    mutable std::mutex mutex_;
    LineKinds kinds_;
    LineKinds all_;
    std::size_t lines_ = 0;
    std::string line_;
    std::thread reader_;
};

// An expression for --step-line that finds lines of a kind: "step *[0-9]" for "step # loss #". Empty if there is no
// good one.
std::string expression_for(const std::string& kind);

// The last lines of a log: those of ddl-train, each once, or, without any, all lines but mpirun's frames.
std::vector<std::string> last_words_in(const std::filesystem::path& log);

// Lines with equal times arrived while the reader waited for a CPU. They are spread evenly over the time since the
// previous line. If all but one were dropped, noise on that CPU would seem to lengthen steps.
LineTimes spread(LineTimes at_ns);

// Writes a steps.csv of one rank: each step lasts from one line to the next; times pass through spread().
void write_steps(const std::filesystem::path& file, const LineTimes& at_ns);

}  // namespace crosstalk
