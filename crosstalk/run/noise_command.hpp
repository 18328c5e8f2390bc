// SPDX-License-Identifier: Apache-2.0
// The command line of noisegen for a run.
#pragma once

#include "crosstalk/launchers/cores.hpp"
#include "crosstalk/run/request/request.hpp"

#include <string>
#include <vector>

namespace crosstalk {

// The requested schedule, or the default one for noise on these CPUs; `cooperates`: the job supports control.delay.
std::string schedule_of(const Request& request, bool cooperates, const base::CpuSet& noise);

std::vector<std::string> noise_words(const Request& request, const std::string& schedule, const Split& cores);

// noisegen's command line in a run, after its launcher's prefix. noisegen ends with the job. Its duration is ten
// minutes longer than the run's, or a day longer if the run waits for the job, so that it also ends if no process is
// left to end it.
std::vector<std::string> words_to_start(const Request& request, const std::string& schedule, const Split& cores,
                                        bool waits_for_job);

// The slots as printed by noisegen --dry-run. For an invalid schedule, or one too long for the run, throws an error
// with noisegen's exit code.
std::string slots_of(const Request& request, const std::string& schedule, const Split& cores);

}  // namespace crosstalk
