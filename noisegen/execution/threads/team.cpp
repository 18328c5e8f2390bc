// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/threads/team.hpp"

#include "base/random.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "noisegen/execution/threads/thread_setup.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace noisegen {

struct Team::Worker {
    std::size_t index = 0;
    int cpu = 0;
    std::vector<std::unique_ptr<Stressor>> stressors;  // by stressor; null: not run here, or only sleeps
    std::vector<std::size_t> sharers;                  // by stressor: number of CPUs that run it
    std::vector<LevelState> levels;
    CpuFigures figures;
    std::thread thread;
};

Team::Team(const Schedule& schedule, Setup setup)
    : schedule_{schedule},
      setup_{std::move(setup)},
      limits_{LimitGroup::make(schedule, {setup_.cpus.begin(), setup_.cpus.end()})},
      made_{static_cast<std::ptrdiff_t>(setup_.cpus.size())},
      news_{base::check_errno(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "make an event")},
      working_{setup_.cpus.size()},
      places_{setup_.cpus, !bind_otherwise(schedule)},
      notes_(schedule.stressors.size()),
      facts_(schedule.stressors.size()),
      not_kept_(schedule.stressors.size()),
      short_(schedule.levels.size()),
      reported_(schedule.levels.size())
{
    if (std::ranges::any_of(schedule.levels, [](const FactorLevel& level) { return !level.intensity.follow.empty(); }))
        control_.emplace(base::ControlFile::open(setup_.control_run, base::host_name()));
    for (std::size_t i = 0; i < schedule_.stressors.size(); ++i) {
        const auto& [card, settings] = schedule_.stressors[i];
        const Place place{.cpu = setup_.runs[i].front(),
                          .index = 0,
                          .count = setup_.runs[i].size(),
                          .cpus = setup_.runs[i],
                          .control_run = setup_.control_run,
                          .victims = setup_.victims,
                          .noise = setup_.noise,
                          .job = setup_.job,
                          .shared = nullptr,
                          .at_once = setup_.at_once};
        shared_.push_back(card->share ? card->share(settings, place) : nullptr);
    }
    for (std::size_t i = 0; i < setup_.cpus.size(); ++i) {
        auto worker = std::make_unique<Worker>();
        worker->index = i;
        worker->cpu = setup_.cpus[i];
        for (const FactorLevel& level : schedule_.levels) worker->levels.emplace_back(level.intensity);
        workers_.push_back(std::move(worker));
    }
    for (auto& worker : workers_) try {
            worker->thread = std::thread{[this, &worker] { work(*worker); }};
        } catch (const std::system_error&) {  // too many threads for this user or job
            fail(std::current_exception());
            made_.count_down();
        }
    made_.wait();
    if (failed()) stop();
}

Team::~Team()
{
    try {
        stop();
    } catch (...) {  // already reported, or a worse error is being thrown
    }
}

void Team::start(std::vector<Slot> table, std::int64_t start_ns, NoiseObservers observers)
{
    const std::lock_guard lock{mutex_};
    if (tables_ > 0) count_anew();
    table_ = std::move(table);
    start_ns_ = start_ns;
    observers_ = std::move(observers);
    working_ = workers_.size();
    ++tables_;
    go_.notify_all();
}

// All workers must be waiting for the next table.
void Team::count_anew()
{
    for (auto& worker : workers_) {
        worker->levels.clear();
        for (const FactorLevel& level : schedule_.levels) worker->levels.emplace_back(level.intensity);
        CpuFigures& figures = worker->figures;
        for (auto* times : {&figures.lateness_ns, &figures.late_to_follow_ns, &figures.late_to_leave_ns})
            times->clear();
        figures.bytes = 0;
        figures.operations = 0;
    }
    for (std::atomic<float>& share : short_) share = 0.0F;
    reported_.assign(reported_.size(), false);
}

bool Team::await_start(std::uint64_t tables_seen)
{
    std::unique_lock lock{mutex_};
    go_.wait(lock, [&] { return tables_ > tables_seen || stop_event_.is_set(); });
    return !stop_event_.is_set();
}

