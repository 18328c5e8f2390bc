// SPDX-License-Identifier: Apache-2.0
// trace-convert: converts a trace of PyTorch's profiler or of CUPTI to an OTF2 archive, and an archive to a Perfetto
// trace.
#include "base/cli/options.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "trace-tools/convert/activities.hpp"
#include "trace-tools/convert/write_archive.hpp"
#include "trace-tools/convert/write_chrome.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <cstdio>
#include <filesystem>
#include <new>

namespace {

namespace fs = std::filesystem;

bool is_of_activities(const fs::path& file)
{
    const fs::path plain = file.extension() == ".gz" ? file.stem() : file;
    return plain.extension() == ".jsonl";
}

void state(std::uint64_t count, const char* what)
{
    if (count > 0) std::printf("%llu %s\n", static_cast<unsigned long long>(count), what);
}

void state_launches(std::uint64_t without_launch, std::uint64_t before_launch)
{
    state(without_launch, "without the call that launched them");
    state(before_launch, "before their launch: the GPU's clock is wrong");
}

gpu::Nested write_activities(const std::string& file, const fs::path& out)
{
    const gpu::ActivitySummary done = convert::write_activities(file, out);
    std::printf("%llu activities; clocks agree within %lld ns\n", static_cast<unsigned long long>(done.written),
                static_cast<long long>(done.clock_error_ns));
    state(done.dropped, "dropped when recorded");
    state(done.late, "ignored: they arrived too late to be ordered");
    state_launches(done.without_launch, done.before_launch);
    return done.nested;
}

gpu::Nested write_kineto(const std::string& file, const fs::path& out)
{
    convert::KinetoTrace trace = convert::read_kineto(file);
    const convert::KinetoRemarks& remarks = trace.remarks;
    const gpu::Nested nested = convert::write_archive(trace, out);
    state(remarks.repairs, "repaired JSON errors: backslashes, control characters, N/A, nan or inf");
    for (const auto& [what, count] : remarks.left_out)
        std::printf("left out: %s (%llu)\n", what.c_str(), static_cast<unsigned long long>(count));
    state(remarks.never_ended, "events never end: assumed to end with their row");
    state(remarks.never_begun, "end events without a begin event: ignored");
    state_launches(remarks.without_launch, remarks.before_launch);
    return nested;
}

// A trace takes several times the memory of its compressed text. A file that needs more is damaged or malicious.
otf2::Limits limits_for_text(const std::string& file)
{
    otf2::Limits limits{.stuck_s = 0.0};
    std::error_code missing;
    const std::uintmax_t bytes = fs::file_size(file, missing);
    if (!missing) limits.memory_bytes += 32 * bytes;
    return limits;
}

gpu::Nested write(const std::string& file, const fs::path& out)
try {
    return is_of_activities(file) ? write_activities(file, out) : write_kineto(file, out);
} catch (const std::bad_alloc&) {
    base::fail(file, " needs more memory than its size justifies: damaged");
}

int to_archive(const std::string& file, const fs::path& out)
{
    if (fs::path{file}.extension() == fs::path{base::file::anchor}.extension())
        base::fail_usage(file, " is an archive already; write it for Perfetto with --perfetto FILE");
    base::refuse_taken(out);
    return otf2::confined("trace-convert", limits_for_text(file), [&] {
        const gpu::Nested nested = write(file, out);
        std::printf("wrote %s\n", (out / base::file::anchor).c_str());
        if (nested.moved + nested.cut > 0)
            std::printf("overlapping events: %zu on separate rows, %zu cut\n", nested.moved, nested.cut);
        base::flush_stdout();
        return base::exit_fine;
    });
}

// A file that is removed at the end, unless it has been renamed.
struct Unfinished {
    fs::path path;
    ~Unfinished()
    {
        std::error_code ignored;
        fs::remove(path, ignored);
    }
};

int to_perfetto(const std::string& anchor, const fs::path& file)
{
    base::refuse_taken(file);
    base::refuse_taken(file.string() + ".tmp");
    const Unfinished unfinished{file.string() + ".tmp"};
    return otf2::confined("trace-convert", otf2::limits_for(anchor), [&] {
        otf2::Reader reader{anchor};
        convert::write_chrome(reader, unfinished.path);
        fs::rename(unfinished.path, file);
        std::printf("wrote %s\n", file.c_str());
        base::flush_stdout();
        return base::exit_fine;
    });
}

}  // namespace

int main(int argc, char** argv)
try {
    std::string file;
    std::string out;
    std::string perfetto;
    base::Options options{"trace-convert",
                          "converts traces of PyTorch and CUPTI to OTF2 archives, and archives to traces for Perfetto"};
    options.add_positional(
        "TRACE", file, "output of torch.profiler's export_chrome_trace(), CUPTI's activities as X.jsonl, or X.otf2");
    options.add("out,o", out, "directory for the archive traces.otf2 of TRACE", "DIR");
    options.add("perfetto", perfetto, "file for the archive as Chrome trace JSON, for ui.perfetto.dev", "FILE");
    options.epilogue(
        "Threads and streams become locations; complete events, and begin and end events, become regions. GPU annotations and "
        "synchronisations go to a separate location 'NAME (annotations)'. 'ProfilerStep#N' is the region ProfilerStep "
        "with the attribute 'step'. An event that partly overlaps another goes to a row 'NAME (overlap 1)'. Small JSON "
        "errors by PyTorch are repaired. Ignored events are reported.");
    options.example("trace-convert kineto.json -o converted && trace-info converted/traces.otf2");
    options.example("trace-convert converted/traces.otf2 --perfetto perfetto.json");
    if (!options.parse(argc, argv)) return base::exit_fine;
    if (out.empty() == perfetto.empty())
        base::fail_usage("give --out DIR for the archive of a PyTorch trace, or --perfetto FILE for an archive's JSON");
    return perfetto.empty() ? to_archive(file, out) : to_perfetto(file, perfetto);
} catch (...) {
    return base::report_failure("trace-convert");
}
