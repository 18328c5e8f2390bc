// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/os/kernel_events.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/clock.hpp"

#ifdef CROSSTALK_HAS_BPF

#include "base/system/cgroups.hpp"
#include "base/words.hpp"
#include "trace-tools/os/interruptions.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>
// The skeleton uses types of libbpf, so it is included after libbpf.h.
#include "interruptions.skel.h"

namespace os {

using namespace base::os;

namespace {

constexpr const char* kernel_types = "/sys/kernel/btf/vmlinux";
constexpr ino_t first_pid_namespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO in the kernel

std::string name_of(const who& task)
{
    return base::printable(std::string{task.name, ::strnlen(task.name, sizeof task.name)});
}

// Names as in /proc/softirqs, in the order of vector numbers.
std::string softirq_name(std::uint32_t vector)
{
    constexpr std::array names{"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
                               "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
    return vector < names.size() ? names[vector] : base::join("vector ", vector);
}

std::string vector_name(std::uint32_t number)
{
    constexpr std::array names{"local timer", "reschedule", "function call", "single function call", "irq work"};
    return number < names.size() ? names[number] : base::join("vector ", number);
}

// The interrupt's number, followed by its name in /proc/interrupts.
std::string interrupt_name(std::uint32_t number)
{
    static std::map<std::uint32_t, std::string> names;
    const auto [place, fresh] = names.try_emplace(number, std::to_string(number));
    if (!fresh) return place->second;
    const std::string wanted = std::to_string(number) + ":";
    for (const std::string& line : base::lines_in("/proc/interrupts")) {
        const std::size_t begin = line.find_first_not_of(' ');
        if (begin == std::string::npos || line.compare(begin, wanted.size(), wanted) != 0) continue;
        place->second += " " + line.substr(line.find_last_of(' ') + 1);
        break;
    }
    return place->second;
}

// The control group of a process, by its CPU controller if that has a hierarchy of its own. Empty if the process has
// ended.
std::string group_of(std::uint32_t process)
{
    constexpr std::size_t most = 4096;
    static std::map<std::uint32_t, std::string> groups;
    if (groups.size() >= most) groups.clear();
    const auto [place, fresh] = groups.try_emplace(process);
    if (!fresh) return place->second;
    const auto pid = static_cast<pid_t>(process);
    std::string group = base::control_group_of(pid, "cpu", 1);
    if (group.empty() || group == "/") group = base::control_group_of(pid, "cpu", 2);
    return place->second = base::printable(group);
}

const char* cause_of_wait(const who& by, const std::string& name)
{
    if (by.pid == 0) return cause::idle_cpu;
    if (by.kind == of_this_job) return cause::own_thread;
    if (by.kind == somebody_else) return cause::neighbour;
    return name.starts_with("ksoftirqd/") ? cause::softirq : cause::kernel_thread;  // it executes softirqs
}

void explain(Row& row, std::uint32_t why, std::uint32_t number, const who& by)
{
    row.source = "bpf";
    switch (why) {
        case waits_for_cpu:
            if (by.pid != 0) {
                row.by = name_of(by);
                row.by_process = by.tgid;
                if (by.kind == somebody_else) row.by_cgroup = group_of(by.tgid);
            }
            row.cause = cause_of_wait(by, row.by);
            return;
        case waits_for_quota:
            row.cause = cause::throttled;
            return;
        case waits_for_io:
            row.cause = cause::block_io;
            return;
        case waits_for_page:
            row.cause = cause::major_faults;
            return;
        case reclaim:
            row.cause = cause::reclaim;
            return;
        case interrupt:
            row.cause = cause::interrupt;
            row.by = interrupt_name(number);
            return;
        case vector_interrupt:
            row.cause = cause::interrupt;
            row.by = vector_name(number);
            return;
        case interrupt_nmi:
            row.cause = cause::interrupt;
            row.by = "NMI";
            return;
        case softirq:
            row.cause = cause::softirq;
            row.by = softirq_name(number);
            return;
        default:
            row.cause = cause::unknown_task;
    }
}

std::string missing_right()
{
    struct stat own {};
    if (::stat("/proc/self/ns/pid", &own) == 0 && own.st_ino != first_pid_namespace)
        return "in a PID namespace of a container, where the kernel's process numbers differ";
    if (!std::filesystem::exists(kernel_types)) return base::join("the kernel has no ", kernel_types);
    return {};
}

int take(void* context, void* data, std::size_t)
{
    const event& what = *static_cast<const event*>(data);
    Row row;
    row.begin_ns = static_cast<std::int64_t>(what.begin_ns);
    row.end_ns = static_cast<std::int64_t>(what.end_ns);
    row.thread = what.tid;
    row.cpu = what.cpu;
    row.count = 1;
    row.ns = static_cast<std::int64_t>(what.ns);
    explain(row, what.cause, what.number, what.by);
    static_cast<std::vector<Row>*>(context)->push_back(std::move(row));
    return 0;
}

}  // namespace

struct KernelEvents::State {
    interruptions_bpf* programs = nullptr;
    ring_buffer* ring = nullptr;
    std::vector<Row> rows;  // read, but not yet returned

