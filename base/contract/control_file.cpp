// SPDX-License-Identifier: Apache-2.0
#include "base/contract/control_file.hpp"

#include "base/contract/run_directory.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/clock.hpp"
#include "base/system/mapped_page.hpp"
#include "base/system/processes.hpp"

#include <algorithm>
#include <climits>
#include <ctime>
#include <map>
#include <utility>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace base {

namespace {

constexpr std::size_t page_bytes = 4096;

constexpr unsigned pid_bits = 22;  // the kernel's PID_MAX_LIMIT

pid_t pid_of(std::uint64_t entry)
{
    return static_cast<pid_t>(entry & ((std::uint64_t{1} << pid_bits) - 1));
}

bool is_alive(std::uint64_t entry)
{
    const pid_t pid = pid_of(entry);
    if (pid == 0) return false;
    const std::map<pid_t, Process> found = processes({pid});
    return !found.empty() && found.begin()->second.started == entry >> pid_bits;
}

}  // namespace

ControlRequest request(const ControlPage& page, std::int64_t now_ns)
{
    if (page.on_until_ns.load(std::memory_order_acquire) <= now_ns) return ControlRequest::none;
    return static_cast<ControlRequest>(page.request.load(std::memory_order_relaxed));
}

bool is_checkpoint(ControlRequest request)
{
    return request == ControlRequest::checkpoint || request == ControlRequest::checkpoint_async;
}

ControlRequest new_checkpoint(const ControlPage& page, std::int64_t now_ns, std::int64_t& slot_end_ns)
{
    const ControlRequest asked = request(page, now_ns);
    if (!is_checkpoint(asked)) return ControlRequest::none;
    const std::int64_t end_ns = page.slot_end_ns.load(std::memory_order_relaxed);
    return std::exchange(slot_end_ns, end_ns) == end_ns ? ControlRequest::none : asked;
}

ControlRequest request_for_next_step(const ControlPage& page, std::int64_t now_ns, std::int64_t last_plain_ns,
                                     bool this_is_controlled, std::int64_t delay_ns, std::int64_t steps_ahead)
{
    const std::int64_t control_ns = control_settle_ns + delay_ns;
    const std::int64_t controlled = this_is_controlled ? steps_ahead + 1 : 1;
    const std::int64_t ends_ns = now_ns + (steps_ahead + 1) * last_plain_ns + controlled * control_ns;
    const bool fits = last_plain_ns != 0 && ends_ns <= page.slot_end_ns.load(std::memory_order_relaxed);
    const ControlRequest asked = fits ? request(page, now_ns) : ControlRequest::none;
    return asked == ControlRequest::delay || asked == ControlRequest::sham ? asked : ControlRequest::none;
}

void publish_phase(ControlPage& page, TrainingPhase phase, std::int64_t at_ns)
{
    page.updated_ns.store(at_ns, std::memory_order_release);
    page.phase.store(static_cast<std::uint32_t>(phase));  // first: a sleeper sets followed_until_ns, then compares
    if (page.followed_until_ns.load() <= at_ns) return;
    ::syscall(SYS_futex, &page.phase, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

TrainingPhase sleep_on_phase(ControlPage& page, TrainingPhase seen, std::int64_t deadline_ns)
{
    constexpr std::int64_t second_ns = 1'000'000'000;
    constexpr std::int64_t longest_ns = 50'000'000;  // bounds the sleep: a killed training wakes no sleeper
    const std::int64_t now = now_ns();
    if (page.followed_until_ns.load() < now + second_ns) page.followed_until_ns.store(now + 2 * second_ns);
    const std::int64_t rest = std::clamp<std::int64_t>(deadline_ns - now, 0, longest_ns);
    const timespec patience{rest / second_ns, rest % second_ns};
    ::syscall(SYS_futex, &page.phase, FUTEX_WAIT, static_cast<std::uint32_t>(seen), &patience, nullptr, 0);
    return static_cast<TrainingPhase>(page.phase.load(std::memory_order_acquire));
}

std::set<pid_t> training_processes(const ControlPage& page)
{
    std::set<pid_t> alive;
    for (const auto& slot : page.processes)
        if (const std::uint64_t entry = slot.load(); is_alive(entry)) alive.insert(pid_of(entry));
    return alive;
}

TrainingProcess::TrainingProcess(ControlPage& page)
{
    const pid_t me = ::getpid();
    const std::map<pid_t, Process> own = processes({me});
    if (own.empty()) return;  // /proc is not mounted
    const std::uint64_t entry = own.at(me).started << pid_bits | static_cast<std::uint64_t>(me);
    for (auto& slot : page.processes) {
        std::uint64_t taken = slot.load();
        if (is_alive(taken) || !slot.compare_exchange_strong(taken, entry)) continue;
        slot_ = &slot;
        return;
    }
}

TrainingProcess::~TrainingProcess()
{
    if (slot_ != nullptr) slot_->store(0);
}

ControlFile ControlFile::open(const std::filesystem::path& run, const std::string& host)
{
    const std::filesystem::path path = run / part::control / host;
    refuse_link(path.parent_path());
    std::filesystem::create_directories(path.parent_path());
    const Descriptor file =
        check_errno(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644), "open ", path.string());
    struct stat status {};
    void* memory = MAP_FAILED;
    check_errno(::fstat(file, &status), "look at ", path.string());
    // The file names the processes that control.pause stops. If root read another user's file, that user could have any
    // process stopped.
    if (::geteuid() == 0 && status.st_uid != 0) fail(path.string(), " belongs to another user: root does not use it");
    const bool other_size = status.st_size != 0 && status.st_size != page_bytes;
    int why = 0;
    // Allocates the blocks, too: on a full disk the first store to a hole would be a bus error.
    if (!other_size) why = ::posix_fallocate(file, 0, page_bytes);
    if (!other_size && why == 0) {
        memory = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        why = errno;
    }
    if (other_size) fail(path.string(), " is not a control file");
    if (memory == MAP_FAILED) throw std::system_error{why, std::generic_category(), "cannot map " + path.string()};

    ControlFile control{static_cast<ControlPage*>(memory)};
    keep_without_file(memory);
    ControlPage& page = control.page();
    std::uint32_t fresh = 0;
    if (page.version.compare_exchange_strong(fresh, ControlPage::current_version)) fresh = ControlPage::current_version;
    std::uint32_t unmarked = 0;
    if (page.magic.compare_exchange_strong(unmarked, ControlPage::magic_value)) unmarked = ControlPage::magic_value;
    if (unmarked != ControlPage::magic_value) fail(path.string(), " is not a control file");
    if (fresh != ControlPage::current_version)
        fail(path.string(), " has layout version ", fresh, ", not ", ControlPage::current_version);
    return control;
}

ControlFile::ControlFile(ControlFile&& other) noexcept : page_{std::exchange(other.page_, nullptr)} {}

ControlFile::~ControlFile()
{
    if (page_ == nullptr) return;
    forget_page(page_);
    ::munmap(page_, page_bytes);
}

}  // namespace base
