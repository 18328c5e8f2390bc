#include "noisegen/team.hpp"

#include "base/clock.hpp"
#include "base/cpus.hpp"
#include "noisegen/rate_control.hpp"

#include <algorithm>
#include <csignal>

#include <sys/prctl.h>

namespace noisegen {

namespace {

constexpr std::int64_t judged_after_ns = 1'000'000'000;

// Signals go to the main thread.
void leave_signals_alone()
{
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

double amount(const Work& work, base::Rate::Of of)
{
    return static_cast<double>(of == base::Rate::Of::bytes ? work.bytes : work.operations);
}

}  // namespace

struct Team::Worker {
    std::size_t index = 0;
    int cpu = 0;
    std::vector<std::unique_ptr<Stressor>> stressors;  // by stressor; none: not run here, or sleep
    std::vector<std::size_t> sharers;                  // by stressor: CPUs that run it
    std::vector<DoseTotal> totals;                     // by dose
    std::vector<double> debts_ns;                      // by dose: of its rate control, from phase to phase
    std::int64_t worst_lateness_ns = 0;
    std::atomic<std::uint64_t> bytes = 0;
    std::thread thread;
};

Team::Team(const Schedule& schedule, Setup setup)
    : schedule_{schedule},
      setup_{std::move(setup)},
      made_{static_cast<std::ptrdiff_t>(setup_.cpus.size())},
      going_{go_.get_future().share()},
      working_{setup_.cpus.size()},
      notes_(schedule.stressors.size()),
      short_(schedule.doses.size()),
      told_(schedule.doses.size())
{
    for (std::size_t i = 0; i < schedule_.stressors.size(); ++i) {
        const auto& [card, settings] = schedule_.stressors[i];
        const Place place{.cpu = setup_.runs[i].front(),
                          .index = 0,
                          .count = setup_.runs[i].size(),
                          .control_run = setup_.control_run,
                          .job = setup_.job,
                          .shared = nullptr};
        shared_.push_back(card->share ? card->share(settings, place) : nullptr);
    }
    for (std::size_t i = 0; i < setup_.cpus.size(); ++i) {
        auto worker = std::make_unique<Worker>();
        worker->index = i;
        worker->cpu = setup_.cpus[i];
        worker->totals.resize(schedule_.doses.size());
        worker->debts_ns.resize(schedule_.doses.size());
        workers_.push_back(std::move(worker));
    }
    for (auto& worker : workers_) try {
            worker->thread = std::thread{[this, &worker] { work(*worker); }};
        } catch (const std::system_error&) {  // too many threads for this user or job
            fail(std::current_exception());
            made_.count_down();
            --working_;
        }
    made_.wait();
    if (failed()) stop();
}

Team::~Team()
{
    try {
        stop();
    } catch (...) {  // has been reported, or a worse error is on its way
    }
}

void Team::start(std::vector<Chip> table, std::int64_t start_ns, OnPhase on_phase)
{
    table_ = std::move(table);
    start_ns_ = start_ns;
    on_phase_ = std::move(on_phase);
    started_ = true;
    go_.set_value(true);
}

void Team::stop()
{
    bell_.ring();
    if (!started_) {
        started_ = true;
        go_.set_value(false);
    }
    for (auto& worker : workers_)
        if (worker->thread.joinable()) worker->thread.join();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Team::fail(std::exception_ptr error)
{
    const std::lock_guard lock{mutex_};
    if (!error_) error_ = std::move(error);
    failed_ = true;
    bell_.ring();
}

void Team::work(Worker& worker)
{
    bool counted = false;
    try {
        leave_signals_alone();
        base::bind_this_thread({worker.cpu});
        prctl(PR_SET_TIMERSLACK, 1000UL);  // ns: chips begin when they should
        for (std::size_t i = 0; i < schedule_.stressors.size(); ++i) {
            const std::vector<int>& cpus = setup_.runs[i];
            const auto place = std::find(cpus.begin(), cpus.end(), worker.cpu);
            worker.sharers.push_back(cpus.size());
            const auto& [card, settings] = schedule_.stressors[i];
            worker.stressors.push_back(
                place == cpus.end() ? nullptr
                                    : card->make(settings, {.cpu = worker.cpu,
                                                            .index = static_cast<std::size_t>(place - cpus.begin()),
                                                            .count = cpus.size(),
                                                            .control_run = setup_.control_run,
                                                            .job = setup_.job,
                                                            .shared = shared_[i].get()}));
        }
        counted = true;
        made_.count_down();
        if (going_.get()) run_phases(worker);
    } catch (...) {
        fail(std::current_exception());
    }
    if (!counted) made_.count_down();
    {
        const std::lock_guard lock{mutex_};
        for (std::size_t i = 0; i < worker.stressors.size(); ++i)
            if (worker.stressors[i] && notes_[i].empty()) notes_[i] = worker.stressors[i]->note();
    }
    worker.stressors.clear();
    --working_;
}

void Team::run_phases(Worker& worker)
{
    bool begun = false;
    for (const Chip& chip : table_) {
        // A process that comes late to its job begins with the chip that the others are in.
        if (!begun && start_ns_ + chip.end.count() <= base::now_ns()) continue;
        if (!bell_.sleep_until(start_ns_ + chip.begin.count())) return;
        begun = true;
        on_phase_(worker.index, run_phase(worker, chip));
    }
}

// What is assigned to this CPU. In a factorial it belongs to one stressor, and is quiet while only others are on.
std::optional<std::size_t> Team::dose_of(const Worker& worker, const Chip& chip) const
{
    const bool has_owners = schedule_.design == Schedule::Design::factorial;
    for (const std::size_t index : chip.treatment) {
        const std::size_t stressor = schedule_.doses[index].stressor;
        const bool owned = has_owners && schedule_.stressors[stressor].card->cpus == StressorCard::Cpus::own;
        const std::vector<int>& cpus = setup_.runs[stressor];
        if (!owned || std::find(cpus.begin(), cpus.end(), worker.cpu) != cpus.end()) return index;
    }
    return {};
}

PhaseDone Team::run_phase(Worker& worker, const Chip& chip)
{
    PhaseDone done{.chip = &chip,
                   .dose = dose_of(worker, chip),
                   .begin_ns = base::now_ns(),
                   .end_ns = 0,
                   .requested_per_s = 0.0,
                   .work = {}};
    const std::int64_t deadline = start_ns_ + chip.end.count();
    worker.worst_lateness_ns = std::max(worker.worst_lateness_ns, done.begin_ns - (start_ns_ + chip.begin.count()));
    if (!done.dose) {
        bell_.sleep_until(deadline);
        done.end_ns = base::now_ns();
        return done;
    }

    const Dose& dose = schedule_.doses[*done.dose];
    if (dose.intensity.rate)
        done.requested_per_s = dose.intensity.rate->per_second / static_cast<double>(worker.sharers[dose.stressor]);
    if (Stressor* stressor = worker.stressors[dose.stressor].get())
        stress(worker, *stressor, dose, deadline, done);
    else
        bell_.sleep_until(deadline);
    done.end_ns = base::now_ns();

    DoseTotal& total = worker.totals[*done.dose];
    ++total.phases;
    total.on_ns += done.end_ns - done.begin_ns;
    total.work.bytes += done.work.bytes;
    total.work.operations += done.work.operations;
    total.requested_per_s = done.requested_per_s;
    return done;
}

void Team::stress(Worker& worker, Stressor& stressor, const Dose& dose, std::int64_t deadline_ns, PhaseDone& done)
{
    const base::Rate::Of of = dose.intensity.rate ? dose.intensity.rate->of : base::Rate::Of::bytes;
    Turn turn{.deadline_ns = deadline_ns, .bytes_per_s = 0.0, .operations_per_s = 0.0};
    (of == base::Rate::Of::bytes ? turn.bytes_per_s : turn.operations_per_s) = done.requested_per_s;
    std::optional<RateControl> control;
    double& debt_ns = worker.debts_ns[*done.dose];
    if (turn.limited()) control.emplace(done.requested_per_s, done.begin_ns, debt_ns);

    // The CPU's whole time with this dose is judged, this phase included.
    const DoseTotal& before = worker.totals[*done.dose];
    const auto judge = [&](std::int64_t now) {
        const std::int64_t on_ns = before.on_ns + now - done.begin_ns;
        if (on_ns < judged_after_ns) return;
        const double reached = (amount(before.work, of) + amount(done.work, of)) /
                               (done.requested_per_s * static_cast<double>(on_ns) * 1e-9);
        if (reached < rate_kept) short_[*done.dose] = static_cast<float>(std::max(reached, 1e-6));
    };

    stressor.begin(turn);
    if (control) bell_.sleep_until(std::min(control->due(), deadline_ns));
    for (std::int64_t now = base::now_ns(); now < deadline_ns && !bell_.rung(); now = base::now_ns()) {
        const Work work = stressor.step();
        done.work.bytes += work.bytes;
        done.work.operations += work.operations;
        worker.bytes.fetch_add(work.bytes, std::memory_order_relaxed);
        if (work.rest_until_ns > now) bell_.sleep_until(std::min(work.rest_until_ns, deadline_ns));
        if (!control) continue;
        const std::int64_t after = base::now_ns();
        judge(after);
        const std::int64_t due = std::min(control->after(amount(work, of), after), deadline_ns);
        if (due > after) bell_.sleep_until(due);
    }
    stressor.end();
    if (control) debt_ns = control->debt_ns(std::min(base::now_ns(), deadline_ns));
}

std::uint64_t Team::bytes() const
{
    std::uint64_t sum = 0;
    for (const auto& worker : workers_) sum += worker->bytes.load(std::memory_order_relaxed);
    return sum;
}

std::vector<std::pair<std::size_t, double>> Team::newly_short()
{
    std::vector<std::pair<std::size_t, double>> found;
    for (std::size_t i = 0; i < short_.size(); ++i) {
        const float share = short_[i].load();
        if (share == 0.0F || told_[i]) continue;
        told_[i] = true;
        found.emplace_back(i, share);
    }
    return found;
}

std::vector<DoseTotal> Team::totals() const
{
    std::vector<DoseTotal> sums(schedule_.doses.size());
    for (const auto& worker : workers_)
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const DoseTotal& total = worker->totals[i];
            sums[i].phases = std::max(sums[i].phases, total.phases);
            sums[i].on_ns += total.on_ns;
            sums[i].work.bytes += total.work.bytes;
            sums[i].work.operations += total.work.operations;
            sums[i].requested_per_s += total.requested_per_s;
            if (total.phases > 0) ++sums[i].cpus;
        }
    return sums;
}

std::int64_t Team::worst_lateness_ns() const
{
    std::int64_t worst = 0;
    for (const auto& worker : workers_) worst = std::max(worst, worker->worst_lateness_ns);
    return worst;
}

std::vector<std::string> Team::notes() const
{
    return notes_;
}

}  // namespace noisegen
