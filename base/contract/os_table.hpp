// SPDX-License-Identifier: Apache-2.0
// DIR/os/<host>/os.csv: what the operating system did to the threads and CPUs of a job. trace-os writes it and the
// analysis reads it. Times are CLOCK_MONOTONIC.
#pragma once

#include "base/contract/table_columns.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace base::os {

inline constexpr const char* folder = "os";  // folder in a run's directory, with a subfolder per host
inline constexpr const char* table = "os.csv";
inline constexpr const char* record = "os.json";

// Causes of interruptions. A time has one cause, except that a wait inside a memory reclaim counts as both.
namespace cause {
inline constexpr const char* neighbour = "neighbour";    // another job's task ran where the thread waited
inline constexpr const char* own_thread = "own_thread";  // another thread of the job ran there
inline constexpr const char* kernel_thread = "kernel_thread";
inline constexpr const char* idle_cpu = "idle_cpu";            // runnable on an idle CPU: a wake-up
inline constexpr const char* unknown_task = "unknown_task";    // runnable; who ran is not known
inline constexpr const char* runqueue_wait = "runqueue_wait";  // sum of the above, by schedstat
inline constexpr const char* interrupt = "interrupt";
inline constexpr const char* softirq = "softirq";
inline constexpr const char* block_io = "block_io";
inline constexpr const char* reclaim = "reclaim";
inline constexpr const char* throttled = "throttled";  // runnable, but the quota of the job's control group was used up
inline constexpr const char* steal = "steal";
inline constexpr const char* major_faults = "major_faults";  // pages that had to be read from files or swap
inline constexpr const char* preempted = "preempted";
inline constexpr const char* pressure = "pressure";
inline constexpr const char* frequency = "frequency";
inline constexpr const char* bandwidth = "bandwidth";
inline constexpr const char* llc_occupancy = "llc_occupancy";
inline constexpr const char* cycles = "cycles";
inline constexpr const char* instructions = "instructions";
inline constexpr const char* llc_misses = "llc_misses";
inline constexpr const char* migrations = "migrations";
}  // namespace cause

// One interruption, or a counter's increase between two readings.
struct Row {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::string source;  // "bpf", "schedstat", ..
    std::string cause;
    std::string by;  // name of the task, interrupt or vector; empty if it has none
    std::optional<std::int64_t> by_process;
    std::optional<std::int64_t> thread;  // the thread that was kept from running; none: the whole CPU or job
    std::optional<std::int64_t> cpu;
    std::int64_t count = 0;  // interruptions, switches, faults, events; bytes of bandwidth, occupancy; kHz of frequency
    std::int64_t ns = 0;     // lost time; 0 if only the count is known
    std::string by_cgroup;   // control group of a neighbour: "/slurm/job_7"; empty if it is not known
};

inline const std::vector<TableColumn<Row>>& columns()
{
    static const std::vector<TableColumn<Row>> all{table_column("begin_ns", &Row::begin_ns),
                                                   table_column("end_ns", &Row::end_ns),
                                                   table_column("source", &Row::source),
                                                   table_column("cause", &Row::cause),
                                                   table_column("by", &Row::by),
                                                   table_column("by_process", &Row::by_process),
                                                   table_column("thread", &Row::thread),
                                                   table_column("cpu", &Row::cpu),
                                                   table_column("count", &Row::count),
                                                   table_column("ns", &Row::ns),
                                                   table_column("by_cgroup", &Row::by_cgroup)};
    return all;
}

}  // namespace base::os
