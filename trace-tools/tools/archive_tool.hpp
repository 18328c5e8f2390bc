// SPDX-License-Identifier: Apache-2.0
// Common command line of tools that analyse one archive in a sandbox and can write tables about it.
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
    std::string step_region;  // as given by the user; empty: not given
    std::string step_from;    // as given to trace-steps; empty: not given
    int step_every = 1;       // as given to trace-steps
    otf2::PartWords part;
    Threads threads;

    // Help texts of the options --out and --step-region. Without the latter there is no such option.
    ArchiveTool(const char* program, const char* summary, const char* out_text, const char* step_region_text = nullptr)
        : name{program}, options{program, summary}
    {
        options.add_positional("X.otf2", anchor, "the archive's anchor file, such as traces.otf2");
        options.add("out,o", out_option, out_text, "DIR");
        if (step_region_text != nullptr) options.add("step-region", step_region, step_region_text, "NAME");
        otf2::add_part_options(options, part);
    }

    std::filesystem::path out() const { return out_option; }  // empty: no tables are written

    // Call before the archive is read, which may take long. Throws UsageError if one of these tables already exists.
    void refuse_taken(std::initializer_list<const char*> tables) const
    {
        if (out_option.empty()) return;
        for (const char* table : tables) base::refuse_taken(out() / table);
    }

    // Returns the exit code of the analysis, or of --help and the like.
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
