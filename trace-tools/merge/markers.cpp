// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/merge/markers.hpp"

#include "base/contract/factor_name.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/trace_names.hpp"
#include "base/contract/verdict_words.hpp"
#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/clock.hpp"
#include "base/words.hpp"
#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/ranks.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/steps/slots.hpp"
#include "trace-tools/steps/step_region.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

namespace merge {

namespace fs = std::filesystem;

namespace {

constexpr double significance = 0.05;
constexpr double mostly = 0.5;  // share of a step that the noise covers at least where it is marked
constexpr std::int64_t all_ranks = -1;

struct Effect {
    std::string factor;
    std::string level;
    std::string phase;
    std::int64_t rank = all_ranks;
    double percent = 0.0;
    double low = 0.0;
    double high = 0.0;
    std::string kind;       // alone, average
    std::string verdict{};  // empty unless it is on the whole job's step
    bool significant = true;
};

struct Judgement {
    double budget_percent = 0.0;
    std::string why_not_trustworthy;
    std::map<std::array<std::string, 3>, std::string> verdicts;  // safe, unsafe, undecided; by factor, level and kind
};

void add_verdicts(Judgement& judged, const nlohmann::ordered_json& factors)
{
    const auto add = [&](const std::string& factor, const nlohmann::ordered_json& one) {
        judged.verdicts[{factor, one.value("level", ""), one.value("kind", "alone")}] = one.at("verdict");
    };
    for (const auto& [factor, one] : factors.items()) {
        add(factor, one);
        if (one.contains("levels"))
            for (const nlohmann::ordered_json& level : one.at("levels")) add(factor, level);
    }
}

Judgement judgement(const fs::path& report)
{
    const fs::path file = report / base::file::verdict;
    try {
        const auto json = base::read_json(file);
        Judgement judged;
        judged.budget_percent = json.at("budget_percent").get<double>();
        if (!json.at("trustworthy").get<bool>())
            judged.why_not_trustworthy =
                "not trustworthy: " + base::join_words(json.at("reasons").get<std::vector<std::string>>(), "; ");
        add_verdicts(judged, json.value("factors", nlohmann::ordered_json::object()));
        return judged;
    } catch (const nlohmann::json::exception&) {
        base::fail(file.string(), " is not a verdict of interference");
    }
}

bool is_marked(const Effect& effect, Marked marked, double budget_percent)
{
    if (effect.verdict == base::verdict_word::unsafe) return true;
    if (effect.kind != "alone" || !effect.significant) return false;
    const bool of_whole_step = effect.phase == "step" && effect.rank == all_ranks;
    return marked == Marked::all || (of_whole_step && effect.percent > budget_percent);
}

std::vector<Effect> effects_to_mark(const fs::path& report, const Judgement& judged, Marked marked)
{
    const base::CsvTable table{report / base::file::effects};
    table.refuse_cut_off();
    std::vector<Effect> effects;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        Effect effect{.factor = table.text(row, "factor"),
                      .level = table.text(row, "level"),
                      .phase = table.text(row, "phase"),
                      .kind = table.text(row, "kind"),
                      .significant = table.get<double>(row, "p_holm") < significance};
        if (table.text(row, "rank") != "all") effect.rank = table.get<std::int64_t>(row, "rank");
        const auto verdict = judged.verdicts.find({effect.factor, effect.level, effect.kind});
        if (verdict != judged.verdicts.end() && effect.phase == "step" && effect.rank == all_ranks)
            effect.verdict = verdict->second;
        effect.percent = table.get<double>(row, "effect_percent");
        effect.low = table.get<double>(row, "low_percent");
        effect.high = table.get<double>(row, "high_percent");
        if (is_marked(effect, marked, judged.budget_percent)) effects.push_back(std::move(effect));
    }
    return effects;
}

// Share of each used step in which a factor was on, by rank, step and factor.
class Exposure {
 public:
    explicit Exposure(const fs::path& report) : table_{report / "exposure.csv"}
    {
        for (std::size_t row = 0; row < table_.rows(); ++row)
            if (table_.get<int>(row, "used") == 1)
                used_[{table_.get<std::int64_t>(row, "rank"), table_.get<std::int64_t>(row, "step")}] = row;
    }

