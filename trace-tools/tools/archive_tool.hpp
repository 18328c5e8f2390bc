// SPDX-License-Identifier: Apache-2.0
// The command line of the tools that analyse one archive in a sandbox and may write tables of it.
#pragma once

#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "trace-tools/otf2/read/confined.hpp"
#include "trace-tools/steps/part.hpp"
#include "trace-tools/tools/threads_option.hpp"

#include <filesystem>
#include <initializer_list>
#include <string>

struct ArchiveTool {
    const char* name;
    base::Options options;
    std::string anchor;
    std::string out_option;
    std::string step_region;  // as the user names it; empty: not given
    std::string step_from;    // the same, of trace-steps
    int step_every = 1;       // the same
    otf2::PartWords part;
    Threads threads;

    // Texts of the options --out and --step-region; without the latter there is no such option.
    ArchiveTool(const char* program, const char* summary, const char* out_text, const char* step_region_text = nullptr)
        : name{program}, options{program, summary}
    {
        options.add_positional("X.otf2", anchor, "the archive's anchor file, such as traces.otf2");
        options.add("out,o", out_option, out_text, "DIR");
        if (step_region_text != nullptr) options.add("step-region", step_region, step_region_text, "NAME");
        otf2::add_part_options(options, part);
    }

    std::filesystem::path out() const { return out_option; }  // empty: no tables

    // To be asked before the archive is read, which may take long. Throws UsageError if one of them is there already.
    void refuse_taken(std::initializer_list<const char*> tables) const
    {
        if (out_option.empty()) return;
        for (const char* table : tables) base::refuse_taken(out() / table);
    }

    // Returns the exit code: that of the analysis, if the command line asks for one.
    int run(int argc, char** argv, int (*analyse)(const ArchiveTool&))
    {
        if (!options.parse(argc, argv)) return base::exit_fine;
        threads.check();
        return otf2::confined(name, otf2::limits_for(anchor), [&] {
            const int code = analyse(*this);
            base::flush_stdout();
            return code;
        });
    }
};