void Team::stop()
{
    {
        const std::lock_guard lock{mutex_};
        stop_event_.set();
    }
    go_.notify_all();
    for (auto& worker : workers_)
        if (worker->thread.joinable()) worker->thread.join();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Team::fail(std::exception_ptr error)
{
    const std::lock_guard lock{mutex_};
    if (!error_) error_ = std::move(error);
    failed_ = true;
    stop_event_.set();
    go_.notify_all();
    tell_news();
}

void Team::tell_news()
{
    ::eventfd_write(news_, 1);
}

void Team::wait_for_news(std::int64_t deadline_ns, int descriptor) const
{
    constexpr std::int64_t second_ns = 1'000'000'000;
    const std::int64_t left = std::max<std::int64_t>(0, deadline_ns - base::now_ns());
    const timespec patience{left / second_ns, left % second_ns};
    std::array<pollfd, 2> events{pollfd{news_, POLLIN, 0}, pollfd{descriptor, POLLIN, 0}};
    ::ppoll(events.data(), events.size(), &patience, nullptr);
    eventfd_t count = 0;
    ::eventfd_read(news_, &count);
}

void Team::work(Worker& worker)
{
    bool counted = false;
    try {
        leave_signals_alone();
        base::bind_this_thread({worker.cpu});
        places_.begin(worker.index);
        base::set_scheduling_class(setup_.scheduling);
        try_scheduling_classes(schedule_, setup_.scheduling);
        prctl(PR_SET_TIMERSLACK, 1000UL);  // timer slack in ns, so that slots begin on time
        for (std::size_t i = 0; i < schedule_.stressors.size(); ++i) {
            const std::vector<int>& cpus = setup_.runs[i];
            const auto place = std::ranges::find(cpus, worker.cpu);
            worker.sharers.push_back(cpus.size());
            const auto& [card, settings] = schedule_.stressors[i];
            worker.stressors.push_back(
                place == cpus.end() ? nullptr
                                    : card->make(settings, {.cpu = worker.cpu,
                                                            .index = static_cast<std::size_t>(place - cpus.begin()),
                                                            .count = cpus.size(),
                                                            .cpus = cpus,
                                                            .control_run = setup_.control_run,
                                                            .victims = setup_.victims,
                                                            .noise = setup_.noise,
                                                            .job = setup_.job,
                                                            .shared = shared_[i].get(),
                                                            .at_once = setup_.at_once}));
        }
        counted = true;
        made_.count_down();
        for (std::uint64_t tables_seen = 0; await_start(tables_seen); ++tables_seen) {
            run_slots(worker);
            --working_;
            tell_news();
        }
    } catch (...) {
        fail(std::current_exception());
    }
    places_.end(worker.index);
    if (!counted) made_.count_down();
    {
        const std::lock_guard lock{mutex_};
        for (std::size_t i = 0; i < worker.stressors.size(); ++i) {
            if (worker.stressors[i] && notes_[i].empty()) notes_[i] = worker.stressors[i]->note();
            if (worker.stressors[i]) facts_[i].merge(worker.stressors[i]->facts());
            if (worker.stressors[i] && not_kept_[i].empty()) not_kept_[i] = worker.stressors[i]->not_kept();
        }
    }
    worker.stressors.clear();
    tell_news();
}

void Team::run_slots(Worker& worker)
{
    const RunqueueDelay runqueue_delay;
    bool begun = false;
    for (std::size_t i = 0; i < table_.size(); ++i) {
        const Slot& slot = table_[i];
        // A process that joins its job late begins with the current slot.
        if (!begun && start_ns_ + slot.end.count() <= base::now_ns()) continue;
        const std::int64_t begin = start_ns_ + slot.begin.count();
        if (!(stresses(worker, slot) ? stop_event_.sleep_exactly_until(begin) : stop_event_.sleep_until(begin))) return;
        if (begun || slot.begin.count() == 0) worker.figures.lateness_ns.push_back(base::now_ns() - begin);
        begun = true;
        const SlotDone done =
            run_slot(worker, runqueue_delay, slot, i + 1 < table_.size() && stresses(worker, table_[i + 1]));
        places_.look(worker.index);
        if (observers_.on_slot) observers_.on_slot(worker.index, done);
    }
}

// The level assigned to this CPU. In a factorial each CPU belongs to one stressor, and is quiet while only others are
// on. It is also quiet if the stressor needs a single CPU and that is another one.
std::optional<std::size_t> Team::level_of(const Worker& worker, const Slot& slot) const
{
    const bool has_owners = schedule_.design == Schedule::Design::factorial;
    for (const std::size_t index : slot.treatment) {
        const std::size_t stressor = schedule_.levels[index].stressor;
        const StressorCard::Cpus wanted = schedule_.stressors[stressor].card->cpus;
        const bool owned = wanted == StressorCard::Cpus::one || (has_owners && wanted == StressorCard::Cpus::own);
        const std::vector<int>& cpus = setup_.runs[stressor];
        if (!owned || std::ranges::find(cpus, worker.cpu) != cpus.end()) return index;
    }
    return {};
}

// Each rank, CPU and level has a seed of its own, so that random arrivals are independent.
std::uint64_t Team::arrival_seed(const Worker& worker, std::size_t level) const
{
    const auto rank = static_cast<std::uint64_t>(setup_.job.rank);
    return base::random_stream(setup_.seed, (rank << 40U) + (worker.index << 20U) + level)();
}

void Team::fell_short(std::size_t level, double share)
{
    const float before = short_[level].exchange(static_cast<float>(std::max(share, 1e-6)));
    if (before == 0.0F) tell_news();
}

// Does the slot run a stressor on this CPU? False in quiet and placebo slots.
bool Team::stresses(const Worker& worker, const Slot& slot) const
{
    const std::optional<std::size_t> level = level_of(worker, slot);
    return level && worker.stressors[schedule_.levels[*level].stressor] != nullptr;
}

SlotDone Team::run_slot(Worker& worker, const RunqueueDelay& runqueue_delay, const Slot& slot, bool stress_follows)
{
    SlotDone done{.slot = &slot, .level = level_of(worker, slot)};
    done.sample.begin_ns = base::now_ns();
    const std::int64_t deadline = start_ns_ + slot.end.count();
    const auto sleep = [&] {
        stress_follows ? stop_event_.sleep_exactly_until(deadline) : stop_event_.sleep_until(deadline);
    };
    if (!done.level) {
        sleep();
        done.sample.end_ns = base::now_ns();
        return done;
    }

    const FactorLevel& level = schedule_.levels[*done.level];
    const Intensity& asked = level.intensity;
    done.sample.requested_duty = asked.duty.fraction();
    const double asked_per_s =
        asked.rate ? asked.rate->per_second / static_cast<double>(worker.sharers[level.stressor]) : 0.0;
    done.sample.requested_per_s = asked_per_s * asked.duty.fraction();
    LevelState& state = worker.levels[*done.level];
    if (Stressor* stressor = worker.stressors[level.stressor].get()) {
        const bool sets = setup_.runs[level.stressor].front() == worker.cpu;
        std::optional<LimitedStressor> limited;
        if (asked.limit) limited.emplace(*stressor, *limits_, *asked.limit, worker.cpu, sets);
        if (!asked.sched.empty()) base::set_scheduling_class(asked.sched);
        stress(limited ? *limited : *stressor, asked, state, done,
               {.cpu = worker.index,
                .start_ns = start_ns_,
                .deadline_ns = deadline,
                .asked_per_s = asked_per_s,
                .arrival_seed = arrival_seed(worker, *done.level),
                .stop_event = stop_event_,
                .runqueue_delay = schedule_.stressors[level.stressor].card->runs_processes ? nullptr : &runqueue_delay,
                .page = control_ ? &control_->page() : nullptr,
                .observers = observers_,
                .figures = worker.figures,
                .fell_short = [this, &done](double share) { fell_short(*done.level, share); }});
        if (!asked.sched.empty()) base::set_scheduling_class(setup_.scheduling);
    } else
        sleep();
    done.sample.end_ns = base::now_ns();

    LevelTotal& total = state.total;
    ++total.slots;
    const std::int64_t assigned_end_ns = stop_event_.is_set() ? std::min(deadline, done.sample.end_ns) : deadline;
    total.assigned_ns += std::max<std::int64_t>(0, assigned_end_ns - (start_ns_ + slot.begin.count()));
    add(total, done.sample);
    return done;
}

std::uint64_t Team::bytes() const
{
    std::uint64_t sum = 0;
    for (const auto& worker : workers_) sum += worker->figures.bytes.load(std::memory_order_relaxed);
    return sum;
}

std::uint64_t Team::operations() const
{
    std::uint64_t sum = 0;
    for (const auto& worker : workers_) sum += worker->figures.operations.load(std::memory_order_relaxed);
    return sum;
}

std::vector<std::pair<std::size_t, double>> Team::newly_short()
{
    std::vector<std::pair<std::size_t, double>> found;
    for (std::size_t i = 0; i < short_.size(); ++i) {
        const float share = short_[i].load();
        if (share == 0.0F || reported_[i]) continue;
        reported_[i] = true;
        found.emplace_back(i, share);
    }
    return found;
}

std::vector<LevelTotal> Team::totals() const
{
    std::vector<LevelTotal> sums(schedule_.levels.size());
    for (const auto& worker : workers_)
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const LevelTotal& total = worker->levels[i].total;
            sums[i].slots = std::max(sums[i].slots, total.slots);
            sums[i].on_ns += total.on_ns;
            sums[i].assigned_ns += total.assigned_ns;
            add(sums[i].work, total.work);
            sums[i].busy_ns += total.busy_ns;
            sums[i].waited_ns += total.waited_ns;
            sums[i].requested_per_s += total.requested_per_s;
            sums[i].requested_duty = std::max(sums[i].requested_duty, total.requested_duty);
            if (total.slots > 0) ++sums[i].cpus;
        }
    return sums;
}

Lateness Team::lateness(std::vector<std::int64_t> CpuFigures::*times) const
{
    std::vector<std::int64_t> all;
    for (const auto& worker : workers_)
        all.insert(all.end(), (worker->figures.*times).begin(), (worker->figures.*times).end());
    if (all.empty()) return {};
    std::ranges::sort(all);
    const auto at = [&all](double share) {
        return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
    };
    return {at(0.5), at(0.99), all.back()};
}

Lateness Team::lateness() const
{
    return lateness(&CpuFigures::lateness_ns);
}

Lateness Team::late_to_follow() const
{
    return lateness(&CpuFigures::late_to_follow_ns);
}

Lateness Team::late_to_leave() const
{
    return lateness(&CpuFigures::late_to_leave_ns);
}

std::string Team::limited_by(const Intensity& intensity) const
{
    return intensity.limit && limits_ ? limits_->how(*intensity.limit) : "";
}

}  // namespace noisegen
