// SPDX-License-Identifier: Apache-2.0
// The keeper of a neighbour job: a process that starts the job frozen, thaws and freezes it on noisegen's request, and
// ends all of it when noisegen has ended, however that happened. The job's daemons remain the keeper's children;
// processes that another program starts for the job are recognised by their environment.
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

namespace noisegen {

// noisegen's message: the CLOCK_MONOTONIC time at which the job is to be frozen. Until then it runs. The keeper does
// the freezing, since noisegen may have no CPU at that moment.
using JobUntil = std::int64_t;
constexpr JobUntil freeze_job_now = 0;

// The keeper's reply, sent once at its start and then after each message.
struct JobNews {
    std::int64_t frozen_ns = 0;       // CLOCK_MONOTONIC: when the job was last frozen
    std::int64_t resident_bytes = 0;  // memory of all its processes
    std::int32_t processes = 0;       // number of living processes
    std::int32_t refused = 0;         // errno, if the job could not be started
    std::int32_t strays = 0;          // processes that left the frozen group: stopped by signals
    std::int32_t restless = 0;        // maximum number that could not be frozen
    std::int32_t hidden = 0;          // maximum number that /proc does not show: their state is unknown
    std::int32_t elsewhere = 0;       // processes that may run on other CPUs than the job's
    char freezer[16] = {};            // mechanism: "cgroup v2"
};

struct JobStart {
    std::string cpus;     // CPUs that the whole job is bound to, "1-3"
    std::string program;  // path of the program, or words for /bin/sh -c
    bool by_shell = false;
    std::string harvest;  // the job's CROSSTALK_HARVEST
    std::string log;      // file for the job's output
    std::string mark;     // value of base::variable::neighbour in its environment
};

// Part of a stressor's note: no process of the job is left.
inline constexpr const char* job_has_ended = "the job has ended";

// Encodes a JobStart as one argument of a command line, and decodes it.
std::string to_word(const JobStart& start);
JobStart job_start(const std::string& word);

// Keeps the job until the pipe closes. The calling process must have nothing else to do.
void keep_job(const JobStart& start, int pipe, int answers);

}  // namespace noisegen
