// SPDX-License-Identifier: Apache-2.0
// Cost of trace-waits, trace-path and trace-cube as users run them, with tables and the search for the steps: CPU time
// compared with the least that OTF2's own global reader needs, and elapsed time with two threads compared with one.
// Whole processes, measured in pairs.
#include "base/cli/options.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/environment.hpp"
#include "testing/bench_rows.hpp"
#include "testing/paired.hpp"
#include "testing/process_cost.hpp"
#include "testing/testing.hpp"
#include "trace-tools/bench/bare_reader.hpp"
#include "trace-tools/bench/training_archive.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using bench::Shape;

struct Program {
    std::string name;
    double aim_2_ranks;  // CPU / CPU of OTF2's reader
    double aim_16_ranks;
    std::string output;
};

const std::vector<Program> programs{
    {"trace-waits", 2.0, 2.2, "found"}, {"trace-path", 1.8, 1.8, "found"}, {"trace-cube", 1.8, 1.8, "found.cubex"}};

testing::ProcessCost run(const Program& program, const fs::path& anchor, const fs::path& bin, int threads)
{
    const testing::Scratch scratch;
    return testing::cost_of_program(
        {bin / program.name, anchor, "--threads", std::to_string(threads), "-o", scratch / program.output});
}

double bare_cpu_s(const fs::path& anchor, const Shape& shape)
{
    const auto read_all = [&] {
        const std::uint64_t count = bench::BareReader{anchor}.count_in_order_of_time();
        if (count != bench::steps_of(shape) * shape.ranks * bench::enters_and_leaves_of_a_step)
            base::fail("only ", count, " events were read");
    };
    return testing::cost_of_children([&] { testing::peak_mb(read_all); }).cpu_s;
}

void measure(const Program& program, const Shape& shape, const fs::path& anchor, const fs::path& bin, std::size_t pairs,
             testing::BenchRows& rows)
{
    const std::string of =
        base::join(program.name, ", ", shape.ranks, " ranks, ", shape.events / 1'000'000, " million events");
    const auto cpu_s = [&] { return run(program, anchor, bin, 1).cpu_s; };
    const auto bare_s = [&] { return bare_cpu_s(anchor, shape); };
    rows.add({of + ": CPU", "OTF2's global reader that counts enters and leaves", "s"},
             testing::measure_in_pairs(pairs, cpu_s, bare_s),
             testing::at_most(shape.ranks == 2 ? program.aim_2_ranks : program.aim_16_ranks));
    const auto wall_s = [&](int threads) { return [&, threads] { return run(program, anchor, bin, threads).wall_s; }; };
    rows.add({of + ": time of two threads", "one thread", "s"}, testing::measure_in_pairs(pairs, wall_s(2), wall_s(1)),
             testing::at_most(0.6));
}

// Elapsed time and memory for an archive of 100 million events, measured once.
void measure_large(const fs::path& bin, testing::BenchRows& rows)
{
    const Shape shape{.ranks = 16, .events = 100'000'000, .numbered = false};
    const testing::Scratch scratch;
    testing::peak_mb([&] { bench::write_archive(scratch / "archive", shape); });
    for (const Program& program : programs) {
        const std::int64_t begin_ns = base::now_ns();
        const double mb = testing::peak_mb([&] { run(program, scratch / "archive" / base::file::anchor, bin, 2); });
        const std::string of = program.name + ", 16 ranks, 100 million events, two threads: ";
        rows.add({.name = of + "time", .unit = "s"}, static_cast<double>(base::now_ns() - begin_ns) / 1e9,
                 testing::at_most(60.0));
        rows.add({.name = of + "most memory", .unit = "MB"}, mb, testing::at_most(100.0));
    }
}

}  // namespace

int main(int argc, char** argv)
try {
    std::string bin = CROSSTALK_BIN;
    std::string write;
    std::int64_t events = 7'000'000;
    int ranks = 16;
    bool large = false;
    base::Options options{"programs-bench", "what trace-waits, trace-path and trace-cube cost as users run them"};
    options.add("bin", bin, "the folder of the programs", "DIR");
    options.add_switch("large", large, "measure only archives of 100 million events, once: time and memory");
    options.add("write", write, "write an archive of --ranks and --events, and measure nothing", "DIR");
    options.add("ranks", ranks, "ranks of the archives", "N");
    options.add("events", events, "events of the archives", "N");
    if (!options.parse(argc, argv)) return base::exit_fine;
    if (!write.empty()) {
        bench::write_archive(write, {.ranks = static_cast<std::uint32_t>(ranks),
                                     .events = static_cast<std::uint64_t>(events),
                                     .numbered = false});
        return base::exit_fine;
    }
    const bool quick = base::environment("CROSSTALK_BENCH_QUICK").has_value();
    testing::BenchRows rows{large ? "programs-bench large" : "programs-bench"};
    if (large) {
        if (quick) return 0;  // 650 MB take longer to write
        measure_large(bin, rows);
        return base::exit_fine;
    }
    constexpr std::size_t pairs = 15;
    for (const std::uint32_t some : {2U, 16U}) {
        const Shape shape{
            .ranks = some, .events = static_cast<std::uint64_t>(quick ? 2'000'000 : events), .numbered = false};
        const testing::Scratch scratch;
        testing::peak_mb([&] { bench::write_archive(scratch / "archive", shape); });
        for (const Program& program : programs)
            measure(program, shape, scratch / "archive" / base::file::anchor, bin, pairs, rows);
    }
    return base::exit_fine;
} catch (...) {
    return base::report_failure("programs-bench");
}
