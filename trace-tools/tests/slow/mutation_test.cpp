// SPDX-License-Identifier: Apache-2.0
// Hundreds of mutated archives (thousands at night), read in child processes. Each must end with an answer, an error of
// one line, or a crash inside OTF2 that is caught. Reproducible: a mutation follows from its number.
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/random.hpp"
#include "base/system/environment.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/read/confined.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/profile/summary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fcntl.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace fs = std::filesystem;

// The address range of this program's code, from the linker.
extern "C" {
extern const char __executable_start;
extern const char etext;
}

namespace {

// Number of mutations per archive.
const std::size_t mutations_of_each = std::stoul(base::environment("CROSSTALK_MUTATIONS").value_or("40"));

// Outcomes of reading a mutated archive; also exit codes of the child process.
enum Ending : int { answered = 40, refused = 41, unclear = 42, crash_of_otf2 = 43, crash_of_ours = 44 };

bool is_ours(const void* address)
{
    return address >= &__executable_start && address < &etext;
}

void on_crash(int signal, siginfo_t*, void* context)
{
    const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    const auto* at = reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
#else
    const auto* at = reinterpret_cast<const void*>(machine.pc);
#endif
    std::_Exit(signal != SIGABRT && is_ours(at) ? crash_of_ours : crash_of_otf2);
}

// Attributes an invalid access that a sanitizer reports to OTF2 if one of the two innermost frames is OTF2's (the other
// may be the memcpy that it called).
[[maybe_unused]] void on_report(const char* text)
{
    const char* const third = std::strstr(text, "\n    #2 ");
    const char* const library = std::strstr(text, "libopen-trace-format2");
    std::_Exit(library != nullptr && (third == nullptr || library < third) ? crash_of_otf2 : crash_of_ours);
}

void tell_crashes_apart()
{
    struct sigaction action {};
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigaction(signal, &action, nullptr);
#if defined(__SANITIZE_ADDRESS__)
    __asan_set_error_report_callback(on_report);
    ::dup2(::open("/dev/null", O_WRONLY), 2);
#endif
}

// Reads the archive as trace-info does.
Ending read_all(const fs::path& anchor, bool in_order)
{
    try {
        otf2::Reader reader{anchor};
        otf2::Profile profile{reader.archive()};
        if (in_order)
            reader.read(profile);
        else
            reader.read_by_location(profile);
        profile.finish();
        std::ostringstream out;
        const otf2::Summary summary = otf2::summary(reader, profile);
        otf2::write_text(out, summary);
        otf2::write_json(out, summary);
        return answered;
    } catch (const base::Error& error) {
        const std::string line = error.what();
        return line.starts_with("cannot read trace ") && line.find('\n') == std::string::npos ? refused : unclear;
    } catch (const std::bad_alloc&) {
        return refused;  // "out of memory"
    }
}

// A copy of an archive to be damaged.
class Victim {
 public:
    explicit Victim(const fs::path& original)
    {
        fs::copy(original, scratch_ / "trace", fs::copy_options::recursive);
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator{scratch_ / "trace"}) {
            fs::permissions(entry.path(), fs::perms::owner_all, fs::perm_options::add);
            const fs::path kind = entry.path().extension();
            if (kind == ".otf2" || kind == ".def" || kind == ".evt")
                files_.emplace_back(entry.path(), base::read_whole(entry.path()));
        }
        std::sort(files_.begin(), files_.end());
    }

    Ending read_mutation(std::size_t number)
    {
        base::Random random = base::random_stream(1, number);
        const fs::path anchor = scratch_ / "trace/traces.otf2";
        const fs::path definitions = scratch_ / "trace/traces.def";
        const bool of_all = base::draw_below(random, 2) == 0;
        const bool of_anchor = base::draw_below(random, 2) == 0;
        const std::size_t drawn = base::draw_below(random, files_.size());
        const auto file = of_all ? files_.begin() + static_cast<std::ptrdiff_t>(drawn)
                                 : std::find_if(files_.begin(), files_.end(), [&](const auto& one) {
                                       return one.first == (of_anchor ? anchor : definitions);
                                   });
        std::string bytes = file->second;
        for (std::uint64_t left = 1 + base::draw_below(random, 3); left > 0; --left) testing::mutate(bytes, random);
        std::ofstream{file->first, std::ios::binary} << bytes;
        const Ending ending = read_all(anchor, number % 2 == 0);
        std::ofstream{file->first, std::ios::binary} << file->second;
        return ending;
    }

