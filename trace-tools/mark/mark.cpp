// SPDX-License-Identifier: Apache-2.0
// libcrosstalk-mark.so: see crosstalk_mark.h.
#include "base/contract/control_file.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/contract/run_words.hpp"
#include "base/contract/trace_names.hpp"
#include "base/contract/variables.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "base/system/environment.hpp"
#include "base/system/launcher.hpp"
#include "base/system/local_rank.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"
#include "trace-tools/mark/agreed_control.hpp"
#include "trace-tools/mark/crosstalk_mark.h"
#include "trace-tools/mark/file_team.hpp"
#include "trace-tools/otf2/write/ending_signals.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/training/phase_clock.hpp"
#include "trace-tools/training/step_rows.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include <unistd.h>

namespace mark {

namespace {

namespace fs = std::filesystem;
using training::Phase;

constexpr std::size_t longest_command = 100;

// The first step may have begun before the first call, but not before this library was loaded.
const std::int64_t loaded_ns = base::now_ns();

// Informs `crosstalk run` that this process marks steps, even if its command does not show that.
const bool announced = [] {
    const std::optional<std::string> run = base::environment(base::variable::run);
    std::error_code unknown;
    if (!run || !fs::is_directory(fs::path{*run} / base::part::log, unknown)) return false;
    try {
        base::write_whole(fs::path{*run} / base::part::log / base::file::marks_steps, "");
    } catch (const std::exception&) {
        return false;  // the recording reports the reason later
    }
    return true;
}();

// None if the name is not a phase of a training step.
std::optional<Phase> phase_of(const std::string& name)
{
    for (const Phase phase : base::recorded_phases)
        if (base::text(phase) == name) return phase;
    return {};
}

// Everything that one process records. Never destroyed, as threads may use it until the process ends.
class Marks {
 public:
    explicit Marks(const fs::path& run) : Marks{run, base::job_rank()} {}

    void step(std::int64_t at_ns)
    {
        const std::lock_guard lock{mutex_};
        end_step(at_ns);
        clock_->begin_step(next_++, not_before_the_last(at_ns));
        in_step_ = true;
    }

    void control()
    {
        const std::lock_guard lock{mutex_};
        if (in_step_ && control_) control_->at_begin(clock_->step(), *clock_);
    }

    int take_checkpoint()
    {
        const std::lock_guard lock{mutex_};
        const base::ControlRequest asked = control_ ? control_->take_checkpoint() : base::ControlRequest::none;
        return asked == base::ControlRequest::none ? 0 : asked == base::ControlRequest::checkpoint ? 1 : 2;
    }

    void step_end()
    {
        const std::lock_guard lock{mutex_};
        end_step(base::now_ns());
    }

    void step_drop()
    {
        const std::lock_guard lock{mutex_};
        if (!in_step_) return;
        const std::int64_t now_ns = not_before_the_last(base::now_ns());
        leave(now_ns);
        clock_->drop_step(now_ns);
        in_step_ = false;
    }

    void phase(const char* name, std::int64_t at_ns)
    {
        const std::lock_guard lock{mutex_};
        if (!in_step_) return;
        at_ns = not_before_the_last(at_ns);
        leave(at_ns);
        if (name == nullptr) return;
        if (const std::optional<Phase> known = phase_of(name)) return clock_->enter(*known, at_ns);
        const auto found = others_.try_emplace(name, recorder_->region(name)).first;
        main_->enter(found->second, at_ns);
        other_ = found->second;
    }

    // Returns false if other processes are still recording into the archive.
    bool finish(const std::string& why)
    {
        if (taken_.exchange(true)) {
            wait_until_finished();
            return true;
        }
        const Finished finished{finished_};
        if (why.empty()) step_end();
        if (control_ && control_->delay_ns() > 0)
            recorder_->property(base::join(base::property::prefix, "control_delay_ns"),
                                std::to_string(control_->delay_ns()));
        return recorder_->finish_alone(why);
    }

    int rank() const { return rank_; }
    bool of_this_process() const { return process_ == ::getpid(); }
    const fs::path& trace() const { return trace_; }

