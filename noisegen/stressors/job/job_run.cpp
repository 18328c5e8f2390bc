// SPDX-License-Identifier: Apache-2.0
// Runs a real program on the noise CPUs during its slots and freezes it otherwise: a neighbour job as the treatment.
#include "base/contract/run_directory.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "base/system/stop.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "noisegen/stressors/guardian.hpp"
#include "noisegen/stressors/job/job_family.hpp"
#include "noisegen/stressors/job/job_keeper.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace noisegen {

namespace {

namespace fs = std::filesystem;

// A program, or a command for the shell.
struct Program {
    std::string text;
    bool by_shell = false;
    std::string stem() const { return by_shell ? "command" : fs::path{text}.stem().string(); }
};

Program program_of(const base::Settings& settings)
{
    const std::string command = settings.text("command");
    const fs::path file = settings.text("file");
    if (command.empty() == file.empty()) base::fail_usage("job.run: give [file=PROGRAM] or [command=WORDS]");
    if (!command.empty()) return {command, true};
    std::error_code unknown;
    if (!fs::is_regular_file(file, unknown) || ::access(file.c_str(), X_OK) != 0)
        base::fail_usage("job.run[file=", file.string(), "] is not an executable program");
    return {fs::absolute(file).string()};
}

// Folder for the job's output and harvest in the run's log; empty without a run, and then both are discarded.
fs::path log_folder(const Place& place)
{
    if (place.noise.empty()) return {};
    fs::path folder = place.noise.parent_path() / base::part::log;
    fs::create_directories(folder);
    return folder;
}

// The job, from its start to the end of noise; used by one thread at a time.
class NeighbourJob : public Shared {
 public:
    NeighbourJob(const Program& program, const Place& place)
    {
        const fs::path folder = log_folder(place);
        const std::string name = base::join("job.run.", base::host_name(), ".", place.job.rank, ".", program.stem());
        const fs::path harvest = folder.empty() ? fs::path{"/dev/null"} : folder / (name + ".harvest");
        const fs::path log = folder.empty() ? fs::path{"/dev/null"} : folder / (name + ".log");
        if (!folder.empty())
            harvest_ = base::check_errno(::open(harvest.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644), "create ",
                                         harvest.string());
        std::array<int, 2> answers{};
        base::check_errno(::pipe2(answers.data(), O_CLOEXEC), "make a pipe");
        answers_ = answers[0];
        base::Descriptor theirs = answers[1];
        const JobStart start{
            .cpus = base::format_cpus(place.cpus.empty() ? base::CpuSet{place.cpu}
                                                         : base::CpuSet{place.cpus.begin(), place.cpus.end()}),
            .program = program.text,
            .by_shell = program.by_shell,
            .harvest = harvest.string(),
            .log = log.string(),
            .mark = mark_};
        keeper_ = std::make_unique<Guardian>(Guardian::Duty::job, to_word(start), std::vector<int>{theirs});
        if (keeper_->pipe() < 0) base::fail("job.run works in noisegen only");
        theirs.close();  // now only the keeper can write replies
        const JobNews news = answer();
        freezer_ = news.freezer;
        if (news.refused != 0)
            base::fail("job.run[file=", program.text, "] cannot be started: ", std::strerror(news.refused));
    }

    ~NeighbourJob() override
    {
        const pid_t keeper = keeper_->process();
        keeper_.reset();
        end_marked(mark_, keeper);  // if the keeper was killed, the job is still there, frozen
    }
    NeighbourJob(const NeighbourJob&) = delete;
    NeighbourJob& operator=(const NeighbourJob&) = delete;

    void thaw(std::int64_t until_ns)
    {
        until_ns_ = until_ns;
        tell(until_ns);
    }

    void freeze()
    {
        const std::int64_t wanted_ns = std::min(until_ns_, base::now_ns());
        const JobNews news = tell(freeze_job_now);
        late_ns_.push_back(std::max<std::int64_t>(0, news.frozen_ns - wanted_ns));
        resident_bytes_ = std::max(resident_bytes_, news.resident_bytes);
        ended_ = news.processes == 0;
        strays_ = news.strays;
        restless_ = news.restless;
        hidden_ = news.hidden;
        elsewhere_ = std::max(elsewhere_, news.elsewhere);
    }

    // Throws if the keeper was killed, since then nothing freezes the job.
    void check_keeper() const
    {
        pollfd waiting{answers_, POLLIN, 0};
        if (::poll(&waiting, 1, 0) > 0 && (waiting.revents & POLLHUP) != 0) fail_without_keeper("was killed");
    }

    // Number of lines that the job has appended to its harvest since the last call.
    std::uint64_t harvest()
    {
        std::array<char, 65536> text{};
        std::uint64_t lines = 0;
        while (harvest_ >= 0) {
            const ssize_t got = ::read(harvest_, text.data(), text.size());
            if (got <= 0) break;
            lines += static_cast<std::uint64_t>(std::count(text.begin(), text.begin() + got, '\n'));
        }
        return lines;
    }

