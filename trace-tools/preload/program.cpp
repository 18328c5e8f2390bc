// SPDX-License-Identifier: Apache-2.0
// libcrosstalk-mpi.so: records the MPI calls of any program that it is preloaded into. Recording begins in MPI_Init or
// MPI_Init_thread and ends in MPI_Finalize. A process that ends before that, by SIGTERM for example, finishes its part
// of the archive on its own; the archive appears once all have ended. If recording fails, the program continues, and
// one line says what is lost.
//
//   CROSSTALK_TRACE         directory of the archive; if not set, one named after the program and its job
//   CROSSTALK_TRACE_MEMORY  limit of a process's event buffer, such as 16MiB; if not set, 256KiB per thread
//   CROSSTALK_TRACE_GPU     1: also records GPU activities with CUPTI
//   CROSSTALK_TRACE_PROCESS the process that reports a missing trace when it ends; set by trace-record
//
// The directory and the memory limit are taken from rank 0's environment.
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/environment.hpp"
#include "base/system/launcher.hpp"
#include "base/units.hpp"
#include "trace-tools/gpu/recording/gpu_recording.hpp"
#include "trace-tools/mpi/mpi_team.hpp"
#include "trace-tools/mpi/record_mpi.hpp"
#include "trace-tools/mpi/recorded_call.hpp"
#include "trace-tools/mpi/thread_locations.hpp"
#include "trace-tools/otf2/write/ending_signals.hpp"
#include "trace-tools/otf2/write/fresh_directory.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>

#include <dlfcn.h>
#include <unistd.h>

namespace otf2 {

namespace {

namespace fs = std::filesystem;

struct Recording {
    fs::path directory;
    Recorder recorder;
    ThreadLocations locations;
    std::unique_ptr<gpu::GpuRecording> gpus;  // null: not requested, or not possible here
    int rank;
    ::pid_t process = ::getpid();
    std::atomic<bool> taken{false};     // set by the first to finish: MPI_Finalize, a signal, the process's end
    std::atomic<bool> finished{false};  // also set if finishing failed