 private:
    Marks(const fs::path& run, base::JobRank job)
        : part_{run / base::part::train}, trace_{part_ / base::file::trace}, rank_{job.rank}
    {
        auto team = std::make_unique<FileTeam>(run / base::part::log / "ranks", job.rank, job.size);
        FileTeam& all = *team;
        const nlohmann::json mine{
            {"host", base::host_name()}, {"pid", ::getpid()}, {"cpus", base::format_cpus(base::allowed_cpus())}};
        const std::vector<std::string> ranks = all.gather(base::json_text(mine, base::one_line));
        otf2::together(all, [&] {
            if (job.rank == 0) claim(run, ranks);
        });
        recorder_.emplace(trace_, std::move(team), base::join("rank ", job.rank));
        main_ = &recorder_->location(base::location::main);
        rows_.emplace(part_ / base::file::steps, base::CsvWriter::Appear::more_rows);
        control_file_.emplace(base::ControlFile::open(run, base::host_name()));
        named_.emplace(control_file_->page());
        clock_.emplace(*recorder_, *main_, base::local_rank().rank == 0 ? &control_file_->page() : nullptr);
        connect_control(run, all);
        all.close();
    }

    // Called on rank 0. `ranks`: the JSON record of each rank.
    void claim(const fs::path& run, const std::vector<std::string>& ranks)
    {
        base::ClaimedPart claimed{run, base::part::train};
        nlohmann::ordered_json record = base::run_record("crosstalk-mark");
        const std::string command = base::shell_words(record.at("command_line").get<std::vector<std::string>>());
        record["started_monotonic_ns"] = loaded_ns;
        record["training"]["model"] =
            base::shortened(base::environment(base::variable::command).value_or(command), longest_command);
        for (const std::string& rank : ranks)
            record["result"]["each_rank"].push_back(nlohmann::ordered_json::parse(rank));
        base::write_whole(part_ / base::file::run_record, base::json_text(record) + "\n");
        rows_.emplace(part_ / base::file::steps);
        claimed.keep();
    }

    // The known delay needs a page shared by all ranks, so all must be on one host.
    void connect_control(const fs::path& run, FileTeam& all)
    {
        const std::string delay = all.broadcast(base::environment(base::variable::control_delay).value_or(""));
        const std::vector<std::string> hosts = all.gather(base::host_name());
        const bool one = std::ranges::all_of(hosts, [&](const auto& host) { return host == hosts.front(); });
        const bool wanted = all.broadcast(one ? "one host" : "several") == "one host" && !delay.empty() && delay != "0";
        if (!wanted) return;
        const fs::path file = run / base::part::control / (base::host_name() + base::file::of_ranks);
        otf2::together(all, [&] {
            if (rank_ == 0) AgreedControl::make(file);
        });
        control_.emplace(file, rank_, all.size(), delay, control_file_->page());
    }

    struct Finished {
        std::atomic<bool>& finished;
        ~Finished() { finished = true; }
    };

    // Waits while another thread finishes the record after a signal: returning would end the process.
    void wait_until_finished() const
    {
        constexpr std::int64_t patience_ns = 5'000'000'000;
        base::wait_until([this] { return finished_.load(); }, patience_ns);
    }

    std::int64_t not_before_the_last(std::int64_t at_ns) const { return std::max(at_ns, main_->last_ns()); }

    void leave(std::int64_t now_ns)
    {
        if (other_) main_->leave(*other_, now_ns);
        other_.reset();
        clock_->leave(now_ns);
    }

    void end_step(std::int64_t now_ns)
    {
        if (!in_step_) return;
        now_ns = not_before_the_last(now_ns);
        leave(now_ns);
        const training::StepTimes times = clock_->end_step(now_ns);
        in_step_ = false;
        rows_->add(rank_, times);
        if (control_) control_->at_end(times);
    }

