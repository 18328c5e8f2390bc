// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/runs/one_run.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/words.hpp"
#include "crosstalk/programs/programs.hpp"
#include "crosstalk/run/request/ended.hpp"

#include <fstream>
#include <ostream>

namespace crosstalk {

namespace fs = std::filesystem;

std::string make_run(const OneRun& one)
try {
    fs::create_directories(one.directory / base::part::log);
    prepare_for_mpi();
    return one.run.noise == base::campaign::designed ? make_designed_run(one) : make_steady_run(one);
} catch (const Ended& ended) {
    return ended.reason;
} catch (const base::UsageError&) {
    throw;
} catch (const base::Error& error) {
    return error.what();
}

void show_run(std::ostream& out, const OneRun& one)
{
    out << one.run.name << "  " << treatment_name(one.run) << "\n";
    one.run.noise == base::campaign::designed ? show_designed_run(out, one) : show_steady_run(out, one);
}

std::string last_line(const fs::path& log)
{
    std::ifstream in{log};
    std::string last;
    for (std::string line; std::getline(in, line);)
        if (!base::trim(line).empty()) last = line;
    return base::shortened(base::printable(message_in(last)), 120);
}

}  // namespace crosstalk
