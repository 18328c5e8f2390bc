#include "noisegen/records.hpp"

#include "base/run_record.hpp"
#include "base/words.hpp"

#include <algorithm>

namespace noisegen {

namespace {

const std::vector<std::string> stretch_columns{"phase", "factor", "level", "cpu", "begin_ns", "end_ns"};

}  // namespace

Records::Records(const std::filesystem::path& part, const Schedule& schedule, std::uint64_t seed,
                 const std::vector<int>& cpus)
    : schedule_{schedule},
      cpus_{cpus},
      part_{part},
      host_{base::host_name()},
      phases_{part / "noise.csv",
              {"phase", "block", "chip", "factor", "stressor", "level", "cpu", "host", "begin_ns", "end_ns",
               "requested", "bytes", "operations", "requested_duty", "duty", "waited_ns", "reached"}},
      levels_csv_{part / "levels.csv",
                  {"phase", "factor", "level", "cpu", "begin_ns", "end_ns", "requested", "bytes", "operations",
                   "requested_duty", "duty", "waited_ns"}},
      recorder_{part / "trace", std::make_unique<otf2::SoloTeam>(),
                "noise " + host_ + " rank " + std::to_string(base::job_rank().rank)},
      block_{recorder_.attribute("block", otf2::Type::uint64, "number of the block in the run")},
      chip_{recorder_.attribute("chip", otf2::Type::uint64, "number of the chip in its block")},
      level_{recorder_.attribute("level", otf2::Type::text, "which level of the factor, empty if it has one")},
      stressor_{recorder_.attribute("stressor", otf2::Type::text, "what runs under the factor's label")},
      bytes_{recorder_.metric("achieved bytes", "bytes/s", otf2::Type::real, otf2::MetricMode::absolute_last)},
      operations_{
          recorder_.metric("achieved operations", "operations/s", otf2::Type::real, otf2::MetricMode::absolute_last)},
      duty_{recorder_.metric("achieved duty", "share", otf2::Type::real, otf2::MetricMode::absolute_last,
                             "of the time with both a burst and the CPU")},
      requested_{recorder_.metric("requested", "1/s", otf2::Type::real, otf2::MetricMode::absolute_last,
                                  "bytes/s or operations/s; 0: as fast as it goes")},
      requested_duty_{recorder_.metric("requested duty", "share", otf2::Type::real, otf2::MetricMode::absolute_last)},
      quiet_{recorder_.region("quiet")},
      on_{recorder_.region("on")},
      stopped_{recorder_.region("training stopped")},
      no_level_{recorder_.text("")},
      no_stressor_{recorder_.text("quiet")}
{
    recorder_.property("crosstalk::schedule", schedule.text);
    recorder_.property("crosstalk::seed", std::to_string(seed));
    recorder_.property("crosstalk::design", name(schedule.design));
    // OTF2 cannot hold an empty property: a schedule of nothing but quiet has none.
    if (!schedule.factors().empty())
        recorder_.property("crosstalk::factors", base::join_words(schedule.factors(), ","));
    const auto follows = [](const Dose& dose) { return !dose.intensity.follow.empty(); };
    if (std::any_of(schedule.doses.begin(), schedule.doses.end(), follows))
        followed_csv_.emplace(part / "followed.csv", stretch_columns);
    for (const Dose& dose : schedule.doses) {
        regions_.push_back(recorder_.region(dose.factor));
        levels_.push_back(recorder_.text(dose.level));
        stressors_.push_back(recorder_.text(schedule.stressors[dose.stressor].card->name));
    }
    chips_ = &recorder_.location("schedule");
    for (const int cpu : cpus) locations_.push_back(&recorder_.location("cpu " + std::to_string(cpu)));
    entered_.resize(cpus.size());
    on_since_ns_.resize(cpus.size());
}

otf2::RegionRef Records::region(std::optional<std::size_t> dose) const
{
    return dose ? regions_[*dose] : quiet_;
}

const std::string& Records::factor(const PhaseDone& done) const
{
    static const std::string quiet = "quiet";
    return done.dose ? schedule_.doses[*done.dose].factor : quiet;
}

void Records::enter(std::size_t cpu_index, const PhaseDone& done)
{
    if (entered_[cpu_index] == done.chip) return;
    entered_[cpu_index] = done.chip;
    locations_[cpu_index]->enter(region(done.dose), done.level.begin_ns,
                                 {{block_, done.chip->block},
                                  {chip_, done.chip->chip},
                                  {level_, done.dose ? levels_[*done.dose] : no_level_},
                                  {stressor_, done.dose ? stressors_[*done.dose] : no_stressor_}});
}

void Records::level(std::size_t cpu_index, const PhaseDone& so_far, const Level& level)
{
    enter(cpu_index, so_far);
    otf2::LocationRecorder& location = *locations_[cpu_index];
    location.metric(bytes_, level.bytes_per_s(), level.end_ns);
    location.metric(operations_, level.operations_per_s(), level.end_ns);
    location.metric(duty_, level.duty(), level.end_ns);
    location.metric(requested_, level.requested_per_s, level.end_ns);
    location.metric(requested_duty_, level.requested_duty, level.end_ns);

    const std::lock_guard lock{mutex_};
    levels_csv_.row(so_far.chip->phase, factor(so_far), schedule_.doses[*so_far.dose].level, cpus_[cpu_index],
                    level.begin_ns, level.end_ns, level.requested_per_s, level.work.bytes, level.work.operations,
                    level.requested_duty, level.duty(), level.waited_ns);
}

void Records::followed(std::size_t cpu_index, const PhaseDone& so_far, bool on, std::int64_t at_ns)
{
    enter(cpu_index, so_far);
    if (on) {
        locations_[cpu_index]->enter(on_, at_ns);
        on_since_ns_[cpu_index] = at_ns;
        return;
    }
    locations_[cpu_index]->leave(on_, at_ns);
    const std::lock_guard lock{mutex_};
    followed_csv_->row(so_far.chip->phase, factor(so_far), schedule_.doses[*so_far.dose].level, cpus_[cpu_index],
                       on_since_ns_[cpu_index], at_ns);
}

void Records::stopped(std::size_t cpu_index, const PhaseDone& so_far, std::int64_t from_ns, std::int64_t until_ns)
{
    enter(cpu_index, so_far);
    locations_[cpu_index]->enter(stopped_, from_ns);
    locations_[cpu_index]->leave(stopped_, until_ns);
    const std::lock_guard lock{mutex_};
    if (!pauses_csv_) pauses_csv_.emplace(part_ / "pauses.csv", stretch_columns);
    pauses_csv_->row(so_far.chip->phase, factor(so_far), schedule_.doses[*so_far.dose].level, cpus_[cpu_index], from_ns,
                     until_ns);
}

void Records::phase(std::size_t cpu_index, const PhaseDone& done)
{
    enter(cpu_index, done);
    locations_[cpu_index]->leave(region(done.dose), done.level.end_ns);

    const Dose* dose = done.dose ? &schedule_.doses[*done.dose] : nullptr;
    const Level& level = done.level;
    const std::lock_guard lock{mutex_};
    phases_.row(done.chip->phase, done.chip->block, done.chip->chip, factor(done),
                dose ? schedule_.stressors[dose->stressor].card->name : "quiet", dose ? dose->level : "",
                cpus_[cpu_index], host_, level.begin_ns, level.end_ns, level.requested_per_s, level.work.bytes,
                level.work.operations, level.requested_duty, level.duty(), level.waited_ns,
                dose ? reached(dose->intensity, done) : 1.0);
}

void Records::finish(const std::vector<Chip>& table, std::int64_t start_ns, std::int64_t joined_ns,
                     std::int64_t ended_ns)
{
    for (const Chip& chip : table) {
        const std::int64_t begin = start_ns + chip.begin.count();
        const std::int64_t end = std::min(start_ns + chip.end.count(), ended_ns);
        if (end <= joined_ns) continue;
        if (begin >= ended_ns) break;
        if (chip.treatment.empty()) {
            chips_->enter(quiet_, begin,
                          {{block_, chip.block}, {chip_, chip.chip}, {level_, no_level_}, {stressor_, no_stressor_}});
            chips_->leave(quiet_, end);
            continue;
        }
        for (const std::size_t dose : chip.treatment)
            chips_->enter(
                regions_[dose], begin,
                {{block_, chip.block}, {chip_, chip.chip}, {level_, levels_[dose]}, {stressor_, stressors_[dose]}});
        for (auto dose = chip.treatment.rbegin(); dose != chip.treatment.rend(); ++dose)
            chips_->leave(regions_[*dose], end);
    }
    recorder_.finish();
}

}  // namespace noisegen