    Recording(const fs::path& into, std::unique_ptr<Team> team, std::uint64_t memory_bytes)
        : directory{into},
          recorder{into, std::move(team), "", memory_bytes},
          locations{recorder},
          rank{rank_in(MPI_COMM_WORLD)}
    {
    }
};

// Exists from MPI_Init to MPI_Finalize. Never destroyed: threads may use its locations until the process ends.
Recording* recording = nullptr;
bool started = false;

template <class... Parts>
void say(const Parts&... parts)
{
    std::cerr << base::join("libcrosstalk-mpi: ", parts..., "\n");
}

std::string program()
{
    return SoloTeam{}.process_name();
}

// True if the program is linked with MPI wrappers, ours or others: these record its calls already.
bool has_wrappers_of_its_own()
{
    ::Dl_info ours{};
    ::dladdr(reinterpret_cast<const void*>(&has_wrappers_of_its_own), &ours);
    for (const char* name : {"MPI_Send", "MPI_Isend", "MPI_Allreduce", "MPI_Iallreduce", "MPI_Wait", "MPI_Comm_dup"}) {
        ::Dl_info theirs{};
        const void* found = ::dlsym(RTLD_DEFAULT, name);
        if (found != nullptr && ::dladdr(found, &theirs) != 0 && theirs.dli_fbase != ours.dli_fbase) return true;
    }
    return false;
}

// Returns 0, no limit, for an empty text.
std::uint64_t parse_memory(const std::string& text)
try {
    return text.empty() ? 0 : static_cast<std::uint64_t>(base::parse<base::Bytes>(text).count);
} catch (const base::Error& error) {
    base::fail("CROSSTALK_TRACE_MEMORY: ", error.what());
}

// Runs on all ranks: a failure on one rank is a failure on all.
Recording* begin_recording()
{
    auto team = std::make_unique<MpiTeam>(MPI_COMM_WORLD);
    const std::string wanted = base::environment("CROSSTALK_TRACE").value_or("");
    std::error_code nowhere;  // an error leaves an empty path, which the recorder refuses
    const fs::path mine = fs::absolute(wanted.empty() ? fresh_directory(program()) : fs::path{wanted}, nowhere);
    const fs::path directory = team->broadcast(mine.string());
    const std::uint64_t memory_bytes =
        parse_memory(team->broadcast(base::environment("CROSSTALK_TRACE_MEMORY").value_or("")));
    return new Recording{directory, std::move(team), memory_bytes};
}

// Waits for another thread that finishes the recording. The wait is bounded, since other processes may have died.
void wait_until_finished()
{
    constexpr int patience_ms = 5000;
    for (int ms = 0; ms < patience_ms && !recording->finished; ++ms) ::usleep(1000);
}

// A rank without a GPU is still traced. The message is the same on all ranks, so only rank 0 prints it.
void record_gpus()
try {
    if (gpu::activities_wanted()) recording->gpus = std::make_unique<gpu::GpuRecording>(recording->recorder);
} catch (const std::exception& error) {
    if (recording->rank == 0) say(error.what());
}

void finish_gpus()
try {
    if (!recording->gpus) return;
    const std::string complaint = gpu::complaint(recording->gpus->finish());
    if (!complaint.empty()) say("rank ", recording->rank, ": ", complaint);
} catch (const std::exception& error) {
    say("rank ", recording->rank, ": ", error.what());
}

// Finishes this process's part of the archive without the other processes, if it ends before MPI_Finalize. Returns
// false if others are still recording.
bool finish_alone(const std::string& why)
{
    Recording& mine = *recording;
    bool whole = false;
    finish_gpus();
    try {
        whole = mine.recorder.finish_alone(why);
        if (whole) say("recorded ", (mine.directory / base::file::anchor).string(), " until ", why);
    } catch (const std::exception& error) {
        say("rank ", mine.rank, ": ", error.what());
        whole = true;
    }
    mine.finished = true;
    return whole;
}

// Open MPI's mpirun kills all processes as soon as one has ended, so each waits a short time for the last one to move
// the archive into place.
void wait_for_the_others()
{
    constexpr std::chrono::seconds patience{2};
    otf2::wait_until_finished(recording->directory, patience);
}

void finish_before(int signal)
{
    if (recording->taken.exchange(true))
        wait_until_finished();
    else if (!finish_alone(name_of_ending(signal)))
        wait_for_the_others();
}

// Spawned processes have a different MPI_COMM_WORLD than the archive, so they are not recorded.
bool is_spawned()
{
    MPI_Comm parent = MPI_COMM_NULL;
    return PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
}

void start(const MpiFunction& function, std::int64_t begin_ns)
try {
    const std::int64_t end_ns = base::now_ns();
    started = true;
    const int rank = rank_in(MPI_COMM_WORLD);
    if (has_wrappers_of_its_own()) {
        if (rank == 0) say(program(), " has its own MPI wrappers: not recorded a second time");
        return;
    }
    if (is_spawned()) {
        if (rank == 0) say(program(), " was started by MPI_Comm_spawn: only the spawning processes are recorded");
        return;
    }
    try {
        recording = begin_recording();
    } catch (const std::exception& error) {
        if (rank == 0) say(error.what(), "; the program runs without a trace");
        return;
    }
    before_ending_signals(finish_before);
    record_mpi_everywhere(recording->locations);
    record_gpus();
    LocationRecorder& location = recording->locations.first();
    const RegionRef region = function.region(recording->recorder);
    location.enter(region, begin_ns);
    location.leave(region, end_ns);
} catch (const std::exception& error) {
    say(error.what());
}

// The time until all ranks have arrived is recorded as MPI_Finalize; later time in it is not recorded.
void finish()
try {
    static const MpiFunction function{"MPI_Finalize", RegionRole::collective_other};
    if (recording == nullptr || recording->finished) return;
    time_only(function, [] { return PMPI_Barrier(MPI_COMM_WORLD); });
    Recording& done = *recording;
    if (done.taken.exchange(true)) return wait_until_finished();
    record_mpi_no_more();
    if (done.locations.left_any_out())
        say("rank ", done.rank, ": CROSSTALK_TRACE_MEMORY is too small for all threads; calls of some are missing");
    finish_gpus();
    try {
        done.recorder.finish();
        if (done.rank == 0) say("recorded ", (done.directory / base::file::anchor).string());
    } catch (const std::exception& error) {
        if (done.rank == 0) say(error.what());
    }
    done.finished = true;
} catch (const std::exception& error) {
    say(error.what());
}

// Finishes the recording if the program ends its process without MPI_Finalize.
void end_early(const std::string& why)
{
    if (recording == nullptr || recording->process != ::getpid() || recording->finished) return;
    if (recording->taken.exchange(true)) return wait_until_finished();
    if (!finish_alone(why))
        say("rank ", recording->rank, " ended by ", why, ": the trace ", recording->directory.string(),
            " appears when all ranks have ended");
}

// Reports a missing trace, in the process that trace-record became by exec.
void report_no_trace()
{
    const std::string wanted = base::environment("CROSSTALK_TRACE").value_or("");
    if (base::environment("CROSSTALK_TRACE_PROCESS").value_or("") != std::to_string(::getpid()) || wanted.empty() ||
        started)
        return;
    std::error_code ignored;
    if (fs::exists(wanted, ignored) || fs::exists(unfinished(wanted), ignored) || base::job_rank().rank != 0) return;
    say("no trace ", wanted, ": ", program(), " has ended without calling MPI_Init");
}

// Runs after everything else in the process, as a program may call MPI_Finalize as late as in an exit handler.
__attribute__((destructor)) void at_exit()
{
    end_early("its end without MPI_Finalize");
    int initialized = 0;
    PMPI_Initialized(&initialized);
    if (initialized == 0) return report_no_trace();
    if (!started && base::job_rank().rank == 0)
        say("no trace of ", program(), ": it initialised MPI through an interface other than C, such as Fortran's");
}

}  // namespace

}  // namespace otf2

using namespace otf2;

extern "C" {

int MPI_Init(int* argc, char*** argv)
{
    static const MpiFunction function{"MPI_Init", RegionRole::collective_other};
    const std::int64_t begin_ns = base::now_ns();
    const int code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS) start(function, begin_ns);
    return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided)
{
    static const MpiFunction function{"MPI_Init_thread", RegionRole::collective_other};
    const std::int64_t begin_ns = base::now_ns();
    const int code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS) start(function, begin_ns);
    return code;
}

int MPI_Finalize()
{
    finish();
    return PMPI_Finalize();
}

int MPI_Abort(MPI_Comm comm, int code)
{
    end_early("MPI_Abort");
    return PMPI_Abort(comm, code);
}

}  // extern "C"
