// SPDX-License-Identifier: Apache-2.0
// GB/s of each shape of memory.stream compared with the same loop written by hand, of the best shape with the best
// loop, and with the kernels of likwid-bench and stress-ng if they are installed: interleaved pairs on one core.
#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "noisegen/bench/hand_loops.hpp"
#include "noisegen/stressors/footprint.hpp"
#include "noisegen/stressors/memory/stream_kernels.hpp"
#include "noisegen/stressors/pages.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <regex>

namespace {

using noisegen::hand::HandLoops;

struct Bench {
    int pairs = 21;
    int peer_pairs = 15;
    base::Nanoseconds window{200'000'000};
    // Hand loops are compared by the thread's CPU time, so that other processes on the core matter less; other tools
    // report wall time.
    std::int64_t (*clock)() = base::thread_cpu_ns;
    base::Bytes bytes;
    int cpu = 0;
    std::vector<std::string> shapes;
};

// GB/s of work(), which returns bytes, when repeated during the window.
template <class DoWork>
double speed(const Bench& bench, DoWork&& work)
{
    std::size_t bytes = 0;
    const std::int64_t begin = bench.clock();
    std::int64_t now = begin;
    for (; now - begin < bench.window.count(); now = bench.clock()) bytes += work();
    return static_cast<double>(bytes) / static_cast<double>(now - begin);
}

class OurShape {
 public:
    OurShape(const Bench& bench, const std::string& shape) : bench_{bench}
    {
        const noisegen::StressorCard& card = noisegen::stressors().find("memory.stream");
        noisegen::Place place;
        place.cpu = bench.cpu;
        stressor_ = card.make(
            noisegen::stressors().settings(card, {{"shape", shape}, {"bytes", base::format(bench.bytes)}}), place);
        stressor_->begin({});
    }
    double operator()() const
    {
        return speed(bench_, [&] { return stressor_->step().bytes; });
    }

 private:
    Bench bench_;
    std::unique_ptr<noisegen::Stressor> stressor_;
};

class HandShape {
 public:
    HandShape(const Bench& bench, const std::string& shape, noisegen::hand::Loop loop)
        : bench_{bench},
          shape_{noisegen::stream_shape(shape)},
          loop_{loop},
          items_{static_cast<std::size_t>(bench.bytes.count) / (shape_.arrays * sizeof(double)) / noisegen::page_items *
                 noisegen::page_items},
          pages_{static_cast<std::size_t>(bench.bytes.count)}
    {
        pages_.fill(1.0);
    }
    double operator()() const
    {
        double* const a = static_cast<double*>(pages_.data());
        const double* const b = shape_.arrays > 1 ? a + items_ : a;
        const double* const c = shape_.arrays > 2 ? b + items_ : b;
        return speed(bench_, [&] {
            loop_(a, b, c, items_);
            const bool all = shape_.name != "partial";
            return (all ? items_ : items_ / noisegen::page_items * noisegen::hand::partial_columns) *
                   shape_.bytes_per_item;
        });
    }

