// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/analysis.hpp"

#include "base/contract/run_directory.hpp"
#include "crosstalk/programs/programs.hpp"
#include "crosstalk/run/request/request_record.hpp"

namespace crosstalk {

namespace fs = std::filesystem;

int analyse(const Request& request, const base::CpuSet& cpus)
{
    std::vector<std::string> words{program("interference"), "analyse", request.whole.string(), "--budget",
                                   request.budget,          "--again", request.again};
    if (!request.fail_on.empty()) words.insert(words.end(), {"--fail-on", request.fail_on});
    return wait_for(*start({.words = words, .folder = {}, .output = {}, .errors = {}}, cpus));
}

void put_old_report_aside(const Request& request)
{
    const fs::path report = request.whole / base::part::report;
    if (fs::exists(report)) fs::rename(report, next_in(request.whole, "report.", 1));
}

}  // namespace crosstalk
