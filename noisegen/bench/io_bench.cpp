// SPDX-License-Identifier: Apache-2.0
// Compares I/O stressors with the best engine of fio on the same file and CPU, and metadata stressors with bare loops
// in a fresh directory, in interleaved pairs. Takes about ten minutes.
#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "base/system/available.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "noisegen/cli/commands.hpp"
#include "noisegen/stressors/io/many_files.hpp"
#include "testing/made_stressor.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"

#include <nlohmann/json.hpp>

#include <iostream>
#include <map>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using testing::Made;

constexpr std::size_t pairs = 31;
constexpr std::size_t files = 4000;

void show(const std::string& what, const testing::Paired& paired, const std::string& unit, const std::string& peer)
{
    std::cout << what << ": " << paired.first.text() << " " << unit << "; " << peer << " " << paired.second.text()
              << " " << unit << "; ratio " << paired.ratio.text() << std::endl;
}

void not_shown(const std::string& what, const std::string& why)
{
    std::cout << what << ": not shown, " << why << std::endl;
}

int cpu()
{
    static const int last = *base::allowed_cpus().rbegin();
    return last;
}

// ---- transfers, compared with fio

struct Kind {
    std::string stressor;
    std::string fio;  // value of fio's --rw
    std::string block;
    std::string depth;
    bool operations = false;  // true: compares operations/s; false: MB/s
    std::int64_t seconds = 2;
    std::size_t pairs = ::pairs;
};

double speed_of(const Kind& kind, double bytes, double operations, double seconds)
{
    return kind.operations ? operations / seconds : bytes / seconds * 1e-6;
}

double speed(noisegen::Stressor& stressor, const Kind& kind)
{
    noisegen::Work work;
    const std::int64_t begin = base::now_ns();
    const std::int64_t end = begin + kind.seconds * 1'000'000'000;
    stressor.begin({.deadline_ns = end, .bytes_per_s = 0.0, .operations_per_s = 0.0});
    while (base::now_ns() < end) {
        const noisegen::Work some = stressor.step();
        work.bytes += some.bytes;
        work.operations += some.operations;
        if (some.rest_until_ns > 0) base::sleep_until_ns(some.rest_until_ns);
    }
    stressor.end();
    const double seconds = static_cast<double>(base::now_ns() - begin) * 1e-9;
    return speed_of(kind, static_cast<double>(work.bytes), static_cast<double>(work.operations), seconds);
}

// The stressor's file has no name, but a path in /proc/self/fd, since this process has it open.
std::string path_of_unnamed_file(const fs::path& directory)
{
    for (const auto& entry : fs::directory_iterator{"/proc/self/fd"}) {
        std::error_code gone;
        const std::string target = fs::read_symlink(entry.path(), gone);
        if (target.starts_with(directory.string() + "/") && target.ends_with(" (deleted)"))
            return base::join("/proc/", ::getpid(), "/fd/", entry.path().filename().string());
    }
    base::fail("no unnamed file in ", directory.string());
}

double fio_speed(const Kind& kind, const std::string& file, const std::string& engine)
{
    const testing::Outcome outcome = testing::run(
        {"fio", "--name=peer", "--filename=" + file, "--size=256M", "--rw=" + kind.fio, "--rwmixread=50",
         "--bs=" + kind.block, "--iodepth=" + kind.depth, "--ioengine=" + engine, "--direct=1", "--time_based",
         "--runtime=" + std::to_string(kind.seconds), "--norandommap", "--gtod_reduce=1", "--fallocate=none",
         "--allow_file_create=0", "--cpus_allowed=" + std::to_string(cpu()), "--output-format=json"});
    const std::size_t json = outcome.out.find('{');
    if (outcome.status != 0 || json == std::string::npos) base::fail("fio: ", outcome.err, outcome.out);
    const auto job = nlohmann::json::parse(outcome.out.substr(json)).at("jobs").at(0);
    const auto both = [&job](const char* what) {
        return job.at("read").at(what).get<double>() + job.at("write").at(what).get<double>();
    };
    return speed_of(kind, both("bw_bytes"), both("iops"), 1.0);
}

