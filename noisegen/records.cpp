#include "noisegen/records.hpp"

#include "base/run_record.hpp"
#include "base/words.hpp"

#include <algorithm>

namespace noisegen {

Records::Records(const std::filesystem::path& part, const Schedule& schedule, std::uint64_t seed,
                 const std::vector<int>& cpus)
    : schedule_{schedule},
      cpus_{cpus},
      host_{base::host_name()},
      csv_{part / "noise.csv",
           {"phase", "block", "chip", "factor", "stressor", "level", "cpu", "host", "begin_ns", "end_ns", "requested",
            "bytes", "operations"}},
      recorder_{part / "trace", std::make_unique<otf2::SoloTeam>(),
                "noise " + host_ + " rank " + std::to_string(base::job_rank().rank)},
      block_{recorder_.attribute("block", otf2::Type::uint64, "number of the block in the run")},
      chip_{recorder_.attribute("chip", otf2::Type::uint64, "number of the chip in its block")},
      level_{recorder_.attribute("level", otf2::Type::text, "which level of the factor, empty if it has one")},
      stressor_{recorder_.attribute("stressor", otf2::Type::text, "what runs under the factor's label")},
      bytes_{recorder_.metric("achieved bytes", "bytes/s", otf2::Type::real, otf2::MetricMode::absolute_last)},
      operations_{
          recorder_.metric("achieved operations", "operations/s", otf2::Type::real, otf2::MetricMode::absolute_last)},
      requested_{recorder_.metric("requested", "1/s", otf2::Type::real, otf2::MetricMode::absolute_last,
                                  "bytes/s or operations/s; 0: as fast as it goes")},
      quiet_{recorder_.region("quiet")},
      no_level_{recorder_.text("")},
      no_stressor_{recorder_.text("quiet")}
{
    recorder_.property("crosstalk::schedule", schedule.text);
    recorder_.property("crosstalk::seed", std::to_string(seed));
    recorder_.property("crosstalk::design", name(schedule.design));
    // OTF2 cannot hold an empty property: a schedule of nothing but quiet has none.
    if (!schedule.factors().empty())
        recorder_.property("crosstalk::factors", base::join_words(schedule.factors(), ","));
    for (const Dose& dose : schedule.doses) {
        regions_.push_back(recorder_.region(dose.factor));
        levels_.push_back(recorder_.text(dose.level));
        stressors_.push_back(recorder_.text(schedule.stressors[dose.stressor].card->name));
    }
    chips_ = &recorder_.location("schedule");
    for (const int cpu : cpus) locations_.push_back(&recorder_.location("cpu " + std::to_string(cpu)));
}

otf2::RegionRef Records::region(std::optional<std::size_t> dose) const
{
    return dose ? regions_[*dose] : quiet_;
}

void Records::phase(std::size_t cpu_index, const PhaseDone& done)
{
    const double seconds = static_cast<double>(done.end_ns - done.begin_ns) * 1e-9;
    const auto per_second = [seconds](std::uint64_t amount) {
        return seconds > 0.0 ? static_cast<double>(amount) / seconds : 0.0;
    };
    otf2::LocationRecorder& location = *locations_[cpu_index];
    location.enter(region(done.dose), done.begin_ns,
                   {{block_, done.chip->block},
                    {chip_, done.chip->chip},
                    {level_, done.dose ? levels_[*done.dose] : no_level_},
                    {stressor_, done.dose ? stressors_[*done.dose] : no_stressor_}});
    location.metric(bytes_, per_second(done.work.bytes), done.end_ns);
    location.metric(operations_, per_second(done.work.operations), done.end_ns);
    location.metric(requested_, done.requested_per_s, done.end_ns);
    location.leave(region(done.dose), done.end_ns);

    const Dose* dose = done.dose ? &schedule_.doses[*done.dose] : nullptr;
    const std::lock_guard lock{mutex_};
    csv_.row(done.chip->phase, done.chip->block, done.chip->chip, dose ? dose->factor : "quiet",
             dose ? schedule_.stressors[dose->stressor].card->name : "quiet", dose ? dose->level : "", cpus_[cpu_index],
             host_, done.begin_ns, done.end_ns, done.requested_per_s, done.work.bytes, done.work.operations);
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
