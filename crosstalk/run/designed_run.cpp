// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/designed_run.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"
#include "crosstalk/programs/guardian.hpp"
#include "crosstalk/programs/programs.hpp"
#include "crosstalk/run/leftover.hpp"
#include "crosstalk/run/request/ended.hpp"
#include "crosstalk/run/request/run_directory.hpp"
#include "crosstalk/run/results.hpp"
#include "crosstalk/run/run_driver.hpp"

namespace crosstalk {

namespace {

int measured(const Request& request, RunDriver& run)
{
    const Guardian guardian{request.out};
    const EndsWhatWasStarted guard;
    try {
        run.run();
        const int code = run.report();
        write_status(request, code, "");
        export_results(request);
        return code;
    } catch (const Ended& ended) {
        write_status(request, ended.code, ended.reason);
        run.has_report() ? export_results(request) : export_failure(request, ended.reason);
        base::warn(ended.reason);
        return ended.code;
    } catch (const base::Interrupted& by) {
        const std::string reason = base::join("signal ", by.signal, " ended the run before its report");
        write_status(request, 128 + by.signal, reason);
        export_failure(request, reason);
        base::warn(reason, ": partial results are in ", request.out.string());
        run.keep();
        throw;
    } catch (const base::UsageError& error) {
        write_status(request, base::exit_usage, error.what());
        export_failure(request, error.what());
        throw;
    } catch (const std::exception& error) {  // includes errors of system calls and libraries
        write_status(request, base::exit_failed, error.what());
        export_failure(request, error.what());
        throw;
    }
}

}  // namespace

int designed_run(const Request& request)
{
    RunDriver run{request};
    run.plan();
    const base::Descriptor lock = claim_directory(request);
    const auto say_what_is_left = [&] {
        if (const std::string words = left_out_by_recording(request); !words.empty()) base::warn(words);
        if (run.has_report()) return;
        const std::string command = run.is_kept() ? "interference analyse " + base::shell_word(request.whole.string())
                                                  : command_for_a_report(request, run.missing());
        if (!command.empty()) base::warn("to report on them: ", command);
    };
    try {
        const int code = measured(request, run);
        say_what_is_left();
        return code;
    } catch (...) {
        say_what_is_left();
        throw;
    }
}

int show_designed_run(const Request& request)
{
    RunDriver run{request};
    run.plan();
    run.show();
    return base::exit_fine;
}

}  // namespace crosstalk