    std::string note() const
    {
        std::vector<std::int64_t> late = late_ns_;
        std::ranges::sort(late);
        const auto ms = [](std::int64_t ns) { return base::format(std::round(static_cast<double>(ns) / 1e4) / 100.0); };
        return base::join(
            "frozen by ", freezer_,
            strays_ > 0 ? base::join(", and by signals ", processes(strays_), " that left its group") : std::string{},
            late.empty() ? std::string{}
                         : base::join(" within ", ms(late[late.size() * 99 / 100]), " ms (99th percentile of ",
                                      late.size(), ")"),
            "; ", base::format(base::Bytes{resident_bytes_ >> 20U << 20U}), " of memory stayed resident",
            ended_ ? base::join("; ", job_has_ended) : std::string{});
    }

    // `job_ended`: no process of the job was left at the end of a slot.
    Facts facts() const { return ended_ ? Facts{{"job_ended", {job_has_ended}}} : Facts{}; }

    std::string not_kept() const
    {
        std::vector<std::string> all;
        if (restless_ > 0) all.push_back(processes(restless_) + " of the neighbour's job could not be frozen");
        if (hidden_ > 0)
            all.push_back(processes(hidden_) + " of the neighbour's job hidden (hidepid), perhaps not frozen");
        if (elsewhere_ > 0) all.push_back(processes(elsewhere_) + " of the neighbour's job left the noise's CPUs");
        return base::join_words(all, ", ");
    }

 private:
    static std::string processes(std::int32_t count)
    {
        return base::join(count, count == 1 ? " process" : " processes");
    }

    [[noreturn]] static void fail_without_keeper(const char* why)
    {
        base::fail("the keeper of job.run ", why, ": the neighbour's job and the noise end");
    }

    JobNews tell(JobUntil until_ns)
    {
        if (::write(keeper_->pipe(), &until_ns, sizeof until_ns) != sizeof until_ns) fail_without_keeper("was killed");
        return answer();
    }

    // A stopped keeper must not delay the end of noise, so the wait is bounded.
    JobNews answer() const
    {
        constexpr std::int64_t patience_ns = 20'000'000'000;
        constexpr std::int64_t patience_in_the_end_ns = 2'000'000'000;
        constexpr int look_again_ms = 100;
        const std::int64_t asked_ns = base::now_ns();
        pollfd waiting{answers_, POLLIN, 0};
        while (::poll(&waiting, 1, look_again_ms) <= 0)
            if (base::now_ns() > asked_ns + (base::stop_requested() ? patience_in_the_end_ns : patience_ns))
                fail_without_keeper("does not answer");
        JobNews news;
        if (::read(answers_, &news, sizeof news) != sizeof news) fail_without_keeper("was killed");
        return news;
    }

    std::string mark_ = base::join(::getpid(), ".", base::now_ns());
    base::Descriptor answers_;
    base::Descriptor harvest_;
    std::unique_ptr<Guardian> keeper_;
    std::string freezer_;
    std::vector<std::int64_t> late_ns_;
    std::int64_t until_ns_ = 0;
    std::int64_t resident_bytes_ = 0;
    std::int32_t strays_ = 0;
    std::int32_t restless_ = 0;
    std::int32_t hidden_ = 0;
    std::int32_t elsewhere_ = 0;
    bool ended_ = false;
};

class JobRun final : public Stressor {
 public:
    explicit JobRun(const Place& place) : job_{place.index == 0 ? static_cast<NeighbourJob*>(place.shared) : nullptr} {}

    void begin(const Turn& turn) override
    {
        deadline_ns_ = turn.deadline_ns;
        if (job_ != nullptr) job_->thaw(deadline_ns_);
    }

    Work step() override
    {
        constexpr std::int64_t look_again_ns = 5'000'000;
        if (job_ == nullptr) return {.rest_until_ns = deadline_ns_};
        job_->check_keeper();
        return {.operations = job_->harvest(), .rest_until_ns = std::min(deadline_ns_, base::now_ns() + look_again_ns)};
    }

    void end() override
    {
        if (job_ != nullptr) job_->freeze();
    }

    std::string note() const override { return job_ != nullptr ? job_->note() : ""; }
    Facts facts() const override { return job_ != nullptr ? job_->facts() : Facts{}; }
    std::string not_kept() const override { return job_ != nullptr ? job_->not_kept() : ""; }

 private:
    NeighbourJob* job_;  // null on all CPUs but the first
    std::int64_t deadline_ns_ = 0;
};

}  // namespace

extern const StressorCard job_run{
    .name = "job.run",
    .summary =
        "your own program as noise on all noise CPUs, frozen outside its slots; an operation is a line that it "
        "appends to $CROSSTALK_HARVEST",
    .options = {{"file", "", "the program, without arguments; a script begins with #!"},
                {"command", "", "instead of file: a shell command, such as ./app --fast"},
                limit_option()},
    .runs_processes = true,
    .needs = [](const base::Settings& settings) -> Needs {
        program_of(settings);
        return {};
    },
    .share = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Shared> {
        return std::make_unique<NeighbourJob>(program_of(settings), place);
    },
    .make = [](const base::Settings&, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<JobRun>(place);
    },
};

}  // namespace noisegen
