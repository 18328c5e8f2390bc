#include "noisegen/team.hpp"

#include "base/clock.hpp"
#include "base/cpus.hpp"
#include "noisegen/bursts.hpp"
#include "noisegen/rate_control.hpp"
#include "noisegen/starvation.hpp"

#include <algorithm>
#include <array>
#include <csignal>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace noisegen {

namespace {

constexpr std::int64_t judged_after_ns = 1'000'000'000;
constexpr std::int64_t level_ns = 100'000'000;

// Signals go to the main thread. A pipe that nobody reads is an error of the call that writes.
void leave_signals_alone()
{
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

double amount(const Work& work, base::Rate::Of of)
{
    return static_cast<double>(of == base::Rate::Of::bytes ? work.bytes : work.operations);
}

void add(Work& sum, const Work& work)
{
    sum.bytes += work.bytes;
    sum.operations += work.operations;
}

// A dose on one CPU: what holds it to its intensity, from phase to phase.
struct Held {
    explicit Held(const Intensity& intensity) : bursts{intensity.duty, intensity.period} {}
    DoseTotal total;
    std::optional<RateControl> control;  // from the first phase on, if there is a rate
    Bursts bursts;
};

}  // namespace

void add(DoseTotal& total, const Level& level)
{
    const auto before = static_cast<double>(total.on_ns);
    total.on_ns += level.end_ns - level.begin_ns;
    if (total.on_ns > 0)
        total.requested_per_s = (total.requested_per_s * before +
                                 level.requested_per_s * static_cast<double>(level.end_ns - level.begin_ns)) /
                                static_cast<double>(total.on_ns);
    add(total.work, level.work);
    total.busy_ns += level.busy_ns;
    total.waited_ns += level.waited_ns;
    total.requested_duty = level.requested_duty;
}

double reached(const Intensity& intensity, const DoseTotal& total)
{
    if (!intensity.asks() || total.cpus == 0) return 1.0;
    if (!intensity.rate) return total.requested_duty > 0.0 ? total.duty() / total.requested_duty : 1.0;
    if (total.requested_per_s == 0.0) return 1.0;
    const bool bytes = intensity.rate->of == base::Rate::Of::bytes;
    return (bytes ? total.bytes_per_s() : total.operations_per_s()) / total.requested_per_s;
}

double reached(const Intensity& intensity, const PhaseDone& phase)
{
    DoseTotal total;
    total.cpus = 1;
    add(total, phase.level);
    return reached(intensity, total);
}

struct Team::Worker {
    std::size_t index = 0;
    int cpu = 0;
    std::vector<std::unique_ptr<Stressor>> stressors;  // by stressor; none: not run here, or sleep
    std::vector<std::size_t> sharers;                  // by stressor: CPUs that run it
    std::vector<Held> held;                            // by dose
    std::vector<std::int64_t> lateness_ns;             // of chips and bursts
    std::vector<std::int64_t> late_to_follow_ns;
    std::vector<std::int64_t> late_to_leave_ns;
    std::atomic<std::uint64_t> bytes = 0;
    std::thread thread;
};

Team::Team(const Schedule& schedule, Setup setup)
    : schedule_{schedule},
      setup_{std::move(setup)},
      made_{static_cast<std::ptrdiff_t>(setup_.cpus.size())},
      going_{go_.get_future().share()},
      news_{base::check_errno(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "make an event")},
      working_{setup_.cpus.size()},
      notes_(schedule.stressors.size()),
      short_(schedule.doses.size()),
      told_(schedule.doses.size())
{
    if (std::any_of(schedule.doses.begin(), schedule.doses.end(),
                    [](const Dose& dose) { return !dose.intensity.follow.empty(); }))
        control_.emplace(base::ControlFile::open(setup_.control_run, base::host_name()));
    for (std::size_t i = 0; i < schedule_.stressors.size(); ++i) {
        const auto& [card, settings] = schedule_.stressors[i];
        const Place place{.cpu = setup_.runs[i].front(),
                          .index = 0,
                          .count = setup_.runs[i].size(),
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
        for (const Dose& dose : schedule_.doses) worker->held.emplace_back(dose.intensity);
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
    ::close(news_);
}

void Team::start(std::vector<Chip> table, std::int64_t start_ns, OnPhase on_phase, OnLevel on_level,
                 OnFollowed on_followed, OnStopped on_stopped)
{
    table_ = std::move(table);
    start_ns_ = start_ns;
    on_phase_ = std::move(on_phase);
    on_level_ = std::move(on_level);
    on_followed_ = std::move(on_followed);
    on_stopped_ = std::move(on_stopped);
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
        base::set_scheduling_class(setup_.scheduling);
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
                                                            .victims = setup_.victims,
                                                            .noise = setup_.noise,
                                                            .job = setup_.job,
                                                            .shared = shared_[i].get(),
                                                            .at_once = setup_.at_once}));
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
    tell_news();
}