    fs::path part_;
    fs::path trace_;
    int rank_;
    ::pid_t process_ = ::getpid();
    std::mutex mutex_;
    std::optional<otf2::Recorder> recorder_;
    otf2::LocationRecorder* main_ = nullptr;
    std::optional<training::StepRows> rows_;
    std::optional<base::ControlFile> control_file_;
    std::optional<base::TrainingProcess> named_;
    std::optional<training::PhaseClock> clock_;
    std::optional<AgreedControl> control_;
    std::map<std::string, otf2::RegionRef> others_;  // regions in steps other than phases of training
    std::optional<otf2::RegionRef> other_;           // the open one of them, if any
    std::uint64_t next_ = 0;
    bool in_step_ = false;
    std::atomic<bool> taken_{false};     // set by the first to finish the record: the program, atexit or a signal
    std::atomic<bool> finished_{false};  // also set if finishing failed
};

constexpr std::chrono::seconds patience_for_others{2};  // mpirun kills all ranks as soon as one has ended

std::mutex beginning;
Marks* marks = nullptr;
bool begun = false;
std::atomic<bool> given_up{false};  // a step could not be recorded, so no further steps are

template <class... Parts>
void say(const Parts&... parts)
{
    base::warn("crosstalk-mark: ", parts...);
}

void finish(const std::string& why)
{
    if (marks == nullptr || !marks->of_this_process()) return;
    try {
        if (!marks->finish(why) && !why.empty()) otf2::wait_until_finished(marks->trace(), patience_for_others);
    } catch (const std::exception& error) {
        say(error.what());
    }
}

// Null if nothing is recorded: outside of a run, after a failure, or in a fork of a recorded process.
Marks* recording()
{
    const std::lock_guard lock{beginning};
    if (!std::exchange(begun, true)) {
        const std::optional<std::string> run = base::environment(base::variable::run);
        if (!run) return nullptr;
        try {
            marks = new Marks{*run};
            otf2::before_ending_signals([](int signal) { finish(otf2::name_of_ending(signal)); });
            static_cast<void>(std::atexit([] { finish(""); }));
        } catch (const std::exception& error) {
            say(error.what(), "; steps are not recorded");
        }
    }
    return marks != nullptr && marks->of_this_process() && !given_up ? marks : nullptr;
}

// Runs `work` on the recording, if there is one; a failure never reaches the program.
template <class Work>
void safely(const Work& work)
{
    try {
        if (Marks* const mine = recording()) work(*mine);
    } catch (const std::exception& error) {
        if (!given_up.exchange(true)) say(error.what(), "; no further steps are recorded");
    }
}

}  // namespace

}  // namespace mark

extern "C" {

void crosstalk_step(void)
{
    mark::safely([](mark::Marks& mine) {
        mine.step(base::now_ns());
        mine.control();
    });
}

void crosstalk_step_end(void)
{
    mark::safely([](mark::Marks& mine) { mine.step_end(); });
}

void crosstalk_step_drop(void)
{
    mark::safely([](mark::Marks& mine) { mine.step_drop(); });
}

void crosstalk_phase(const char* name)
{
    mark::safely([name](mark::Marks& mine) { mine.phase(name, base::now_ns()); });
}

void crosstalk_step_at(int64_t at_ns)
{
    mark::safely([at_ns](mark::Marks& mine) { mine.step(at_ns); });
}

void crosstalk_phase_at(const char* name, int64_t at_ns)
{
    mark::safely([name, at_ns](mark::Marks& mine) { mine.phase(name, at_ns); });
}

void crosstalk_control(void)
{
    mark::safely([](mark::Marks& mine) { mine.control(); });
}

int crosstalk_checkpoint_wanted(void)
{
    int wanted = 0;
    mark::safely([&wanted](mark::Marks& mine) { wanted = mine.take_checkpoint(); });
    return wanted;
}

void crosstalk_end(void)
{
    mark::finish("");
}

int crosstalk_records(void)
{
    return mark::recording() != nullptr ? 1 : 0;
}

int crosstalk_rank(void)
{
    const mark::Marks* const mine = mark::recording();
    return mine != nullptr ? mine->rank() : -1;
}

}  // extern "C"
