#include "noisegen/measure/victims/standing_victim.hpp"

#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/child.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"
#include "noisegen/measure/victims/at_work.hpp"
#include "noisegen/stressors/io/scratch_file.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <exception>
#include <functional>
#include <future>
#include <thread>
#include <utility>

#include <unistd.h>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

// Does a piece and returns its amount.
using DoPiece = std::function<double()>;

// A thread on the CPU that does one piece after the other.
class ThreadVictim final : public StandingVictim {
 public:
    // `make` is called in the thread, so that what it makes is near.
    ThreadVictim(int cpu, std::function<DoPiece()> make) : cpu_{cpu}, make_{std::move(make)}
    {
        std::future<void> made = made_.get_future();
        thread_ = std::thread{[this] { work(); }};
        try {
            made.get();
        } catch (...) {
            thread_.join();
            throw;
        }
    }

    ~ThreadVictim() override { end(); }

    void start() override
    {
        started_ = true;
        go_.set_value();
    }

    std::vector<Piece> stop() override
    {
        end();
        if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
        return std::move(pieces_);
    }

 private:
    void end()
    {
        over_ = true;
        if (!started_) start();
        if (thread_.joinable()) thread_.join();
    }

    void work()
    {
        sigset_t signals;  // they go to the main thread
        sigfillset(&signals);
        pthread_sigmask(SIG_BLOCK, &signals, nullptr);
        bool reported = false;
        try {
            base::bind_this_thread({cpu_});
            const DoPiece piece = make_();
            std::future<void> go = go_.get_future();
            reported = true;
            made_.set_value();
            go.get();
            for (std::int64_t begin = base::now_ns(); !over_;) {
                const double amount = piece();
                const std::int64_t end = base::now_ns();
                pieces_.push_back({begin, end, amount});
                begin = end;
            }
        } catch (...) {
            if (reported)
                error_ = std::current_exception();
            else
                made_.set_exception(std::current_exception());
        }
    }

    int cpu_;
    std::function<DoPiece()> make_;
    std::promise<void> made_;
    std::promise<void> go_;
    std::atomic<bool> over_ = false;
    bool started_ = false;
    std::vector<Piece> pieces_;
    std::exception_ptr error_;
    std::thread thread_;
};

// A log that is written anew when it is full: what fsync has to wait for is a block, its inode and the journal.
DoPiece appends_with_fsync(const fs::path& directory)
{
    constexpr std::int64_t full = 1 << 20;
    constexpr std::size_t block = 4096;
    auto file = std::make_shared<ScratchFile>(directory, full);
    auto content = std::make_shared<std::array<char, block>>();
    content->fill('x');
    return [file, content, at = std::int64_t{0}]() mutable {
        base::check_errno(::pwrite(file->descriptor(), content->data(), block, at), "write the victim's file");
        base::check_errno(::fsync(file->descriptor()), "write the victim's file to disk");
        at = (at + static_cast<std::int64_t>(block)) % full;
        return 1.0;
    };
}

DoPiece messages_to_itself(int cpu)
{
    auto messenger =
        std::make_shared<AtWork>("network.exchange", std::map<std::string, std::string>{{"bytes", "64KiB"}}, cpu);
    return [messenger] { return static_cast<double>(messenger->step().operations); };
}

// A directory of its own, gone with it.
class TemporaryDirectory {
 public:
    TemporaryDirectory()
    {
        std::string pattern = (fs::temp_directory_path() / ".noisegen.victim.XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr)
            throw std::system_error{errno, std::generic_category(), "cannot create " + pattern};
        path = pattern;
    }
    ~TemporaryDirectory()
    {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    fs::path path;
};

std::vector<Piece> steps_in(const fs::path& csv)
{
    const base::CsvTable table{csv};
    std::vector<Piece> steps;
    for (std::size_t row = 0; row < table.rows(); ++row)
        steps.push_back({table.get<std::int64_t>(row, "begin_ns"), table.get<std::int64_t>(row, "end_ns"), 1.0});
    return steps;
}

class Training final : public StandingVictim {
 public:
    Training(int cpu, const std::string& model, base::Nanoseconds at_most)
        : log_{directory_.path / "log"},
          child_{{.words = {training_program(), "--transport", "self", "--model", model, "--data", "synthetic",
                            "--cpus", std::to_string(cpu), "--trace", "off", "--metrics", "none", "--duration",
                            base::format(std::chrono::duration_cast<std::chrono::seconds>(at_most) + reserve), "--out",
                            directory_.path / "run"},
                  .output = log_,
                  .errors = log_}}
    {
        constexpr std::size_t first_steps = 3;
        constexpr base::Nanoseconds look_again = std::chrono::milliseconds{20};
        while (steps() < first_steps && !base::stop_requested())
            if (child_.wait(look_again)) fail();
    }

    void start() override {}

    std::vector<Piece> stop() override
    {
        if (child_.pid() == 0) fail();
        child_.signal(SIGTERM);
        child_.wait();
        return steps_in(table());
    }

 private:
    static constexpr std::chrono::seconds reserve{60};

    fs::path table() const { return directory_.path / "run" / base::part::train / base::file::steps; }

    std::size_t steps() const
    try {
        return fs::exists(table()) ? base::CsvTable{table()}.rows() : 0;
    } catch (const base::Error&) {  // its first line is on its way
        return 0;
    }

    [[noreturn]] void fail() const
    {
        std::string last;
        for (const std::string& line : base::split(base::read_whole(log_), '\n'))
            if (!line.empty()) last = line;
        base::fail("the training that is the victim ended: ", last);
    }

    TemporaryDirectory directory_;
    fs::path log_;
    base::Child child_;
};

}  // namespace

fs::path training_program()
{
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "ddl-train";
    if (!fs::exists(program))
        base::unavailable("--victim step: there is no ", program.string(), " (it needs MPI when it is built)");
    return program;
}

std::unique_ptr<StandingVictim> make_fsync_victim(int cpu, const fs::path& directory)
{
    return std::make_unique<ThreadVictim>(cpu, [directory] { return appends_with_fsync(directory); });
}

std::unique_ptr<StandingVictim> make_tcp_victim(int cpu)
{
    return std::make_unique<ThreadVictim>(cpu, [cpu] { return messages_to_itself(cpu); });
}

std::unique_ptr<StandingVictim> make_step_victim(int cpu, const std::string& model, base::Nanoseconds at_most)
{
    return std::make_unique<Training>(cpu, model, at_most);
}

}  // namespace noisegen
