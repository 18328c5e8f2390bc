// SPDX-License-Identifier: Apache-2.0
// The command line of noisegen for a run.
#pragma once

#include "crosstalk/launchers/cores.hpp"
#include "crosstalk/run/request/request.hpp"

#include <string>
#include <vector>

namespace crosstalk {

// The requested schedule, or the default for noise on these CPUs and a job that cooperates in control.delay or not.
std::string schedule_of(const Request& request, bool cooperates, const base::CpuSet& noise);

std::vector<std::string> noise_words(const Request& request, const std::string& schedule, const Split& cores);

// noisegen in a run, behind the words of its launcher. It is ended with the job; its duration is longer than the run's
// by ten minutes, or by a day where the job is waited for, so that it ends also where no process is left to end it.
std::vector<std::string> words_to_start(const Request& request, const std::string& schedule, const Split& cores,
                                        bool waits_for_job);

// The slots, as noisegen --dry-run prints them. A malformed schedule, or one too long for the run, throws as noisegen
// ends.
std::string slots_of(const Request& request, const std::string& schedule, const Split& cores);

}  // namespace crosstalk