 private:
    testing::Scratch scratch_;
    std::vector<std::pair<fs::path, std::string>> files_;
};

// Memory shared by parent and child.
struct Shared {
    std::size_t next = 0;  // number of a mutation
    std::array<int, 64> counts{};
};

// Reads mutations of an archive in a child process, which is replaced after a crash. Returns the number of each Ending.
std::array<int, 64> endings(const fs::path& original)
{
    void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    Shared& shared = *new (memory) Shared;
    while (shared.next < mutations_of_each) {
        Victim victim{original};
        const auto work = [&]() -> int {
            tell_crashes_apart();
            while (shared.next < mutations_of_each) {
                otf2::getting_on();
                const Ending ending = victim.read_mutation(shared.next++);
                if (ending == unclear) std::_Exit(ending);
                ++shared.counts.at(ending);
            }
            std::_Exit(0);
        };
        int ending = crash_of_otf2;
        try {
            ending = otf2::confined("mutation", {.stuck_s = 2.0}, work);
        } catch (const base::Error& error) {
            MESSAGE("mutation ", shared.next - 1, " of ", original.string(), ": ", std::string{error.what()});
        }
        if (ending == 0) continue;
        if (ending != crash_of_otf2)
            MESSAGE("mutation ", shared.next - 1, " of ", original.string(), " ended with ", ending);
        ++shared.counts.at(static_cast<std::size_t>(ending));
    }
    const std::array<int, 64> counts = shared.counts;
    ::munmap(memory, sizeof(Shared));
    std::cout << original.string() << ": " << counts[answered] << " answers, " << counts[refused] << " refusals, "
              << counts[crash_of_otf2] << " crashes of OTF2\n";
    return counts;
}

void check_mutations(const fs::path& archive)
{
    const std::array<int, 64> counts = endings(archive);
    CHECK(counts[answered] + counts[refused] + counts[crash_of_otf2] == static_cast<int>(mutations_of_each));
    CHECK(counts[answered] > 0);
    CHECK(counts[refused] > 0);
}

void check_mutations_of_real(const std::string& name)
{
    const fs::path archive = fs::path{CROSSTALK_SOURCE} / "../shared/traces" / name;
    if (fs::exists(archive))
        check_mutations(archive);
    else
        testing::skip("no real archives in ../shared/traces");
}

}  // namespace

TEST_CASE("mutations of an MPI archive end with an answer or one clear line")
{
    check_mutations_of_real("casita-4_mpi_ls_barr");
}

TEST_CASE("mutations of a CUDA archive end with an answer or one clear line")
{
    check_mutations_of_real("casita-2_cuda_simple");
}

TEST_CASE("mutations of an archive with counters end with an answer or one clear line")
{
    check_mutations_of_real("pipit-ping-pong-papi");
}

TEST_CASE("mutations of our own archive end with an answer or one clear line")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    const otf2::RegionRef region = recorder.region("step");
    const otf2::MetricRef metric = recorder.metric("rate", "B/s", otf2::Type::real);
    for (const char* name : {"one", "two"}) {
        otf2::LocationRecorder& location = recorder.location(name);
        for (int i = 0; i < 50; ++i) {
            location.enter(region, 1000 + 10 * i);
            location.metric(metric, 0.5 * i, 1003 + 10 * i);
            location.leave(region, 1005 + 10 * i);
        }
    }
    recorder.property("crosstalk::seed", "17");
    recorder.finish();
    check_mutations(scratch / "trace");
}
