// SPDX-License-Identifier: Apache-2.0
// Output of a job: kept in a log, every line with the time at which it came. Where nothing else shows its steps,
// lines that repeat do.
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

// Times of the lines that are of one kind, CLOCK_MONOTONIC.
using LineTimes = std::vector<std::int64_t>;

// Lines by kind. Given a regular expression, those that it finds something in are the only kind; if it has a group, of
// lines that agree in it the first one counts (other ranks print it, too); it is one of POSIX (extended), whose
// matching needs neither stack nor time without bound, and knows \d, too. Without one, lines that differ only in their
// numbers, blanks and progress bars are a kind; those without numbers count only where there are no others.
class LineKinds {
 public:
    LineKinds() = default;
    explicit LineKinds(const std::string& expression);  // throws UsageError for what is no regular expression

    void add(const std::string& line, std::int64_t at_ns);

    // The kind with the most lines, and its lines' times; none if there are fewer than `least`.
    struct Kind {
        std::string name;  // "step # of #", or the expression
        LineTimes at_ns;
    };
    std::optional<Kind> most_frequent(std::size_t least) const;
    std::size_t most() const;  // lines of one kind

 private:
    struct Lines {
        std::string name;
        std::string last;
        LineTimes at_ns;
        std::vector<bool> same;  // as the line before of its kind; empty for an expression
        bool has_numbers = false;
    };
    static LineTimes steps_of(const Lines& lines);
    std::optional<Kind> most_frequent(std::size_t least, bool has_numbers) const;

    std::shared_ptr<const regex_t> expression_;  // null: none was given
    std::string expression_text_;
    std::map<std::string, Lines> kinds_;
};

// The reading end of a terminal that a job writes to: it prints line by line, as to a person.
class Output {
 public:
    // Throws std::system_error.
    Output(const std::filesystem::path& log, LineKinds kinds);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    // To be opened by the job as its output.
    const std::filesystem::path& terminal() const { return terminal_; }

    // Lines so far of the kind that has most of them; where an expression was given, those that it finds.
    std::size_t most_lines() const;

    // All lines so far, and those of the kind that has most of them, whatever the expression.
    struct Seen {
        std::size_t lines = 0;
        std::optional<LineKinds::Kind> most;
    };
    Seen seen() const;

    // Waits until what the job printed is read; to be called when all of the job has ended.
    LineKinds finish();

 private:
    void close();
    void read();
    void take(const char* bytes, std::size_t count, std::int64_t at_ns);

    std::filesystem::path terminal_;
    std::ofstream log_;
    int reading_ = -1;
    int writing_ = -1;  // ours, so that the terminal lives until finish()
    mutable std::mutex mutex_;
    LineKinds kinds_;
    LineKinds all_;
    std::size_t lines_ = 0;
    std::string line_;
    std::thread reader_;
};

// The expression of --step-line for lines of a kind: "step *[0-9]" for "step # loss #". Empty where none is at hand.
std::string expression_for(const std::string& kind);

// The last lines of a log: those of ddl-train, each once, or, where it said nothing, all but mpirun's frames.
std::vector<std::string> last_words_in(const std::filesystem::path& log);

// Lines with the same time came while the reader waited for a CPU: evenly since the line before, as far as is
// known. If each of them were dropped but one, noise that keeps that CPU busy would seem to make steps longer.
LineTimes spread(LineTimes at_ns);

// steps.csv of one rank: a step lasts from one line to the next, spread as above.
void write_steps(const std::filesystem::path& file, const LineTimes& at_ns);

}  // namespace crosstalk
