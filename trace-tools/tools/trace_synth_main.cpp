// SPDX-License-Identifier: Apache-2.0
// trace-synth: writes archives with known wait states and critical path, from a small description of all ranks.
#include "base/cli/options.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/stop.hpp"
#include "trace-tools/synth/spec.hpp"
#include "trace-tools/synth/synthesis.hpp"

#include <filesystem>
#include <iostream>

#include <sys/resource.h>

namespace {

// Every location is an open file until all are written.
void allow_open_files(int ranks)
{
    constexpr rlim_t others = 16;  // other open files: tables, definitions and the terminal
    const rlim_t needed = static_cast<rlim_t>(ranks) + others;
    rlimit files{};
    base::check_errno(getrlimit(RLIMIT_NOFILE, &files), "get the limit of open files");
    if (files.rlim_cur >= needed) return;
    if (files.rlim_max < needed)
        base::fail(ranks, " ranks need ", needed, " open files, and ", files.rlim_max, " are allowed (ulimit -n)");
    files.rlim_cur = needed;
    base::check_errno(setrlimit(RLIMIT_NOFILE, &files), "allow ", needed, " open files");
}

}  // namespace

int main(int argc, char** argv)
try {
    std::string file;
    std::string out;
    base::Options options{"trace-synth", "generates OTF2 archives with known wait states and critical path"};
    options.add_positional("SPEC", file, "a program for all ranks, one statement per line");
    options.add("out,o", out, "directory for traces.otf2 and its true waits.csv and path.csv (required)", "DIR");
    options.section(
        {.title = "Statements",
         .text = "One per line, also the } of a region; # begins a comment. A rank executes the statements that name "
                 "it, in order. Times are in ns, us, ms, s, min (or m) or h; 1ms..2ms draws a random time on each "
                 "execution; ranks are 3, 1,3 or 0-7.",
         .entries = {
             {"ranks 4", "number of ranks; only as the first statement (default: 1)"},
             {"seed 7", "seed of random times"},
             {"communicator row 0-1", "communicator 'row' of ranks 0 and 1; 'world' has all ranks"},
             {"clock 1 offset=5ms drift=20", "rank 1's clock is 5 ms behind and loses 20 us a second"},
             {"repeat 100 step {  }", "a region around the statements, 100 times, numbered by its attribute 'step'"},
             {"region end {  }", "a region around the statements, once, without a number"},
             {"forward 10ms..12ms", "work in a region, of random length"},
             {"backward 20ms, 25ms on 1,3", "work per rank; of several parts for a rank the last one counts"},
             {"MPI_Allreduce 1ms bytes=4MiB",
              "ends 1 ms after the last rank entered; also Allgather, Alltoall, Reduce_scatter, Barrier"},
             {"MPI_Reduce 1ms root=1 comm=row",
              "the root, a rank of that communicator, waits for the others; also Gather"},
             {"MPI_Bcast 1ms root=2", "the others wait for the root; also Scatter"},
             {"MPI_Send 0>1 1ms tag=7",
              "rank 0 sends, rank 1 calls MPI_Recv, both on 'world'; MPI_Ssend waits for the receiver"},
             {"MPI_Iallreduce 5ms request=grad", "overlaps what follows; also Ibarrier"},
             {"MPI_Isend 1>0 1ms request=block", "rank 1 sends, rank 0 calls MPI_Irecv"},
             {"MPI_Wait grad", "waits on all ranks that have started the request"},
             {"MPI_Wait block on 1", "waits on the named ranks only"},
         }});
    options.section(
        {.title = "Truth",
         .text =
             "waits.csv follows Scalasca's definitions: a send waits until the receive is posted, unless it has "
             "ended before. If two ranks enter or leave in the same nanosecond there are several critical paths, of "
             "which path.csv has one. MPI_Init and MPI_Finalize of zero length enclose MPI calls."});
    options.example("trace-synth <(printf 'ranks 2\\nwork 1ms, 3ms on 1\\nMPI_Barrier 1us\\n') -o late");
    options.example("trace-synth late.spec -o late && trace-info late/traces.otf2");
    if (!options.parse(argc, argv)) return base::exit_fine;
    if (out.empty()) base::fail_usage("give --out DIR for the archive");
    base::refuse_taken(out);

    base::stop_on_signals();
    const synth::SynthSpec spec = synth::read_synth_spec(file);
    allow_open_files(spec.ranks);
    const synth::SynthTruth truth = synth::synthesize(spec, out);
    std::cout << "wrote " << (std::filesystem::path{out} / base::file::anchor).string() << ": " << spec.ranks
              << (spec.ranks == 1 ? " rank, " : " ranks, ") << static_cast<double>(truth.length_ns) / 1e9 << " s\n";
    base::flush_stdout();
    return base::exit_fine;
} catch (...) {
    return base::report_failure("trace-synth");
}
