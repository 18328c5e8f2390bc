// trace-convert: a trace of PyTorch's profiler as an OTF2 archive.
#include "base/cli/options.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "trace-tools/convert/write_archive.hpp"

#include <cstdio>
#include <filesystem>

int main(int argc, char** argv)
try {
    std::string file;
    std::string out;
    base::Options options{"trace-convert", "a trace of PyTorch's profiler as an OTF2 archive"};
    options.add_positional("KINETO.json", file, "what export_chrome_trace() of torch.profiler wrote");
    options.add("out,o", out, "where the archive traces.otf2 goes; must be given", "DIR");
    options.epilogue(
        "Threads and CUDA streams become locations, 'X' events regions. An event that overlaps another of its row "
        "without lying in it goes to a row 'NAME (overlap 1)'.");
    options.example("trace-convert kineto.json -o converted && trace-info converted/traces.otf2");
    if (!options.parse(argc, argv)) return base::exit_fine;
    if (out.empty()) base::fail_usage("--out says where the archive goes");
    if (std::filesystem::exists(std::filesystem::symlink_status(out))) base::fail_taken(out);

    convert::KinetoTrace trace = convert::read_kineto(file);
    const convert::Nested nested = convert::write_archive(trace, out);
    std::printf("wrote %s\n", (std::filesystem::path{out} / base::file::anchor).c_str());
    if (nested.moved + nested.cut > 0)
        std::printf("overlapping events: %zu on rows of their own, %zu cut\n", nested.moved, nested.cut);
    base::flush_stdout();
    return base::exit_fine;
} catch (...) {
    return base::report_failure("trace-convert");
}