    ~State()
    {
        ring_buffer__free(ring);
        interruptions_bpf__destroy(programs);
    }
};

KernelEvents::KernelEvents() : state_{std::make_unique<State>()} {}
KernelEvents::~KernelEvents() = default;

std::unique_ptr<KernelEvents> KernelEvents::start(const Job& job, std::int64_t least_ns, std::string& lacks)
{
    libbpf_set_print(nullptr);
    lacks = missing_right();
    if (!lacks.empty()) return nullptr;
    std::unique_ptr<KernelEvents> events{new KernelEvents};
    State& state = *events->state_;
    const auto failed = [&](const char* what) {
        const int code = errno;
        lacks = base::join(what, ": ", std::strerror(code),
                           code == EPERM ? " (needs root, or setcap cap_bpf,cap_perfmon+ep trace-os)" : "");
        return nullptr;
    };
    state.programs = interruptions_bpf__open();
    if (state.programs == nullptr) return failed("cannot open the kernel's programs");
    state.programs->rodata->least_ns = static_cast<std::uint64_t>(least_ns);

    btf* const types = btf__load_vmlinux_btf();
    if (types == nullptr) return failed("cannot read the kernel's types");
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, state.programs->obj)
    {
        const std::string_view section = bpf_program__section_name(program);
        const std::string trace_point = base::join("btf_trace_", section.substr(section.find('/') + 1));
        if (btf__find_by_name_kind(types, trace_point.c_str(), BTF_KIND_TYPEDEF) < 0)
            bpf_program__set_autoload(program, false);
    }
    btf__free(types);

    if (interruptions_bpf__load(state.programs) != 0) return failed("cannot load the kernel's programs");
    events->follow(job);
    if (interruptions_bpf__attach(state.programs) != 0) return failed("cannot attach the kernel's programs");
    state.ring = ring_buffer__new(bpf_map__fd(state.programs->maps.events), take, &state.rows, nullptr);
    if (state.ring == nullptr) return failed("cannot map the kernel's events");
    events->sums_from_ns_ = base::now_ns();
    return events;
}

void KernelEvents::follow(const Job& job)
{
    const std::uint8_t yes = 1;
    for (const pid_t process : job.processes)
        bpf_map__update_elem(state_->programs->maps.groups, &process, sizeof process, &yes, sizeof yes, BPF_ANY);
    for (const int cpu : job.cpus)
        if (cpu < most_cpus) state_->programs->bss->watched[cpu] = 1;
}

std::vector<Row> KernelEvents::read()
{
    state_->rows.clear();
    ring_buffer__consume(state_->ring);
    return std::move(state_->rows);
}

std::vector<Row> KernelEvents::read_sums(std::int64_t now_ns)
{
    const int map = bpf_map__fd(state_->programs->maps.sums);
    std::vector<sum_key> keys;
    sum_key key{};
    for (const sum_key* before = nullptr; bpf_map_get_next_key(map, before, &key) == 0; before = &keys.back())
        keys.push_back(key);
    std::vector<Row> rows;
    for (const sum_key& of : keys) {
        sum value{};
        if (bpf_map_lookup_and_delete_elem(map, &of, &value) != 0 || value.count == 0) continue;
        Row row;
        row.begin_ns = sums_from_ns_;
        row.end_ns = now_ns;
        row.thread = of.tid;
        row.cpu = of.cpu;
        row.count = static_cast<std::int64_t>(value.count);
        row.ns = static_cast<std::int64_t>(value.ns);
        explain(row, of.cause, of.number, value.who);
        rows.push_back(std::move(row));
    }
    sums_from_ns_ = now_ns;
    return rows;
}

std::uint64_t KernelEvents::lost() const
{
    return state_->programs->bss->lost_events;
}

}  // namespace os

#else

namespace os {

struct KernelEvents::State {};

KernelEvents::~KernelEvents() = default;

std::unique_ptr<KernelEvents> KernelEvents::start(const Job&, std::int64_t, std::string& lacks)
{
    lacks = "built without clang, bpftool or libbpf: install them and build again";
    return nullptr;
}

void KernelEvents::follow(const Job&) {}

std::vector<base::os::Row> KernelEvents::read()
{
    return {};
}

std::vector<base::os::Row> KernelEvents::read_sums(std::int64_t)
{
    return {};
}

std::uint64_t KernelEvents::lost() const
{
    return 0;
}

}  // namespace os

#endif