void compare_with_fio(const Kind& kind, const fs::path& directory)
{
    const std::string what = base::join(kind.stressor, " ", kind.block, ", depth ", kind.depth);
    if (testing::run({"sh", "-c", "command -v fio"}).status != 0) {
        not_shown(what, "fio is not installed");
        return;
    }
    const Made made{kind.stressor, {{"directory", directory}, {"block", kind.block + "iB"}, {"depth", kind.depth}}};
    const std::string file = path_of_unnamed_file(directory);
    speed(*made.stressor, kind);  // writes the whole file
    std::string best;
    double best_speed = 0.0;
    for (const std::string engine : {"io_uring", "libaio", "psync"}) {
        const double found = fio_speed(kind, file, engine);
        std::cout << "  fio " << kind.fio << " " << engine << ": " << found << std::endl;
        if (found <= best_speed) continue;
        best_speed = found;
        best = engine;
    }
    const testing::Paired paired = testing::measure_in_pairs(
        kind.pairs, [&] { return speed(*made.stressor, kind); }, [&] { return fio_speed(kind, file, best); });
    show(what, paired, kind.operations ? "operations/s" : "MB/s", "fio " + best);
    std::cout << "  " << made.stressor->note() << std::endl;
}

// ---- metadata, compared with bare loops

class FreshDirectory {
 public:
    explicit FreshDirectory(const fs::path& directory) : scratch_{directory} {}
    int descriptor() const { return scratch_.descriptor(); }

 private:
    noisegen::ScratchDirectory scratch_;
};

const noisegen::FileNames& names()
{
    static const noisegen::FileNames all{files};
    return all;
}