void Team::run_phases(Worker& worker)
{
    const Starvation starvation;
    bool begun = false;
    for (std::size_t i = 0; i < table_.size(); ++i) {
        const Chip& chip = table_[i];
        // A process that comes late to its job begins with the chip that the others are in.
        if (!begun && start_ns_ + chip.end.count() <= base::now_ns()) continue;
        const std::int64_t begin = start_ns_ + chip.begin.count();
        if (!(stresses(worker, chip) ? bell_.sleep_exactly_until(begin) : bell_.sleep_until(begin))) return;
        if (begun || chip.begin.count() == 0) worker.lateness_ns.push_back(base::now_ns() - begin);
        begun = true;
        on_phase_(worker.index,
                  run_phase(worker, starvation, chip, i + 1 < table_.size() && stresses(worker, table_[i + 1])));
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

// One dose on one CPU for one phase: bursts on the grid of its duty, steps at its rate, levels every tenth of a second.
class Team::Stress {
 public:
    Stress(Team& team, Worker& worker, Stressor& stressor, const Starvation& starvation, PhaseDone& done,
           std::int64_t deadline_ns)
        : team_{team},
          worker_{worker},
          stressor_{stressor},
          starvation_{starvation},
          done_{done},
          intensity_{team.schedule_.doses[*done.dose].intensity},
          held_{worker.held[*done.dose]},
          of_{intensity_.rate ? intensity_.rate->of : base::Rate::Of::bytes},
          deadline_ns_{deadline_ns},
          requested_per_s_{done.level.requested_per_s},
          waited_before_ns_{starvation.waited_ns()}
    {
        if (intensity_.rate && !held_.control)
            held_.control.emplace(asked_per_s(),
                                  intensity_.poisson ? RateControl::Arrival::poisson : RateControl::Arrival::fixed,
                                  arrival_seed());
        window_.begin_ns = done.level.begin_ns;
    }

    void run()
    {
        if (intensity_.follow.empty())
            burst_by_burst();
        else
            follow_the_training();
        close_window(base::now_ns());
    }

 private:
    void burst_by_burst()
    {
        while (true) {
            const std::int64_t start = team_.start_ns_;
            const Bursts::Burst burst = held_.bursts.next(base::now_ns() - start, deadline_ns_ - start);
            const bool waits = burst.begin + start > base::now_ns();
            if (burst.begin + start >= deadline_ns_) {
                rest(deadline_ns_);
                break;
            }
            if (!team_.bell_.sleep_exactly_until(burst.begin + start)) break;
            if (const std::int64_t now = base::now_ns(); now >= next_window()) end_window(now);
            const std::int64_t began = base::now_ns();
            if (waits) worker_.lateness_ns.push_back(began - (burst.begin + start));
            stress(began, std::min(burst.end + start, deadline_ns_));
            held_.bursts.done(burst, base::now_ns() - began);
            if (team_.bell_.rung()) break;
        }
    }

    // A step that is under way when the training leaves the phase is finished.
    void follow_the_training()
    {
        base::ControlPage& page = team_.control_->page();
        auto phase = static_cast<base::TrainingPhase>(page.phase.load());
        bool slept = false;
        for (std::int64_t now = base::now_ns(); now < deadline_ns_ && !team_.bell_.rung(); now = base::now_ns()) {
            if (now >= next_window()) end_window(now);
            if (!intensity_.follows(phase)) {
                phase = base::sleep_on_phase(page, phase, std::min(deadline_ns_, next_window()));
                slept = true;
                continue;
            }
            if (slept) worker_.late_to_follow_ns.push_back(now - page.updated_ns.load());
            if (team_.on_followed_) team_.on_followed_(worker_.index, done_, true, now);
            stress(now, deadline_ns_);
            const std::int64_t ended = base::now_ns();
            if (team_.on_followed_) team_.on_followed_(worker_.index, done_, false, ended);
            phase = static_cast<base::TrainingPhase>(page.phase.load());
            slept = false;
            if (!intensity_.follows(phase)) worker_.late_to_leave_ns.push_back(ended - page.updated_ns.load());
        }
    }

    bool left_the_phase() const
    {
        return !intensity_.follow.empty() && !intensity_.follows(static_cast<base::TrainingPhase>(
                                                 team_.control_->page().phase.load(std::memory_order_relaxed)));
    }

    // A rate is that while on: of a dose that follows the training, as often as that let it.
    double requested_per_s(const Level& level, std::int64_t end_ns) const
    {
        if (intensity_.follow.empty()) return requested_per_s_;
        const auto length = static_cast<double>(end_ns - level.begin_ns);
        return length > 0.0 ? requested_per_s_ * static_cast<double>(level.busy_ns) / length : 0.0;
    }

    // Of its own for every rank, CPU and dose: random arrivals are independent.
    std::uint64_t arrival_seed() const
    {
        const auto rank = static_cast<std::uint64_t>(team_.setup_.job.rank);
        return base::random_stream(team_.setup_.seed, (rank << 40U) + (worker_.index << 20U) + *done_.dose)();
    }

    // Of this CPU, while on.
    double asked_per_s() const
    {
        return intensity_.rate->per_second /
               static_cast<double>(worker_.sharers[team_.schedule_.doses[*done_.dose].stressor]);
    }

    void stress(std::int64_t began_ns, std::int64_t until_ns)
    {
        Turn turn{.begin_ns = team_.start_ns_ + done_.chip->begin.count(),
                  .deadline_ns = until_ns,
                  .bytes_per_s = 0.0,
                  .operations_per_s = 0.0};
        if (intensity_.rate) (of_ == base::Rate::Of::bytes ? turn.bytes_per_s : turn.operations_per_s) = asked_per_s();
        stressor_.begin(turn);
        busy_since_ns_ = began_ns;
        if (held_.control) {
            held_.control->begin(began_ns);
            rest(std::min(held_.control->due(), until_ns));
        }
        for (std::int64_t now = base::now_ns(); now < until_ns && !team_.bell_.rung() && !left_the_phase();
             now = base::now_ns()) {
            if (held_.control) held_.control->before(now);
            const Work work = stressor_.step();
            add(window_.work, work);
            if (work.stopped_until_ns != 0 && team_.on_stopped_)
                team_.on_stopped_(worker_.index, done_, work.stopped_from_ns, work.stopped_until_ns);
            worker_.bytes.fetch_add(work.bytes, std::memory_order_relaxed);
            const std::int64_t after = base::now_ns();
            if (after >= next_window()) end_window(after);
            std::int64_t next = work.rest_until_ns;
            if (held_.control) next = std::max(next, held_.control->after(amount(work, of_)));
            if (next > after) rest(std::min(next, until_ns));
        }
        stressor_.end();
        const std::int64_t ended = base::now_ns();
        if (held_.control) held_.control->end(std::min(ended, until_ns));
        window_.busy_ns += ended - std::exchange(busy_since_ns_, 0);
    }

    // Sleeps; false if the bell rang. The levels of a stressor that is on but sleeps are told too.
    bool rest(std::int64_t until_ns)
    {
        while (busy_since_ns_ != 0 && next_window() < until_ns) {
            if (!team_.bell_.sleep_until(next_window())) return false;
            end_window(base::now_ns());
        }
        if (!team_.bell_.sleep_until(until_ns)) return false;
        if (const std::int64_t now = base::now_ns(); now >= next_window()) end_window(now);
        return true;
    }

    // Windows end at multiples of a tenth of a second since the start of the run, or as soon after as somebody looks.
    std::int64_t next_window() const
    {
        const std::int64_t since = window_.begin_ns - team_.start_ns_;
        return team_.start_ns_ + (since / level_ns + 1) * level_ns;
    }

    void end_window(std::int64_t now)
    {
        close_window(now);
        judge();
    }

    void close_window(std::int64_t now)
    {
        if (now <= window_.begin_ns) return;
        if (busy_since_ns_ != 0) window_.busy_ns += now - std::exchange(busy_since_ns_, now);
        const std::int64_t waited = starvation_.waited_ns();
        window_.waited_ns = std::min(waited - std::exchange(waited_before_ns_, waited), window_.busy_ns);
        window_.end_ns = now;
        window_.requested_per_s = requested_per_s(window_, now);
        window_.requested_duty = done_.level.requested_duty;
        Level& level = done_.level;
        add(level.work, window_.work);
        level.busy_ns += window_.busy_ns;
        level.waited_ns += window_.waited_ns;
        level.end_ns = now;
        level.requested_per_s = requested_per_s(level, now);
        if (team_.on_level_) team_.on_level_(worker_.index, done_, window_);
        window_ = {};
        window_.begin_ns = now;
    }

    // The CPU's whole time with this dose is judged, this phase included.
    void judge()
    {
        if (!intensity_.asks()) return;
        DoseTotal so_far = held_.total;
        add(so_far, done_.level);
        if (so_far.on_ns < judged_after_ns) return;
        so_far.cpus = 1;
        const double share = reached(intensity_, so_far);
        if (share >= rate_kept) return;
        const float before = team_.short_[*done_.dose].exchange(static_cast<float>(std::max(share, 1e-6)));
        if (before == 0.0F) team_.tell_news();
    }

    Team& team_;
    Worker& worker_;
    Stressor& stressor_;
    const Starvation& starvation_;
    PhaseDone& done_;
    const Intensity& intensity_;
    Held& held_;
    base::Rate::Of of_;
    std::int64_t deadline_ns_;
    double requested_per_s_;
    std::int64_t waited_before_ns_;
    std::int64_t busy_since_ns_ = 0;  // 0: between bursts
    Level window_;
};

// Quiet and placebo don't.
bool Team::stresses(const Worker& worker, const Chip& chip) const
{
    const std::optional<std::size_t> dose = dose_of(worker, chip);
    return dose && worker.stressors[schedule_.doses[*dose].stressor] != nullptr;
}

PhaseDone Team::run_phase(Worker& worker, const Starvation& starvation, const Chip& chip, bool stress_follows)
{
    PhaseDone done{.chip = &chip, .dose = dose_of(worker, chip), .level = {}};
    done.level.begin_ns = base::now_ns();
    const std::int64_t deadline = start_ns_ + chip.end.count();
    const auto sleep = [&] { stress_follows ? bell_.sleep_exactly_until(deadline) : bell_.sleep_until(deadline); };
    if (!done.dose) {
        sleep();
        done.level.end_ns = base::now_ns();
        return done;
    }

    const Dose& dose = schedule_.doses[*done.dose];
    const Intensity& asked = dose.intensity;
    done.level.requested_duty = asked.duty.fraction();
    if (asked.rate)
        done.level.requested_per_s =
            asked.rate->per_second * asked.duty.fraction() / static_cast<double>(worker.sharers[dose.stressor]);
    if (Stressor* stressor = worker.stressors[dose.stressor].get())
        Stress{*this, worker, *stressor, starvation, done, deadline}.run();
    else
        sleep();
    done.level.end_ns = base::now_ns();

    DoseTotal& total = worker.held[*done.dose].total;
    ++total.phases;
    add(total, done.level);
    return done;
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
            const DoseTotal& total = worker->held[i].total;
            sums[i].phases = std::max(sums[i].phases, total.phases);
            sums[i].on_ns += total.on_ns;
            add(sums[i].work, total.work);
            sums[i].busy_ns += total.busy_ns;
            sums[i].waited_ns += total.waited_ns;
            sums[i].requested_per_s += total.requested_per_s;
            sums[i].requested_duty = std::max(sums[i].requested_duty, total.requested_duty);
            if (total.phases > 0) ++sums[i].cpus;
        }
    return sums;
}

Lateness Team::lateness(std::vector<std::int64_t> Worker::*times) const
{
    std::vector<std::int64_t> all;
    for (const auto& worker : workers_) all.insert(all.end(), ((*worker).*times).begin(), ((*worker).*times).end());
    if (all.empty()) return {};
    std::sort(all.begin(), all.end());
    const auto at = [&all](double share) {
        return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
    };
    return {at(0.5), at(0.99), all.back()};
}

Lateness Team::lateness() const
{
    return lateness(&Worker::lateness_ns);
}

Lateness Team::late_to_follow() const
{
    return lateness(&Worker::late_to_follow_ns);
}

Lateness Team::late_to_leave() const
{
    return lateness(&Worker::late_to_leave_ns);
}

std::vector<std::string> Team::notes() const
{
    return notes_;
}

}  // namespace noisegen
