// SPDX-License-Identifier: Apache-2.0
#include "base/system/mapped_page.hpp"

#include "base/error.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

namespace base {

namespace {

// The list of protected pages. A signal handler walks it, so entries are reused but never freed.
struct Kept {
    std::atomic<void*> page{nullptr};
    std::atomic<bool> lost{false};
    Kept* next = nullptr;
};
std::atomic<Kept*> first{nullptr};
std::atomic<bool> reported{false};
struct sigaction previous {};

static_assert(std::atomic<void*>::is_always_lock_free);

Kept* entry_of(const void* page)
{
    for (Kept* kept = first.load(); kept != nullptr; kept = kept->next)
        if (kept->page.load() == page) return kept;
    return nullptr;
}

void report_cut()
{
    if (reported.exchange(true)) return;
    const auto print = [](std::string_view text) {
        static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
    };
    print(program_invocation_short_name);
    print(": the control file was truncated while in use: continuing without it\n");
}

// Uses only system calls and lock-free variables, as a signal handler must.
extern "C" void take_bus_error(int signal, siginfo_t* info, void* context)
{
    const int code = errno;
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    void* const page = static_cast<std::byte*>(info->si_addr) - address % mapped_page_bytes;
    Kept* const kept = info->si_code == BUS_ADRERR ? entry_of(page) : nullptr;
    if (kept != nullptr && ::mmap(page, mapped_page_bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page) {
        kept->lost = true;
        report_cut();
        errno = code;
        return;
    }
    if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(signal, info, context);
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
    // The instruction is executed again and then has its usual effect without this handler.
    ::sigaction(signal, &previous, nullptr);
    if (info->si_code <= 0) static_cast<void>(::raise(signal));
    errno = code;
}

void take_bus_errors()
{
    struct sigaction action {};
    action.sa_sigaction = take_bus_error;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    check_errno(::sigaction(SIGBUS, &action, &previous), "handle bus errors");
}

}  // namespace

void keep_without_file(void* page)
{
    static std::once_flag once;
    std::call_once(once, take_bus_errors);
    for (Kept* kept = first.load(); kept != nullptr; kept = kept->next) {
        void* none = nullptr;
        if (!kept->page.compare_exchange_strong(none, page)) continue;
        kept->lost = false;
        return;
    }
    auto* kept = new Kept;
    kept->page = page;
    kept->next = first.load();
    while (!first.compare_exchange_weak(kept->next, kept)) {
    }
}

void forget_page(void* page)
{
    if (Kept* const kept = entry_of(page)) kept->page = nullptr;
}

bool page_lost(const void* page)
{
    const Kept* const kept = entry_of(page);
    return kept != nullptr && kept->lost;
}

}  // namespace base
