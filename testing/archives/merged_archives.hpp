// SPDX-License-Identifier: Apache-2.0
// Writes archives of a training and of noise that ran at the same time, and runs trace-merge on them.
#pragma once

#include "base/files.hpp"
#include "base/words.hpp"
#include "testing/archives/listing.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/profile/profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace testing {

inline Outcome merge(const std::vector<std::string>& archives, const std::filesystem::path& out,
                     const std::vector<std::string>& options = {})
{
    std::vector<std::string> words{CROSSTALK_BIN "/trace-merge"};
    words.insert(words.end(), archives.begin(), archives.end());
    words.insert(words.end(), {"-o", out});
    words.insert(words.end(), options.begin(), options.end());
    return testing::run(words);
}

// Two ranks that communicate by MPI in every step.
inline std::filesystem::path write_training(const Scratch& scratch)
{
    std::ofstream{scratch / "spec"} << "ranks 2\n"
                                       "clock 1 offset=5ms drift=20\n"
                                       "repeat 20 step {\n"
                                       "  forward 3ms..5ms\n"
                                       "  MPI_Iallreduce 5ms request=grad\n"
                                       "  MPI_Send 0>1 1ms\n"
                                       "  MPI_Wait grad\n"
                                       "}\n";
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-synth", scratch / "spec", "-o", scratch / "train"}).status == 0);
    return scratch / "train/traces.otf2";
}

// An archive as noisegen writes it: slots of 50 ms, the first one 1 s after the archive's start, when the training
// begins.
inline std::filesystem::path write_noise(const std::filesystem::path& directory, const std::string& clock = "",
                                         const std::string& name = "noise 0")
{
    otf2::Recorder recorder{directory, std::make_unique<otf2::SoloTeam>(), name};
    recorder.property("crosstalk::design", "rotation");
    if (!clock.empty()) recorder.process_property("crosstalk::clock_identity", clock);
    const otf2::AttributeRef level = recorder.attribute("level", otf2::Type::text);
    const otf2::MetricRef bytes = recorder.metric("achieved bytes", "bytes/s", otf2::Type::real);
    otf2::LocationRecorder& schedule = recorder.location("schedule");
    otf2::LocationRecorder& cpu = recorder.location("cpu 3");
    const std::int64_t slot_ns = 50'000'000;
    std::int64_t begin_ns = 1'000'000'000;
    for (const char* factor : {"memory.stream", "quiet", "memory.stream"}) {
        schedule.enter(recorder.region(factor), begin_ns, {{level, recorder.text("rate=4GiB/s")}});
        schedule.leave(recorder.region(factor), begin_ns + slot_ns);
        cpu.enter(recorder.region(factor), begin_ns + 100);
        cpu.metric(bytes, 2.5e9, begin_ns + slot_ns / 2);
        cpu.leave(recorder.region(factor), begin_ns + slot_ns);
        begin_ns += slot_ns;
    }
    recorder.finish();
    return directory / "traces.otf2";
}

inline bool has_otf2_print()
{
    const bool there = testing::run({"sh", "-c", "command -v otf2-print && command -v otf2-marker"}).status == 0;
    if (!there) skip("no otf2-print and otf2-marker here");
    return there;
}

// otf2-print's lines for all events, sorted, without the numbers of definitions and locations.
inline std::vector<std::string> printed_events(const std::vector<std::string>& archives)
{
    std::vector<std::string> events;
    for (const std::string& archive : archives) {
        const Outcome outcome = testing::run({"otf2-print", archive});
        REQUIRE(outcome.status == 0);
        std::istringstream lines{outcome.out.substr(outcome.out.find("Timestamp"))};
        std::string line;
        std::getline(lines, line);
        std::getline(lines, line);
        static const std::regex location{"^([A-Z_0-9]+) +[0-9]+ +"};
        static const std::regex number{" <[0-9]+>|Metric: [0-9]+"};
        while (std::getline(lines, line))
            if (!line.empty())
                events.push_back(std::regex_replace(std::regex_replace(line, location, "$1 "), number, ""));
    }
    std::ranges::sort(events);
    return events;
}

// The lines that occur in only one of the two lists; empty if the lists are equal.
inline std::string differences(const std::vector<std::string>& some, const std::vector<std::string>& others)
{
    std::vector<std::string> lines;
    std::set_symmetric_difference(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(lines));
    return base::join_words(lines, "\n");
}

inline std::string printed_definitions(const std::filesystem::path& archive)
{
    return testing::run({"otf2-print", "-G", archive}).out;
}

inline bool says(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

}  // namespace testing