    bool covered(std::int64_t rank, std::int64_t step, const std::string& factor) const
    {
        const auto found = used_.find({rank, step});
        return found != used_.end() && table_.get<double>(found->second, factor) >= mostly;
    }

    void refuse_unless_of(const otf2::StepTable& steps) const
    {
        std::size_t found = 0;
        for (const otf2::StepsOfRank& rank : steps.ranks)
            for (const otf2::Step step : rank.steps) found += used_.count({rank.rank, step.number});
        if (found != used_.size())
            base::fail("the report has ", used_.size() - found,
                       " steps that the training lacks: it is the report of another run");
    }

 private:
    base::CsvTable table_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> used_;  // row, by rank and step
};

struct Marker {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    OTF2_MarkerRef category = 0;
    OTF2_MarkerScope scope = OTF2_MARKER_SCOPE_GLOBAL;
    std::uint64_t scope_number = 0;
    std::string text;
};

struct Category {
    const char* name;
    OTF2_MarkerSeverity severity;
};
constexpr std::array<Category, 5> categories{{{"slower by more than the budget", OTF2_SEVERITY_HIGH},
                                              {"slower, possibly by more than the budget", OTF2_SEVERITY_MEDIUM},
                                              {"slower within the budget", OTF2_SEVERITY_LOW},
                                              {"faster", OTF2_SEVERITY_NONE},
                                              {"report", OTF2_SEVERITY_HIGH}}};
constexpr OTF2_MarkerRef about_the_report = 4;

OTF2_MarkerRef category(const Effect& effect, double budget_percent)
{
    if (effect.percent < 0.0) return 3;
    if (effect.low > budget_percent) return 0;
    return effect.high > budget_percent ? 1 : 2;
}

// "memory.stream +12.3 % [10.1, 14.5] forward", "memory.stream +56.0 % [6.7, 105.4] step: unsafe"
std::string text(const Effect& effect)
{
    std::array<char, 64> numbers{};
    std::snprintf(numbers.data(), numbers.size(), " %+.1f %% [%.1f, %.1f] ", effect.percent, effect.low, effect.high);
    std::string text = base::factor_name(effect.factor, effect.level) + numbers.data() + effect.phase;
    if (effect.kind == "average") text += ", averaged over the other noise";
    if (!effect.verdict.empty()) text += ": " + effect.verdict;
    if (!effect.significant) text += ", not significant after Holm's correction";
    return text;
}

std::int64_t middle_ns(const otf2::Step& step)
{
    return step.begin_ns + (step.end_ns - step.begin_ns) / 2;
}

constexpr base::TimeSpan no_time{INT64_MAX, INT64_MIN};

// Returns the span of the rank's used steps whose middle lies in the slot and that the factor covered.
base::TimeSpan covered_steps(const otf2::Slot& slot, const std::string& factor, const otf2::StepsOfRank& rank,
                             const Exposure& exposure)
{
    base::TimeSpan stretch = no_time;
    auto step = std::partition_point(rank.steps.begin(), rank.steps.end(),
                                     [&](const otf2::Step& one) { return middle_ns(one) < slot.begin_ns; });
    for (; step != rank.steps.end() && middle_ns(*step) < slot.end_ns; ++step) {
        const otf2::Step covered = *step;
        if (!exposure.covered(rank.rank, covered.number, factor)) continue;
        stretch.begin_ns = std::min(stretch.begin_ns, covered.begin_ns);
        stretch.end_ns = std::max(stretch.end_ns, covered.end_ns);
    }
    return stretch;
}

std::vector<Marker> markers_of(const otf2::Slot& slot, const otf2::Assigned& on, const std::vector<Effect>& effects,
                               const otf2::StepTable& steps, const Exposure& exposure, const otf2::Archive& archive,
                               double budget_percent)
{
    std::vector<Marker> markers;
    for (const Effect& effect : effects) {
        if (effect.factor != on.factor || effect.level != on.level) continue;
        const bool of_job = effect.rank == all_ranks;
        base::TimeSpan stretch = no_time;
        std::uint64_t location = OTF2_UNDEFINED_UINT64;
        for (const otf2::StepsOfRank& rank : steps.ranks) {
            if (!of_job && rank.rank != effect.rank) continue;
            const base::TimeSpan of_rank = covered_steps(slot, on.factor, rank, exposure);
            stretch = {std::min(stretch.begin_ns, of_rank.begin_ns), std::max(stretch.end_ns, of_rank.end_ns)};
            if (!of_job) location = archive.locations[rank.location].id;
        }
        if (stretch.begin_ns > stretch.end_ns) continue;
        markers.push_back({.begin_ns = stretch.begin_ns,
                           .end_ns = stretch.end_ns,
                           .category = category(effect, budget_percent),
                           .scope = of_job ? OTF2_MarkerScope{OTF2_MARKER_SCOPE_GLOBAL}
                                           : OTF2_MarkerScope{OTF2_MARKER_SCOPE_LOCATION},
                           .scope_number = location,
                           .text = text(effect)});
    }
    return markers;
}

void write(const fs::path& anchor, const std::string& group, const std::vector<Marker>& markers)
{
    const otf2::ReaderHandle reader{otf2::check(OTF2_Reader_Open(anchor.c_str()), "read trace ", anchor.string())};
    otf2::check(OTF2_Reader_SetSerialCollectiveCallbacks(reader.get()), "read it alone");
    OTF2_MarkerWriter* writer = otf2::check(OTF2_Reader_GetMarkerWriter(reader.get()), "write markers");
    for (OTF2_MarkerRef number = 0; number < categories.size(); ++number)
        otf2::check(OTF2_MarkerWriter_WriteDefMarker(writer, number, group.c_str(), categories[number].name,
                                                     categories[number].severity),
                    "write markers");
    for (const Marker& marker : markers)
        otf2::check(
            OTF2_MarkerWriter_WriteMarker(writer, static_cast<OTF2_TimeStamp>(marker.begin_ns),
                                          static_cast<OTF2_TimeStamp>(marker.end_ns - marker.begin_ns), marker.category,
                                          marker.scope, marker.scope_number, marker.text.c_str()),
            "write markers");
    otf2::check_written([&] { otf2::check(OTF2_Reader_CloseMarkerWriter(reader.get(), writer), "write markers"); },
                        "write markers");
}

}  // namespace

