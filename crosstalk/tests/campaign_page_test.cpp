// SPDX-License-Identifier: Apache-2.0
// The page of a campaign as a browser shows and prints it.
#include "base/contract/campaign_directory.hpp"
#include "base/files.hpp"
#include "crosstalk/campaign/collect.hpp"
#include "testing/browser.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace crosstalk;

namespace {

namespace fs = std::filesystem;

const std::string spec_text =
    "models = resnet18\n"
    "noise = memory.stream, io.write\n"
    "designed = rotation(memory.stream, placebo; slot=auto)\n"
    "repetitions = 2\n";

// A page with all possible contents, and the files that it links to.
fs::path made_page(const fs::path& folder)
{
    std::ofstream{folder / "spec.ini"} << spec_text;
    const Spec spec = read_spec(folder / "spec.ini");
    CampaignDirectory::make(folder / "study", spec_text, make_plan(spec));
    const CampaignDirectory campaign{folder / "study"};
    Collection all;
    for (const PlannedRun& run : campaign.plan()) {
        CollectedRun& collected = all.runs.emplace_back();
        collected.run = run;
        collected.hosts = "n1 n2";
        collected.started = "2026-11-21T05:44:58Z";
        all.left_out.push_back({run, 1, "noise on n2 ended early, 4.6 s before the training"});
        if (run.noise == base::campaign::designed)
            all.designed.push_back({run, "memory.stream", 10.9, 9.5, 12.3, "unsafe", true});
        else if (run.noise != base::campaign::no_noise)
            all.effects.push_back({run, 2, 7.8, base::Interval{4.3, 11.3}, 0.012, "unsafe", "compare-1/index.html"});
    }
    REQUIRE(!all.designed.empty());
    REQUIRE(!all.effects.empty());
    const fs::path report = folder / "study/report";
    fs::create_directories(report / "compare-1");
    base::write_whole(report / "compare-1/index.html", "there");
    for (const DesignedEffect& one : all.designed) {
        fs::create_directories(campaign.path() / base::campaign::runs / one.run.name / "report");
        base::write_whole(campaign.path() / base::campaign::runs / one.run.name / "report/index.html", "there");
    }
    for (const char* table : {base::campaign::run_table, base::campaign::effect_table, base::campaign::designed_table,
                              base::campaign::left_out_table})
        base::write_whole(report / table, "there");
    write_page(report, campaign, all);
    return report / "index.html";
}

}  // namespace

TEST_CASE("a browser shows all of the campaign's page on a phone, a tablet and a screen, and prints it")
{
    if (testing::browser().empty()) return testing::skip("chromium is not there");
    const testing::Scratch scratch;
    const fs::path page = made_page(scratch.path());
    testing::check_links(page);
    testing::check_on_screens(scratch.path(), page);
    if (testing::found({"pdftotext"}).empty()) return testing::skip("pdftotext is not there");
    const testing::Printed printed = testing::print_page(scratch.path(), page, "A4");
    CHECK(printed.words > 100);
    CHECK(printed.first_sheet().find(">budget<") != std::string::npos);  // the label in the plot
}
