// SPDX-License-Identifier: Apache-2.0
// Runs programs with libcrosstalk-mpi.so preloaded, and reads what was recorded of them.
#pragma once

#include "base/csv.hpp"
#include "testing/archives/listing.hpp"
#include "testing/programs.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace testing {

using Lines = std::vector<std::string>;
using Counts = std::map<std::string, int>;

#ifdef CROSSTALK_PRELOAD
inline const std::string library = CROSSTALK_PRELOAD;
#else
inline const std::string library;
#endif
inline const std::filesystem::path programs = bin / "../tests";

// Runs a program without leak checks, since MPI and Python leak.
inline Outcome run_leaking(const Lines& words)
{
    Lines all{"env", "ASAN_OPTIONS=detect_leaks=0"};
    all.insert(all.end(), words.begin(), words.end());
    return run(all);
}

inline bool has(const std::string& command)
{
    return run({"sh", "-c", command + " >/dev/null 2>&1"}).status == 0;
}

// Skips the test and returns false if a program is missing.
inline bool can_run(const Lines& commands = {"command -v mpirun", "command -v otf2-print"})
{
    if (library.empty()) {
        skip("no MPI");
        return false;
    }
    for (const std::string& command : commands) {
        if (has(command)) continue;
        skip("cannot: " + command);
        return false;
    }
    return true;
}

// Runs two ranks of a program with recording on; `variables` are environment variables such as
// "CROSSTALK_TRACE=/tmp/x".
inline Lines two_ranks(const Lines& program, const Lines& variables)
{
    Lines words{"mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", "-x", "LD_PRELOAD=" + library};
    for (const std::string& variable : variables) {
        words.push_back("-x");
        words.push_back(variable);
    }
    words.insert(words.end(), program.begin(), program.end());
    return words;
}

inline Outcome record(const Lines& program, const std::filesystem::path& trace)
{
    return run_leaking(two_ranks(program, {"CROSSTALK_TRACE=" + trace.string()}));
}

inline Lines lines_of(const std::string& text, const std::string& beginning = "")
{
    Lines found;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(beginning)) found.push_back(line);
    return found;
}

inline Lines said(const Outcome& outcome)
{
    return lines_of(outcome.err, "libcrosstalk-mpi:");
}

// Number of ENTER events per region of a location, counted in the output of otf2-print.
inline Counts entered(const std::filesystem::path& trace, const std::string& location)
{
    const Outcome printed = run_leaking({"otf2-print", trace / "traces.otf2"});
    CHECK(printed.status == 0);
    CHECK(printed.err == "");
    Counts counts;
    for (const std::string& line : lines_of(printed.out, "ENTER ")) {
        std::istringstream words{line};
        std::string word, where, time;
        words >> word >> where >> time;
        const std::size_t begin = line.find('"') + 1;
        if (where == location) ++counts[line.substr(begin, line.find('"', begin) - begin)];
    }
    return counts;
}

// Parses counts from lines such as "MPI_Send 3".
inline Counts reported(const std::string& text)
{
    Counts counts;
    std::istringstream in{text};
    std::string name;
    for (int count = 0; in >> name >> count;) counts[name] = count;
    return counts;
}

inline void check_sound(const std::filesystem::path& trace)
{
    const Outcome info = run_leaking({bin / "trace-info", trace / "traces.otf2", "--check"});
    CHECK_MESSAGE(info.status == 0, info.out, info.err);
    const Scratch scratch;
    const Outcome waits = run_leaking({bin / "trace-waits", trace / "traces.otf2", "-o", scratch / "waits"});
    CHECK_MESSAGE(waits.status == 0, waits.err);
}

struct Recorded {
    explicit Recorded(const std::filesystem::path& trace) : reader{trace / "traces.otf2"}, listing{reader.archive()}
    {
        reader.read_by_location(listing);
    }
    const otf2::Archive& archive() const { return reader.archive(); }
    Lines of(const std::string& place) const { return listing.of(place); }

    otf2::Reader reader;
    otf2::Listing listing;
};

inline long count(const Lines& lines, const std::string& line)
{
    return std::ranges::count(lines, line);
}

}  // namespace testing
