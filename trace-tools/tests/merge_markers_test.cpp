// SPDX-License-Identifier: Apache-2.0
// The effects of a report become markers in the merged archive.
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/archives/listing.hpp"
#include "testing/archives/merged_archives.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/profile/profile.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <doctest/doctest.h>

#include <sstream>

namespace fs = std::filesystem;
using testing::has_otf2_print;
using testing::merge;
using testing::says;
using testing::write_noise;
using testing::write_training;

namespace {

// Writes a report: on both ranks noise covered steps 1 to 4 of 20, and step 0 is warm-up.
void write_report(const fs::path& report, const std::string& verdict, const std::string& effects)
{
    fs::create_directories(report);
    base::write_whole(report / "verdict.json", verdict);
    base::write_whole(report / "effects.csv",
                      "factor,level,phase,rank,kind,effect_percent,low_percent,high_percent,p_holm,steps\n" + effects);
    std::string exposure = "rank,step,block,used,reason,memory.stream\n";
    for (int rank = 0; rank < 2; ++rank)
        for (int step = 0; step < 20; ++step)
            exposure +=
                base::join(rank, ",", step, ",0,", step == 0 ? "0,warm-up" : "1,no", ",", step < 5 ? 1.0 : 0.25, "\n");
    base::write_whole(report / "exposure.csv", exposure);
}

// Returns the MARKER lines of otf2-marker, each from the text `from` on.
std::vector<std::string> printed_markers(const fs::path& archive, const std::string& from)
{
    std::istringstream lines{testing::run({"otf2-marker", archive}).out};
    std::vector<std::string> markers;
    for (std::string line; std::getline(lines, line);)
        if (line.rfind("MARKER ", 0) == 0) markers.push_back(line.substr(line.find(from)));
    return markers;
}

}  // namespace

TEST_CASE("significant effects of a report are markers on demand on the steps that the noise covered")
{
    if (!has_otf2_print()) return;
    const testing::Scratch scratch;
    const std::string train = write_training(scratch);
    const std::string noise = write_noise(scratch / "noise");
    write_report(scratch / "report",
                 R"({"trustworthy": false, "reasons": ["too short", "too noisy"], "budget_percent": 5})",
                 "memory.stream,rate=4GiB/s,forward,1,alone,12.34,10.1,14.5,0.001,9\n"
                 "memory.stream,rate=4GiB/s,step,all,alone,4.0,3.0,6.0,0.049,9\n"
                 "memory.stream,rate=4GiB/s,update,1,alone,1.0,-3.0,5.0,0.2,9\n"
                 "memory.stream,rate=8GiB/s,forward,1,alone,50.0,40.0,60.0,0.001,9\n"
                 "memory.stream*io.write,,step,all,interaction,9.0,8.0,10.0,0.001,9\n");
    const testing::Outcome outcome =
        merge({train, noise}, scratch / "merged", {"--report", scratch / "report", "--all-markers"});
    REQUIRE(outcome.err == "");
    CHECK(says(outcome.out, "3 markers of effects"));

    REQUIRE(
        testing::run({CROSSTALK_BIN "/trace-steps", scratch / "merged/traces.otf2", "-o", scratch / "steps"}).status ==
        0);
    const std::vector<std::string> markers = printed_markers(scratch / "merged/traces.otf2", "Time");
    REQUIRE(markers.size() == 3);
    CHECK(says(markers[0], "Scope: GLOBAL, Text: \"not trustworthy: too short; too noisy\""));

    // Steps 1 to 4 of rank 1, in the first slot; in the third one the noise covered only a quarter of each step.
    otf2::Reader reader{train};
    otf2::Listing listing{reader.archive(), true};
    reader.read(listing);
    const auto time_of = [&](const std::string& what, std::size_t which) {
        for (const std::string& line : listing.lines)
            if (says(line, "MPI Rank 1/") && line.ends_with(what) && which-- == 0) return std::stoll(line);
        return 0LL;
    };
    const long long begin = time_of("enter step step=1", 0);
    const long long end = time_of("leave step", 4);
    CHECK(says(markers[1], base::join("Time: ", begin, ", Duration ", end - begin, ", Scope: LOCATION:3, Text: ",
                                      "\"memory.stream[rate=4GiB/s] +12.3 % [10.1, 14.5] forward\"")));
    CHECK(says(markers[2], "Scope: GLOBAL, Text: \"memory.stream[rate=4GiB/s] +4.0 % [3.0, 6.0] step\""));
    CHECK(testing::run({"otf2-print", "--silent", scratch / "merged/traces.otf2"}).status == 0);

    REQUIRE(testing::run({CROSSTALK_BIN "/trace-convert", scratch / "merged/traces.otf2", "--perfetto",
                          scratch / "perfetto.json"})
                .status == 0);
    const std::string perfetto = base::read_whole(scratch / "perfetto.json");
    std::size_t instants = 0;
    for (std::size_t at = perfetto.find("\"ph\": \"i\""); at != std::string::npos;
         at = perfetto.find("\"ph\": \"i\"", at + 1))
        ++instants;
    CHECK(instants == 3);
    CHECK(says(perfetto, base::join("\"text\": \"memory.stream[rate=4GiB/s] +12.3 % [10.1, 14.5] forward\", ",
                                    "\"length_ns\": ", end - begin, "}}")));

    // The report of another run has steps that this training lacks.
    base::write_whole(scratch / "report/exposure.csv",
                      base::read_whole(scratch / "report/exposure.csv") + "1,20,0,1,no,1\n");
    const testing::Outcome other = merge({train, noise}, scratch / "merged 2", {"--report", scratch / "report"});
    CHECK(other.status == 1);
    CHECK(says(other.err, "it is the report of another run"));
    CHECK_FALSE(fs::exists(scratch / "merged 2"));
}

