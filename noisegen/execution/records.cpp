// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/records.hpp"

#include "base/contract/roles.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/trace_names.hpp"
#include "base/system/launcher.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <array>

#include <sched.h>

namespace noisegen {

namespace {

const std::vector<std::string> stretch_columns{"slot", "factor", "level", "cpu", "begin_ns", "end_ns"};

otf2::MetricRow since_last(const char* name, const char* unit, const char* description = "")
{
    return {.name = name,
            .unit = unit,
            .description = description,
            .type = otf2::Type::real,
            .mode = otf2::MetricMode::absolute_last};
}

std::vector<otf2::MetricRow> achieved_metrics()
{
    return {since_last("achieved bytes", "bytes/s"), since_last("achieved operations", "operations/s"),
            since_last("achieved duty", "share", "share of the time with both a burst and the CPU"),
            since_last("requested", "1/s", "bytes/s or operations/s; 0: full speed"),
            since_last("requested duty", "share")};
}

}  // namespace

Records::Records(const std::filesystem::path& part, const Schedule& schedule, std::uint64_t seed,
                 const std::vector<int>& cpus)
    : schedule_{schedule},
      part_{part},
      host_{base::host_name()},
      rows_{part / base::file::noise_rows,
            {"slot", "block", "position", "factor", "stressor", "level", "cpu", "host", "begin_ns", "end_ns",
             "requested", "bytes", "operations", "requested_duty", "duty", "waited_ns", "reached", "role"}},
      samples_csv_{part / "samples.csv",
                   {"slot", "factor", "level", "cpu", "begin_ns", "end_ns", "requested", "bytes", "operations",
                    "requested_duty", "duty", "waited_ns"}},
      recorder_{part / base::file::trace, std::make_unique<otf2::SoloTeam>(),
                "noise " + host_ + " rank " + std::to_string(base::job_rank().rank)},
      block_{recorder_.attribute(base::attribute::block, otf2::Type::uint64, "number of the block in the run")},
      position_{recorder_.attribute(base::attribute::position, otf2::Type::uint64, "number of the slot in its block")},
      level_{recorder_.attribute(base::attribute::level, otf2::Type::text,
                                 "which level of the factor, empty if it has only one")},
      stressor_{recorder_.attribute(base::attribute::stressor, otf2::Type::text, "what runs under the factor's label")},
      role_{recorder_.attribute(base::attribute::role, otf2::Type::text,
                                "treatment, placebo, delay, sham or pause; empty for quiet")},
      achieved_{recorder_.metrics(achieved_metrics())},
      on_{recorder_.in_group(base::region_group::noise, recorder_.region("on"))},
      stopped_{recorder_.in_group(base::region_group::noise, recorder_.region(base::region::training_stopped))},
      quiet_{recorder_.in_group(base::region_group::no_noise, recorder_.region(base::region::quiet)),
             recorder_.text(""), recorder_.text(base::region::quiet), recorder_.text("")}
{
    recorder_.property(base::property::schedule, schedule.text);
    recorder_.property(base::property::seed, std::to_string(seed));
    recorder_.property(base::property::design, name(schedule.design));
    // OTF2 cannot hold an empty property, so a schedule with only quiet has none.
    if (!schedule.factors().empty())
        recorder_.property(base::property::factors, base::join_words(schedule.factors(), ","));
    const auto follows = [](const FactorLevel& level) { return !level.intensity.follow.empty(); };
    if (std::any_of(schedule.levels.begin(), schedule.levels.end(), follows))
        followed_csv_.emplace(part / "followed.csv", stretch_columns);
    for (const FactorLevel& level : schedule.levels) {
        const StressorCard& card = *schedule.stressors[level.stressor].card;
        levels_.push_back({recorder_.in_group(base::region_group::noise, recorder_.region(level.factor)),
                           recorder_.text(level.level), recorder_.text(card.name),
                           recorder_.text(base::text(card.role))});
    }
    assigned_ = &recorder_.location(base::location::schedule);
    for (const int cpu : cpus)
        locations_.push_back(&recorder_.location(base::location::noise_cpu + std::to_string(cpu),
                                                 {.kind = otf2::LocationKind::cpu_thread,
                                                  .accelerator = {},
                                                  .properties = {{base::property::cpus, std::to_string(cpu)}}}));
    entered_.resize(cpus.size());
    on_since_ns_.resize(cpus.size());
}

const std::string& Records::factor(const SlotDone& done) const
{
    static const std::string quiet = base::region::quiet;
    return done.level ? schedule_.levels[*done.level].factor : quiet;
}

void Records::enter(otf2::LocationRecorder& location, const Slot& slot, const Names& names, std::int64_t at_ns)
{
    location.enter(names.region, at_ns,
                   {{block_, slot.block},
                    {position_, slot.position},
                    {level_, names.level},
                    {stressor_, names.stressor},
                    {role_, names.role}});
}

void Records::enter(std::size_t cpu_index, const SlotDone& done)
{
    if (entered_[cpu_index] == done.slot) return;
    entered_[cpu_index] = done.slot;
    enter(*locations_[cpu_index], *done.slot, names(done.level), done.sample.begin_ns);
}

void Records::sample(std::size_t cpu_index, const SlotDone& so_far, const Sample& sample)
{
    enter(cpu_index, so_far);
    otf2::LocationRecorder& location = *locations_[cpu_index];
    const std::array<otf2::MetricNumber, 5> achieved{sample.bytes_per_s(), sample.operations_per_s(), sample.duty(),
                                                     sample.requested_per_s, sample.requested_duty};
    location.metrics(achieved_, achieved, sample.end_ns);

    const std::lock_guard lock{mutex_};
    samples_csv_.row(so_far.slot->number, factor(so_far), schedule_.levels[*so_far.level].level, ::sched_getcpu(),
                     sample.begin_ns, sample.end_ns, sample.requested_per_s, sample.work.bytes, sample.work.operations,
                     sample.requested_duty, sample.duty(), sample.waited_ns);
}

void Records::followed(std::size_t cpu_index, const SlotDone& so_far, bool on, std::int64_t at_ns)
{
    enter(cpu_index, so_far);
    if (on) {
        locations_[cpu_index]->enter(on_, at_ns);
        on_since_ns_[cpu_index] = at_ns;
        return;
    }
    locations_[cpu_index]->leave(on_, at_ns);
    const std::lock_guard lock{mutex_};
    followed_csv_->row(so_far.slot->number, factor(so_far), schedule_.levels[*so_far.level].level, ::sched_getcpu(),
                       on_since_ns_[cpu_index], at_ns);
}

void Records::stopped(std::size_t cpu_index, const SlotDone& so_far, std::int64_t from_ns, std::int64_t until_ns)
{
    enter(cpu_index, so_far);
    locations_[cpu_index]->enter(stopped_, from_ns);
    locations_[cpu_index]->leave(stopped_, until_ns);
    const std::lock_guard lock{mutex_};
    if (!pauses_csv_) pauses_csv_.emplace(part_ / base::file::pauses, stretch_columns);
    pauses_csv_->row(so_far.slot->number, factor(so_far), schedule_.levels[*so_far.level].level, ::sched_getcpu(),
                     from_ns, until_ns);
}

void Records::slot(std::size_t cpu_index, const SlotDone& done)
{
    enter(cpu_index, done);
    locations_[cpu_index]->leave(names(done.level).region, done.sample.end_ns);

    const FactorLevel* level = done.level ? &schedule_.levels[*done.level] : nullptr;
    const Sample& sample = done.sample;
    const std::lock_guard lock{mutex_};
    rows_.row(done.slot->number, done.slot->block, done.slot->position, factor(done),
              level ? schedule_.stressors[level->stressor].card->name : base::region::quiet, level ? level->level : "",
              ::sched_getcpu(), host_, sample.begin_ns, sample.end_ns, sample.requested_per_s, sample.work.bytes,
              sample.work.operations, sample.requested_duty, sample.duty(), sample.waited_ns,
              level ? reached(level->intensity, done) : 1.0,
              level ? base::text(schedule_.stressors[level->stressor].card->role) : "");
}

void Records::finish(const std::vector<Slot>& table, std::int64_t start_ns, std::int64_t joined_ns,
                     std::int64_t ended_ns)
{
    for (const Slot& slot : table) {
        const std::int64_t begin = start_ns + slot.begin.count();
        const std::int64_t end = std::min(start_ns + slot.end.count(), ended_ns);
        if (end <= joined_ns) continue;
        if (begin >= ended_ns) break;
        if (slot.treatment.empty()) {
            enter(*assigned_, slot, quiet_, begin);
            assigned_->leave(quiet_.region, end);
            continue;
        }
        for (const std::size_t level : slot.treatment) enter(*assigned_, slot, levels_[level], begin);
        for (auto level = slot.treatment.rbegin(); level != slot.treatment.rend(); ++level)
            assigned_->leave(levels_[*level].region, end);
    }
    recorder_.finish();
}

}  // namespace noisegen