void create(int directory, std::size_t index)
{
    ::close(::openat(directory, names()[index], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

// Thousands of steps per second. Stops early after some time: creating a file may take some microseconds or more than a
// millisecond, depending on the file system's previous work.
template <class Step>
double thousands(std::size_t count, Step&& step)
{
    constexpr std::int64_t long_enough_ns = 400'000'000;
    std::size_t done = 0;
    const std::int64_t begin = base::now_ns();
    std::int64_t now = begin;
    for (; done < count && now - begin < long_enough_ns; now = base::now_ns()) done += step(done);
    return static_cast<double>(done) * 1e6 / static_cast<double>(now - begin);
}

double stressor_speed(noisegen::Stressor& stressor, std::size_t operations)
{
    return thousands(operations, [&](std::size_t) { return stressor.step().operations; });
}

// Calls `some(i)` for i below `count`, and reads the clock from time to time.
template <class Some>
double bare_speed(std::size_t count, Some&& some)
{
    constexpr std::size_t portion = 20;
    return thousands(count, [&](std::size_t done) {
        const std::size_t end = std::min(count, done + portion);
        for (std::size_t i = done; i < end; ++i) some(i);
        return end - done;
    });
}

std::map<std::string, std::string> metadata_options(const fs::path& directory, std::size_t count)
{
    return {{"directory", directory}, {"files", std::to_string(count)}};
}

double bare_create(const fs::path& directory)
{
    const FreshDirectory fresh{directory};
    return bare_speed(files, [&](std::size_t i) { create(fresh.descriptor(), i); });
}

void compare_create(const fs::path& directory)
{
    constexpr std::size_t room = files + 1000;  // the stressor stays in its first directory
    const testing::Paired fresh = testing::measure_in_pairs(
        pairs,
        [&] {
            const Made made{"metadata.create", metadata_options(directory, room)};
            return stressor_speed(*made.stressor, files);
        },
        [&] { return bare_create(directory); });
    show("metadata.create in its first directory", fresh, "k/s", "bare loop");
    constexpr std::size_t few = 200;
    const testing::Paired later = testing::measure_in_pairs(
        pairs,
        [&] {
            const Made made{"metadata.create", metadata_options(directory, few)};
            while (made.stressor->step().operations > 0 &&
                   made.stressor->note().find(" 1 begun") != std::string::npos) {
            }
            return stressor_speed(*made.stressor, files);
        },
        [&] { return bare_create(directory); });
    show("metadata.create from its second directory on (an unlink with each, not counted)", later, "k/s", "bare loop");
}

void compare_stat(const fs::path& directory)
{
    constexpr std::size_t looks = 400'000;
    constexpr std::size_t some = 1000;
    const Made made{"metadata.stat", metadata_options(directory, some)};
    const FreshDirectory fresh{directory};
    for (std::size_t i = 0; i < some; ++i) create(fresh.descriptor(), i);
    struct stat status {};
    const testing::Paired paired = testing::measure_in_pairs(
        pairs, [&] { return stressor_speed(*made.stressor, looks); },
        [&] {
            return bare_speed(looks, [&](std::size_t i) {
                ::fstatat(fresh.descriptor(), names()[i % some], &status, AT_SYMLINK_NOFOLLOW);
            });
        });
    show("metadata.stat", paired, "k/s", "bare loop");
}

double bare_unlink(const fs::path& directory, std::size_t count)
{
    const FreshDirectory fresh{directory};
    for (std::size_t i = 0; i < count; ++i) create(fresh.descriptor(), i);
    return bare_speed(count, [&](std::size_t i) { ::unlinkat(fresh.descriptor(), names()[i], 0); });
}

// Repeatedly removes a hundred links to one file and creates them again.
double bare_unlink_and_link(const fs::path& directory, std::size_t count, std::size_t times)
{
    constexpr std::size_t portion = 100;
    const FreshDirectory fresh{directory};
    const int where = fresh.descriptor();
    ::close(::openat(where, "file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    for (std::size_t i = 0; i < count; ++i) ::linkat(where, "file", where, names()[i], 0);
    return thousands(times, [&](std::size_t done) {
        for (std::size_t i = done; i < done + portion; ++i) ::unlinkat(where, names()[i % count], 0);
        for (std::size_t i = done; i < done + portion; ++i) ::linkat(where, "file", where, names()[i % count], 0);
        return portion;
    });
}

void compare_unlink(const fs::path& directory)
{
    constexpr std::size_t some = 1000;
    constexpr std::size_t times = 100 * some;
    const Made made{"metadata.unlink", metadata_options(directory, some)};
    const auto ours = [&] { return stressor_speed(*made.stressor, times); };
    show("metadata.unlink, which puts the names back",
         testing::measure_in_pairs(pairs, ours, [&] { return bare_unlink_and_link(directory, some, times); }), "k/s",
         "bare loop that does so too");
    show("metadata.unlink, which puts the names back",
         testing::measure_in_pairs(pairs, ours, [&] { return bare_unlink(directory, some); }), "k/s",
         "bare loop over files made beforehand, whose making is not timed");
}

// Time that the end of noisegen takes to remove its files.
void show_removal(const fs::path& directory)
{
    for (const std::size_t count : {std::size_t{2000}, std::size_t{8000}}) {
        auto made = std::make_unique<Made>("metadata.stat", metadata_options(directory, count));
        const std::int64_t begin = base::now_ns();
        made.reset();
        std::cout << "removal of " << count << " files: " << (base::now_ns() - begin) / 1'000'000 << " ms" << std::endl;
    }
}

void write_blocks(const fs::path& directory)
{
    compare_with_fio({.stressor = "io.write", .fio = "write", .block = "1M", .depth = "8"}, directory);
}

void read_blocks(const fs::path& directory)
{
    compare_with_fio({.stressor = "io.read", .fio = "read", .block = "1M", .depth = "8"}, directory);
}

// Uses many short pairs, since the disk's speed changes from second to second.
void both_at_random(const fs::path& directory)
{
    compare_with_fio({.stressor = "io.random",
                      .fio = "randrw",
                      .block = "4K",
                      .depth = "64",
                      .operations = true,
                      .seconds = 1,
                      .pairs = 101},
                     directory);
}

}  // namespace

int main(int argc, char** argv)
try {
    // As guardian, removes the files even if the benchmark is killed.
    if (const auto duty = noisegen::asked_to_guard(argc, argv)) return noisegen::guard(*duty, argv[2]);
    std::vector<std::pair<std::string, void (*)(const fs::path&)>> parts{
        {"create", compare_create}, {"stat", compare_stat}, {"unlink", compare_unlink}, {"removal", show_removal},
        {"write", write_blocks},    {"read", read_blocks},  {"random", both_at_random}};
    std::string directory = "/tmp";
    base::Options options{"io-bench", "noisegen's I/O and metadata stressors against fio and bare loops"};
    options.add_parts("part", parts);
    options.add("directory", directory, "directory of the files");
    if (!options.parse(argc, argv)) return 0;
    if (base::in_memory(directory)) std::cout << directory << " is in memory: no disk is measured\n";
    base::bind_this_thread({cpu()});
    for (const auto& [name, compare] : parts) compare(directory);
} catch (...) {
    return base::report_failure("io-bench");
}
