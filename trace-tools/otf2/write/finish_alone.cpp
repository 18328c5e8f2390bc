// SPDX-License-Identifier: Apache-2.0
// Finishes an archive whose processes end independently, without communication. Each process leaves its events and a
// record of its definitions in unfinished(directory); the last one writes the archive's definitions from all records.
//
//     DIR.tmp/traces/<location>.evt    events, as in any archive
//     DIR.tmp/process.<rank>           a ProcessRecord; appears by rename when the process's events are complete
//     DIR.tmp/process.claimed          the record of rank 0, renamed by the process that finds all records
//     DIR.tmp/definitions.tmp/         made by that process; its files are then moved up
#include "base/contract/run_directory.hpp"
#include "base/contract/trace_names.hpp"
#include "base/files.hpp"
#include "base/system/waiting.hpp"
#include "trace-tools/otf2/write/recorder_state.hpp"
#include "trace-tools/otf2/write/team.hpp"

#include <chrono>
#include <cstdio>
#include <thread>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace otf2 {

namespace fs = std::filesystem;

namespace {

// A memory barrier in all threads of this process (membarrier). If the system call is forbidden, as in some containers,
// a short sleep has the same effect, since no store is delayed that long.
void order_memory_of_all_threads()
{
    using namespace std::chrono_literals;
    if (::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0 ||
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
        std::this_thread::sleep_for(20ms);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

fs::path record_file(const fs::path& directory, std::size_t rank)
{
    return directory / ("process." + std::to_string(rank));
}

bool all_are_there(const fs::path& directory, std::size_t size)
{
    for (std::size_t rank = 0; rank < size; ++rank)
        if (!fs::exists(record_file(directory, rank))) return false;
    return true;
}

void move_files(const fs::path& from, const fs::path& to)
{
    for (const fs::directory_entry& entry : fs::directory_iterator{from}) {
        const fs::path target = to / entry.path().filename();
        if (entry.is_directory())
            move_files(entry.path(), target);
        else
            move_into_place(entry.path(), target);
    }
}

}  // namespace

// The program's own signal handler may end the process in the middle of an event; that event is then not written.
void Recorder::State::stop_events()
{
    constexpr std::int64_t patience_ns = 1'000'000'000;
    std::vector<LocationRecorder*> all;
    {
        const std::lock_guard lock{mutex};
        over = true;
        for (LocationRecorder& location : locations) {
            location.closed_.store(true, std::memory_order_relaxed);
            all.push_back(&location);
        }
    }
    order_memory_of_all_threads();
    const std::int64_t deadline = base::now_ns() + patience_ns;
    for (const LocationRecorder* location : all)
        while (location->busy_.load(std::memory_order_acquire)) {
            if (base::now_ns() > deadline) base::fail("a thread was interrupted while it wrote an event");
            std::this_thread::yield();
        }
}

// Clocks cannot be compared again without the other processes, so the initial offset is used for the end as well.
void Recorder::State::end_record(const std::string& why)
{
    const std::lock_guard lock{mutex};
    copy_tables();
    if (!why.empty()) record.properties[base::property::cut_off] = why;
    ClockOffset now = record.clock_offsets.front();
    now.at_ns = base::now_ns();
    record.clock_offsets.push_back(now);
}

bool Recorder::State::finish_alone(const std::string& why)
{
    const fs::path beside = unfinished(directory);
    const auto size = static_cast<std::size_t>(team->size());
    stop_events();
    for (LocationRecorder& location : locations) location.leave_open_regions(base::now_ns());
    check_written(
        [&] {
            check_events();
            close_events();
        },
        "write events");
    check_events();  // error of the last flush
    end_record(why);
    give_up();
    base::write_whole(record_file(beside, static_cast<std::size_t>(team->rank())), to_bytes(record));

    State whole{beside / "definitions", std::make_unique<SoloTeam>()};
    const fs::path apart = unfinished(whole.directory);
    // The process that renames the first record writes the archive. To create a directory would not do as a claim: a
    // process that is still about to do so when `beside` is moved creates it in the finished archive.
    const fs::path claimed = beside / "process.claimed";
    if (!all_are_there(beside, size) || std::rename(record_file(beside, 0).c_str(), claimed.c_str()) != 0) return false;
    fs::create_directory(apart);
    std::vector<ProcessRecord> records{record_from_bytes(base::read_whole(claimed))};
    for (std::size_t rank = 1; rank < size; ++rank)
        records.push_back(record_from_bytes(base::read_whole(record_file(beside, rank))));
    whole.write_definitions(records);
    move_files(apart, beside);
    move_into_place(beside, directory);
    base::remove_tree(directory / apart.filename());
    fs::remove(directory / claimed.filename());
    for (std::size_t rank = 1; rank < size; ++rank) fs::remove(record_file(directory, rank));
    return true;
}

// Writes the definitions as a separate archive without events.
void Recorder::State::write_definitions(const std::vector<ProcessRecord>& records)
{
    open_archive(0);
    use_team(archive.get(), *team);
    const Unified unified = unify(records);
    check_written(
        [&] {
            check(OTF2_Archive_OpenDefFiles(archive.get()), "create definition files");
            for (std::size_t rank = 0; rank < records.size(); ++rank) {
                record = records[rank];
                write_local(unified.numberings[rank]);
            }
            check(OTF2_Archive_CloseDefFiles(archive.get()), "write local definitions");
            record = records.front();
            write_global(records, unified);
            check(OTF2_Archive_Close(archive.release()), "close the archive");
        },
        "write the trace");
}

void wait_until_finished(const fs::path& directory, base::Nanoseconds patience)
{
    const fs::path beside = unfinished(directory);
    std::error_code ignored;
    base::wait_until([&] { return !fs::exists(beside, ignored); }, patience.count());
}

bool Recorder::finish_alone(const std::string& why)
try {
    return on() && state_->finish_alone(why);
} catch (const std::exception& error) {
    state_->give_up();
    base::fail("no trace ", state_->directory.string(), ": ", error.what());
}

}  // namespace otf2