std::size_t write_markers(const fs::path& anchor, const fs::path& report, std::size_t others, Marked marked)
{
    const Judgement judged = judgement(report);
    const std::vector<Effect> effects = effects_to_mark(report, judged, marked);
    const Exposure exposure{report};

    otf2::Reader reader{anchor};
    const otf2::Archive& archive = reader.archive();
    if (archive.clock.ticks_per_s != 1'000'000'000)
        base::fail("markers of a report need a clock that counts nanoseconds");
    const std::uint32_t schedule = otf2::schedule_location(archive, others);
    if (schedule == otf2::nowhere) base::fail("the noise has no location 'schedule': not an archive of noisegen");
    otf2::SlotReader assigned{archive, schedule};
    reader.read_by_location(assigned);
    const auto region = otf2::find_step_region(reader);
    if (!region) base::fail("the training has no steps for the report's effects");
    otf2::StepTable steps = otf2::read_steps(reader, *region);
    const std::vector<std::int64_t> ranks = otf2::ranks_of_locations(archive);
    for (otf2::StepsOfRank& rank : steps.ranks)
        if (ranks[rank.location] < 0) rank.rank -= static_cast<std::int64_t>(others);
    exposure.refuse_unless_of(steps);

    std::vector<Marker> markers;
    if (!judged.why_not_trustworthy.empty())
        markers.push_back({.begin_ns = archive.clock.begin_ns,
                           .end_ns = archive.clock.begin_ns + archive.clock.length_ns,
                           .category = about_the_report,
                           .scope = OTF2_MARKER_SCOPE_GLOBAL,
                           .scope_number = OTF2_UNDEFINED_UINT64,
                           .text = judged.why_not_trustworthy});
    for (const otf2::Slot& slot : assigned.slots)
        for (const otf2::Assigned& on : slot.on)
            for (Marker& marker : markers_of(slot, on, effects, steps, exposure, archive, judged.budget_percent))
                markers.push_back(std::move(marker));
    std::ranges::stable_sort(markers, [](const Marker& a, const Marker& b) { return a.begin_ns < b.begin_ns; });
    write(anchor, judged.why_not_trustworthy.empty() ? "crosstalk" : "crosstalk (not trustworthy)", markers);
    return markers.size();
}

}  // namespace merge