 private:
    Bench bench_;
    const noisegen::StreamShape& shape_;
    noisegen::hand::Loop loop_;
    std::size_t items_;
    noisegen::Pages pages_;
};

testing::Paired in_turns(int pairs, const OurShape& ours, const std::function<double()>& beside)
{
    return testing::measure_in_pairs(static_cast<std::size_t>(pairs), std::cref(ours), beside);
}

void row(const std::string& ours, const std::string& beside, const testing::Paired& paired)
{
    std::cout << "| " << ours << " | " << paired.first.text() << " | " << beside << " | " << paired.second.text()
              << " | " << paired.ratio.text() << " |\n"
              << std::flush;
}

void not_shown(const std::string& ours, const std::string& beside, const std::string& why)
{
    std::cout << "| " << ours << " | | " << beside << " | | not shown: " << why << " |\n" << std::flush;
}

// The fastest of the hand loops of a shape by median; the loops are measured in turn.
const HandLoops& fastest(const Bench& bench, const std::string& shape, const std::vector<HandLoops>& all)
{
    if (shape == "partial") return all.front();  // does not use vectors
    std::map<double, const HandLoops*> by_speed;
    for (const HandLoops& hand : all) {
        const HandShape candidate{bench, shape, hand.loops.at(shape)};
        std::vector<double> turns;
        for (int turn = 0; turn < 6; ++turn) turns.push_back(candidate());
        by_speed[testing::median(turns).value] = &hand;
    }
    return *by_speed.rbegin()->second;
}

void against_hand_loops(const Bench& bench)
{
    const std::vector<HandLoops> all = noisegen::hand::hand_loops();
    struct Best {
        std::string name;
        double speed = 0.0;
        void take(const std::string& candidate, double its_speed)
        {
            if (its_speed > speed) *this = {candidate, its_speed};
        }
    };
    Best ours;
    Best by_hand;
    std::map<std::string, const HandLoops*> chosen;
    for (const std::string& shape : bench.shapes) {
        const HandLoops& hand = *(chosen[shape] = &fastest(bench, shape, all));
        const OurShape our{bench, shape};
        const HandShape bare{bench, shape, hand.loops.at(shape)};
        const testing::Paired paired = in_turns(bench.pairs, our, std::cref(bare));
        row(shape, "the same by hand, " + hand.unit, paired);
        ours.take(shape, paired.first.value);
        by_hand.take(shape, paired.second.value);
    }
    const HandLoops& hand = *chosen.at(by_hand.name);
    const OurShape our{bench, ours.name};
    const HandShape bare{bench, by_hand.name, hand.loops.at(by_hand.name)};
    row("best shape: " + ours.name, "best by hand: " + by_hand.name + ", " + hand.unit,
        in_turns(bench.pairs, our, std::cref(bare)));
}

bool installed(const std::string& program)
{
    return testing::run({"sh", "-c", "command -v " + program}).status == 0;
}

// Output of another program bound to this core. Throws Error if it does not work here.
std::string printed(const Bench& bench, std::vector<std::string> words)
{
    words.insert(words.begin(), {"taskset", "-c", std::to_string(bench.cpu)});
    const testing::Outcome outcome = testing::run(words);
    if (outcome.status != 0) base::fail(words.at(3), " ended with ", outcome.status);
    return outcome.out + outcome.err;
}

// The largest number that the pattern's first group matches, times `unit`.
double largest(const std::string& text, const std::string& pattern, double unit)
{
    double most = 0.0;
    const std::regex regex{pattern};
    for (std::sregex_iterator found{text.begin(), text.end(), regex}; found != std::sregex_iterator{}; ++found)
        most = std::max(most, std::strtod((*found)[1].str().c_str(), nullptr) * unit);
    if (most == 0.0) base::fail("its output has no such figure");
    return most;
}

struct Peer {
    std::string program;
    std::string kernel;
    std::string shape;  // the corresponding shape of memory.stream
    std::function<double()> speed;
};

std::vector<Peer> likwid(const Bench& bench)
{
    std::string width = noisegen::stream_loops().front().unit;
    width = width == "avx2" ? "avx" : width == "sse2" ? "sse" : width;
    const std::string size = std::to_string(bench.bytes.count / 1'000'000) + "MB";
    std::vector<Peer> peers;
    for (const auto& [kernel, shape] : std::vector<std::pair<std::string, std::string>>{{"update_", "update"},
                                                                                        {"stream_mem_", "triad"},
                                                                                        {"copy_mem_", "copy"},
                                                                                        {"load_", "read"},
                                                                                        {"store_mem_", "ntwrite"}}) {
        const std::string test = kernel + width;
        peers.push_back(
            {"likwid-bench", test, shape, [&bench, test, size] {
                 const std::string text = printed(bench, {"likwid-bench", "-t", test, "-w", "N:" + size + ":1"});
                 return largest(text, R"(MByte/s:\s+([0-9.]+))", 1e-3);
             }});
    }
    return peers;
}

// stress-ng counts in MiB. Its kernels with ordinary stores do not count the lines that are read for the store, so
// their result is doubled.
std::vector<Peer> stress_ng(const Bench& bench)
{
    constexpr double gb = 1.048576e-3;
    const auto memrate = [&bench](const std::string& methods, double unit) {
        return [&bench, methods, unit] {
            const std::string text = printed(bench, {"stress-ng", "--memrate", "1", "--memrate-bytes",
                                                     std::to_string(bench.bytes.count), "-t", "5", "--metrics"});
            return largest(text, "([0-9.]+) " + methods + " MB per sec", unit);
        };
    };
    const auto stream = [&bench] {
        // stress-ng uses three arrays of four times the cache size that it is given.
        const std::string text = printed(bench, {"stress-ng", "--stream", "1", "--stream-l3-size",
                                                 std::to_string(bench.bytes.count / 12), "-t", "5", "--metrics"});
        return largest(text, "([0-9.]+) MB read/sec", gb) + largest(text, "([0-9.]+) MB write/sec", gb);
    };
    return {
        {"stress-ng", "memrate, its best read", "read", memrate(R"(read\w+)", gb)},
        {"stress-ng", "memrate, its best write past the caches", "ntwrite", memrate(R"(write\w+nt)", gb)},
        {"stress-ng", "memrate, its best write through the caches, twice", "write", memrate(R"(write\d+)", 2.0 * gb)},
        {"stress-ng", "stream, reads and writes", "triad", stream}};
}

void against_peers(const Bench& bench, const std::vector<Peer>& peers)
{
    for (const Peer& peer : peers) {
        if (std::find(bench.shapes.begin(), bench.shapes.end(), peer.shape) == bench.shapes.end()) continue;
        const std::string name = peer.program + " " + peer.kernel;
        if (!installed(peer.program)) {
            not_shown(peer.shape, name, peer.program + " is not installed");
            continue;
        }
        try {
            Bench longer = bench;  // a run of the other tools takes about a second, too
            longer.window = std::chrono::seconds{1};
            longer.clock = base::now_ns;
            const OurShape our{longer, peer.shape};
            row(peer.shape, name, in_turns(bench.peer_pairs, our, peer.speed));
        } catch (const base::Error& error) {
            not_shown(peer.shape, name, error.what());
        }
    }
}

}  // namespace

