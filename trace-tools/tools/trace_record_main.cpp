// SPDX-License-Identifier: Apache-2.0
// trace-record: starts a program with libcrosstalk-mpi.so preloaded, which records its MPI calls.
#include "base/cli/option_checks.hpp"
#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/programs/own_library.hpp"
#include "base/system/environment.hpp"
#include "base/units.hpp"
#include "trace-tools/otf2/write/fresh_directory.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

namespace fs = std::filesystem;

struct Wanted {
    std::string out;
    std::string memory;
    std::vector<std::string> program;  // program and arguments
};

fs::path library_to_preload()
{
    fs::path library = base::own_library("crosstalk-mpi");
    if (library.string().find_first_of(" :\t\n") != std::string::npos)
        base::fail("LD_PRELOAD cannot hold blanks or colons, but the path of ", library.string(),
                   " has some: install Crosstalk elsewhere");
    return library;
}

// Keeps libraries that are already preloaded, and puts them first, as a sanitizer's library requires.
std::string preloaded(const fs::path& library)
{
    std::string already = base::environment("LD_PRELOAD").value_or("");
    if (already.find(library.string()) != std::string::npos) return already;
    return already.empty() ? library.string() : already + ":" + library.string();
}

// Throws if the directory exists. Several ranks may call it at the same time, since none creates the directory before
// all have called it.
fs::path checked_directory(const Wanted& wanted)
{
    const fs::path named = wanted.out.empty() ? base::environment("CROSSTALK_TRACE").value_or("") : wanted.out;
    fs::path directory =
        fs::absolute(named.empty() ? otf2::fresh_directory(fs::path{wanted.program.front()}.filename()) : named);
    base::refuse_taken(directory);
    const fs::path beside = otf2::unfinished(directory);
    if (fs::exists(fs::symlink_status(beside)))
        base::fail_usage(beside.string(), " belongs to a running or killed program: give another ",
                         "directory with -o, or remove it if none runs");
    return directory;
}

void set_variable(const char* name, const std::string& value)
{
    base::check_errno(::setenv(name, value.c_str(), 1), "set ", name);
}

// Executes the program. Does not return.
[[noreturn]] void become(std::vector<std::string> program)
{
    std::vector<char*> words;
    for (std::string& word : program) words.push_back(word.data());
    words.push_back(nullptr);
    ::execvp(words.front(), words.data());
    const int code = errno;
    const std::string& name = program.front();
    const bool plain = name.find('/') == std::string::npos;
    if (code == ENOENT && plain)
        base::fail_usage("no program '", name, "' on PATH", fs::exists(name) ? "; did you mean ./" + name + "?" : "");
    base::fail_usage("cannot run ", name, ": ", std::strerror(code),
                     code == ENOEXEC ? " (a script needs a first line such as #!/bin/sh)" : "");
}

// Words after "--", or from the first one that is not an option, belong to the program.
std::vector<char*> split(int argc, char** argv, Wanted& wanted)
{
    const auto end = argv + argc;
    const auto dashes = std::find_if(argv + 1, end, [](const char* word) { return std::strcmp(word, "--") == 0; });
    if (dashes != end) wanted.program.assign(dashes + 1, end);
    return {argv, dashes};
}

}  // namespace

int main(int argc, char** argv)
try {
    Wanted wanted;
    std::vector<std::string> without_dashes;
    base::Options options{"trace-record", "records the MPI calls of a program into an OTF2 archive"};
    options.add_positional("PROGRAM", without_dashes, "the program and its arguments, after --", 0);
    options.synopsis("[options] -- PROGRAM [ARGUMENT...]");
    options.add("out,o", wanted.out, "directory of the archive (default: a new one, named after program and job)",
                "DIR");
    options.add("memory", wanted.memory,
                "trace buffer per process, flushed to the file when full, such as 16MiB (default: 256 KiB per thread)",
                "SIZE");
    options.section(
        {.title = "How it works",
         .text =
             "It sets LD_PRELOAD to libcrosstalk-mpi.so and executes the program: input, output, signals and exit "
             "code are the program's. On several nodes put it after mpirun or srun, so that every process has it. The "
             "archive appears when the program calls MPI_Finalize. If SIGTERM, SIGINT or SIGHUP ends the program "
             "earlier, as at a Slurm time limit, the archive holds everything up to then."});
    options.example("mpirun -n 2 trace-record -o DIR -- ./program");
    options.example("srun -n 64 trace-record -o DIR -- python3 program.py");
    options.example("trace-record -o DIR -- mpirun -n 2 ./program      # on one node");
    options.epilogue("Exit code: the program's; 2 if there is no such program, or DIR already exists.");
    options.see_also("trace-waits(1), trace-info(1), mpirun(1), srun(1)");
    std::vector<char*> own = split(argc, argv, wanted);
    if (!options.parse(static_cast<int>(own.size()), own.data())) return base::exit_fine;
    if (wanted.program.empty()) wanted.program = without_dashes;
    if (wanted.program.empty()) base::fail_usage("no program given; use: trace-record -o DIR -- ./program");
    if (!wanted.memory.empty()) base::parsed<base::Bytes>("--memory", wanted.memory);

    const fs::path library = library_to_preload();
    const fs::path directory = checked_directory(wanted);
    set_variable("LD_PRELOAD", preloaded(library));
    set_variable("CROSSTALK_TRACE", directory.string());
    set_variable("CROSSTALK_TRACE_PROCESS", std::to_string(::getpid()));
    if (!wanted.memory.empty()) set_variable("CROSSTALK_TRACE_MEMORY", wanted.memory);
    become(wanted.program);
} catch (...) {
    return base::report_failure("trace-record");
}
