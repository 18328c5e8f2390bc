// SPDX-License-Identifier: Apache-2.0
#include "noisegen/measure/victims/standing_victim.hpp"

#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/programs/child.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"
#include "base/system/temporary_directory.hpp"
#include "base/words.hpp"
#include "noisegen/measure/victims/at_work.hpp"
#include "noisegen/measure/victims/victim_thread.hpp"
#include "noisegen/stressors/io/scratch_file.hpp"

#include <array>
#include <csignal>
#include <functional>
#include <utility>

#include <unistd.h>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

// Does one piece of work and returns its amount.
using DoPiece = std::function<double()>;

// A victim that repeats pieces of work in a thread.
class ThreadVictim final : public StandingVictim {
 public:
    // `make` is called in the thread.
    ThreadVictim(int cpu, const std::function<DoPiece()>& make)
        : thread_{cpu, [this, make](VictimThread& thread) { work(thread, make()); }}
    {
    }

    void start() override { thread_.start(); }

    std::vector<Piece> stop() override
    {
        thread_.stop();
        return std::move(pieces_);
    }

 private:
    void work(VictimThread& thread, const DoPiece& piece)
    {
        thread.wait_for_start();
        for (std::int64_t begin = base::now_ns(); !thread.is_over();) {
            const double amount = piece();
            const std::int64_t end = base::now_ns();
            pieces_.push_back({begin, end, amount});
            begin = end;
        }
    }

    std::vector<Piece> pieces_;
    VictimThread thread_;
};

// Writes a log that is overwritten when full: fsync waits for a block, its inode and the journal.
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
        : log_{directory_.path() / "log"},
          child_{{.words = {training_program(), "--transport", "self", "--model", model, "--data", "synthetic",
                            "--cpus", std::to_string(cpu), "--trace", "off", "--metrics", "none", "--duration",
                            base::format(std::chrono::duration_cast<std::chrono::seconds>(at_most) + reserve), "--out",
                            directory_.path() / "run"},
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

    fs::path table() const { return directory_.path() / "run" / base::part::train / base::file::steps; }

    std::size_t steps() const
    try {
        return fs::exists(table()) ? base::CsvTable{table()}.rows() : 0;
    } catch (const base::Error&) {  // the training is still writing the header
        return 0;
    }

    [[noreturn]] void fail() const
    {
        std::string last;
        for (const std::string& line : base::split(base::read_whole(log_), '\n'))
            if (!line.empty()) last = line;
        base::fail("the victim training ended: ", last);
    }

    base::TemporaryDirectory directory_{".noisegen.victim"};
    fs::path log_;
    base::Child child_;
};

}  // namespace

fs::path training_program()
{
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "ddl-train";
    if (!fs::exists(program)) base::unavailable("--victim step: no ", program.string(), " (it is built only with MPI)");
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