int main(int argc, char** argv)
try {
    Bench bench;
    bench.cpu = *base::allowed_cpus().rbegin();
    const noisegen::Cache cache = noisegen::last_level_cache(bench.cpu);
    bench.bytes = {4 * cache.size.count};
    base::Options options{"memory-bench", "memory.stream against hand loops and other tools, in interleaved pairs"};
    options.add("pairs", bench.pairs, "number of pairs with each hand loop");
    options.add("peer-pairs", bench.peer_pairs, "number of pairs with each other tool, some seconds each; 0: none");
    options.add("window", bench.window, "length of one measurement");
    options.add("bytes", bench.bytes, "bytes of memory on each side");
    options.add_positional("shape", bench.shapes, "shapes of memory.stream (default: all)", 0);
    if (!options.parse(argc, argv)) return 0;
    for (const std::string& shape : bench.shapes) noisegen::stream_shape(shape);  // throws for an unknown shape
    if (bench.shapes.empty()) bench.shapes = noisegen::stream_shapes();
    base::bind_this_thread({bench.cpu});
    std::cout << "CPU " << bench.cpu << ", last-level cache " << base::format(cache.size) << ", "
              << base::format(bench.bytes) << " of memory each; GB/s, medians with their 95 % intervals\n\n"
              << "| memory.stream | GB/s | beside it | GB/s | ratio |\n|---|---|---|---|---|\n";
    against_hand_loops(bench);
    if (bench.peer_pairs == 0) return 0;
    against_peers(bench, likwid(bench));
    against_peers(bench, stress_ng(bench));
} catch (...) {
    return base::report_failure("memory-bench");
}
