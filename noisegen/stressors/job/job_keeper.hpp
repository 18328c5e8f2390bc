// SPDX-License-Identifier: Apache-2.0
// The process that a neighbour job belongs to: it starts the job frozen, lets it run and freezes it when noisegen
// says so, and ends all of it when noisegen has ended, however that was. Daemons of the job stay its children, and what
// another program starts for it is known by its environment.
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

namespace noisegen {

// Word of noisegen: when the job is to be frozen (CLOCK_MONOTONIC). Until then it runs. The keeper freezes it,
// for noisegen may get no CPU at that moment.
using JobUntil = std::int64_t;
constexpr JobUntil freeze_job_now = 0;

// Reply of the keeper, once at its start and to each word.
struct JobNews {
    std::int64_t frozen_ns = 0;       // CLOCK_MONOTONIC; when the job was frozen last
    std::int64_t resident_bytes = 0;  // of all its processes
    std::int32_t processes = 0;       // that live
    std::int32_t refused = 0;         // errno: it could not be started
    std::int32_t strays = 0;          // that have left the group in which it is frozen: stopped by signals
    std::int32_t restless = 0;        // most that could not be frozen
    std::int32_t hidden = 0;          // most that /proc does not show: nobody knows whether they rest
    std::int32_t elsewhere = 0;       // that may run on CPUs that are not the job's
    char freezer[16] = {};            // how it is frozen: "cgroup v2"
};

struct JobStart {
    std::string cpus;     // that all of it is bound to, "1-3"
    std::string program;  // its file, or words for /bin/sh -c
    bool by_shell = false;
    std::string harvest;  // CROSSTALK_HARVEST of the job
    std::string log;      // what it prints
    std::string mark;     // value of base::variable::neighbour in its environment
};

// In a stressor's note: there is nothing left of the job.
inline constexpr const char* job_has_ended = "the job has ended";

// Encodes a JobStart as one argument of a command line, and decodes it.
std::string to_word(const JobStart& start);
JobStart job_start(const std::string& word);

// Keeps the job until the pipe closes. To be called by a process that has nothing else to do.
void keep_job(const JobStart& start, int pipe, int answers);

}  // namespace noisegen