TEST_CASE("without a word only effects on the whole step beyond the budget are markers")
{
    if (!has_otf2_print()) return;
    const testing::Scratch scratch;
    const std::string train = write_training(scratch);
    const std::string noise = write_noise(scratch / "noise");
    const auto marked = [&](const std::string& out, const std::string& budget) {
        write_report(scratch / out / "report",
                     R"({"trustworthy": true, "reasons": [], "budget_percent": )" + budget + "}",
                     "memory.stream,rate=4GiB/s,step,all,alone,4.0,3.0,6.0,0.049,9\n"
                     "memory.stream,rate=4GiB/s,step,1,alone,5.0,4.0,6.0,0.001,9\n"
                     "memory.stream,rate=4GiB/s,forward,all,alone,12.34,10.1,14.5,0.001,9\n");
        REQUIRE(merge({train, noise}, scratch / out / "merged", {"--report", scratch / out / "report"}).err == "");
        return printed_markers(scratch / out / "merged/traces.otf2", "Text");
    };
    CHECK(marked("below", "4.1").empty());
    CHECK(marked("beyond", "3.9") ==
          std::vector<std::string>{"Text: \"memory.stream[rate=4GiB/s] +4.0 % [3.0, 6.0] step\""});
}

TEST_CASE("noise that the report calls unsafe has its markers, significant or not")
{
    if (!has_otf2_print()) return;
    const testing::Scratch scratch;
    const std::string train = write_training(scratch);
    const std::string noise = write_noise(scratch / "noise");
    const auto marked = [&](const std::string& out, const std::string& trust, const std::string& verdict,
                            const std::string& effects) {
        write_report(scratch / out / "report",
                     R"({"budget_percent": 1, "reasons": ["too short"], "trustworthy": )" + trust +
                         R"(, "factors": {"memory.stream": )" + verdict + "}}",
                     effects);
        const testing::Outcome outcome =
            merge({train, noise}, scratch / out / "merged", {"--report", scratch / out / "report"});
        REQUIRE(outcome.err == "");
        return printed_markers(scratch / out / "merged/traces.otf2", "Text");
    };
    const std::string effects =
        "memory.stream,rate=4GiB/s,step,all,alone,56.04,6.7,105.4,1,9\n"
        "memory.stream,rate=4GiB/s,step,all,average,30.0,20.0,40.0,0.01,9\n"
        "memory.stream,rate=4GiB/s,step,1,alone,20.0,6.7,25.4,1,9\n"
        "memory.stream,rate=4GiB/s,forward,all,alone,20.0,6.7,25.4,1,9\n";
    const auto levels = [](const std::string& kind, const std::string& verdict) {
        return R"({"verdict": "safe", "level": "rate=8GiB/s", "kind": "alone", "levels": {"rate=4GiB/s": {"verdict": ")" +
               verdict + R"(", "level": "rate=4GiB/s", "kind": ")" + kind + R"("}}})";
    };
    CHECK(marked("trusted", "true", levels("alone", "unsafe"), effects) ==
          std::vector<std::string>{"Text: \"memory.stream[rate=4GiB/s] +56.0 % [6.7, 105.4] step: unsafe, not "
                                   "significant after Holm's correction\""});
    CHECK(marked("factorial", "true", levels("average", "unsafe"), effects) ==
          std::vector<std::string>{
              "Text: \"memory.stream[rate=4GiB/s] +30.0 % [20.0, 40.0] step, averaged over the other noise: unsafe\""});
    CHECK(marked("undecided", "true", levels("alone", "undecided"), effects).empty());
    const testing::Outcome trusted = testing::run({"otf2-marker", scratch / "trusted/merged/traces.otf2"});
    CHECK(says(trusted.out, "\"crosstalk\""));

    const std::vector<std::string> distrusted = marked("distrusted", "false", levels("alone", "unsafe"), effects);
    REQUIRE(distrusted.size() == 2);
    CHECK(distrusted[0] == "Text: \"not trustworthy: too short\"");
    CHECK(says(testing::run({"otf2-marker", scratch / "distrusted/merged/traces.otf2"}).out,
               "\"crosstalk (not trustworthy)\""));
}
