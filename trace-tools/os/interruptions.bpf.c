// SPDX-License-Identifier: MIT OR GPL-2.0-only
// eBPF programs that record why the threads of a job do not run: tasks that run while they wait for a CPU, interrupts,
// waits for I/O, and memory reclaim.
//
// Two filters come first: the CPU, then the thread group. A task that fails them costs one map look-up.
#include "trace-tools/os/programs.bpf.h"

char terms[] SEC("license") = "Dual MIT/GPL";

// Divides a wait in a CPU's run queue among the tasks that ran there meanwhile.
static void charge(__u32 tid, __u64 begin, __u64 end, __u32 number)
{
    struct cpu* cpu = bpf_map_lookup_elem(&cpus, &number);
    if (!cpu || end <= begin) return;
    __u64 known = end;  // the running task is known from here to the end
    if (cpu->since < end) {
        __u64 from = cpu->since > begin ? cpu->since : begin;
        struct who current = cpu->current;
        if (current.pid != tid) add(tid, waits_for_cpu, from, end, end - from, number, &current, 0);
        known = from;
    }
    for (int i = 1; i <= history && known > begin; ++i) {
        struct ran* ran = &cpu->ran[(cpu->next - i) % history];
        __u64 to = ran->end < known ? ran->end : known;
        __u64 from = ran->begin > begin ? ran->begin : begin;
        if (ran->end == 0 || to <= from) continue;
        add(tid, waits_for_cpu, from, to, to - from, number, &ran->who, 0);
        known = from;
    }
    if (known > begin) {
        struct who unnamed = {};
        add(tid, waits_for_cpu_unknown, begin, known, known - begin, number, &unnamed, 0);
    }
}

// True if this CPU's task is in an exception rather than a system call. A task that waits for I/O in an exception waits
// for a page from a disk. Page faults of the kernel itself, on arguments of a system call, count for the call.
static __always_inline __u32 in_fault(struct task_struct* task)
{
    if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)) return 0;
    void* registers = (void*)bpf_task_pt_regs(task);
    if (bpf_core_field_exists(struct pt_regs___x86, orig_ax))
        return (long)BPF_CORE_READ((struct pt_regs___x86*)registers, orig_ax) == -1;
    if (bpf_core_field_exists(struct pt_regs___arm64, syscallno))
        return BPF_CORE_READ((struct pt_regs___arm64*)registers, syscallno) == -1;
    return 0;
}

// Records the end of a wait in a run queue, or of a part of it.
static void ends_to_wait(__u32 tid, const struct waiting* waited, __u64 now)
{
    if (waited->throttled) {
        struct who unnamed = {};
        if (now > waited->since)
            add(tid, waits_for_quota, waited->since, now, now - waited->since, waited->cpu, &unnamed, 0);
        return;
    }
    charge(tid, waited->since, now, waited->cpu);
}

static __always_inline void starts_to_wait(__u32 tid, __u64 now, __s32 cpu, __u32 throttled)
{
    struct waiting* old = bpf_map_lookup_elem(&threads, &tid);
    if (old) {
        if (old->blocked) {
            struct who unnamed = {};
            __u32 why = old->in_fault ? waits_for_page : waits_for_io;
            add(tid, why, old->blocked, now, now - old->blocked, cpu, &unnamed, 0);
            old->blocked = 0;
        }
        old->since = now;
        old->cpu = cpu;
        old->throttled = throttled;
        return;
    }
    struct waiting fresh = {.since = now, .cpu = cpu, .throttled = throttled};
    bpf_map_update_elem(&threads, &tid, &fresh, BPF_ANY);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempt, struct task_struct* prev, struct task_struct* next)
{
    __u32 number = bpf_get_smp_processor_id();
    struct cpu* cpu = watched_cpu(number);
    if (!cpu) return 0;
    __u64 now = bpf_ktime_get_ns();

    struct ran* last = &cpu->ran[cpu->next % history];
    last->begin = cpu->since;
    last->end = now;
    last->who = cpu->current;
    if (cpu->since != 0) cpu->next += 1;
    identify(&cpu->current, next);
    cpu->since = now;
    cpu->frames = 0;  // context switches do not happen in interrupts

    if (of_the_job(prev->tgid)) {
        __u32 tid = prev->pid;
        if (preempt || prev->__state == 0)
            starts_to_wait(tid, now, number, throttles(prev));
        else if (BPF_CORE_READ_BITFIELD(prev, in_iowait)) {
            struct waiting blocked = {.blocked = now, .in_fault = in_fault(prev), .cpu = -1};
            bpf_map_update_elem(&threads, &tid, &blocked, BPF_ANY);
        }
    }
    if (of_the_job(next->tgid)) {
        __u32 tid = next->pid;
        struct waiting* waited = bpf_map_lookup_elem(&threads, &tid);
        if (waited && waited->cpu >= 0) {
            ends_to_wait(tid, waited, now);
            waited->cpu = -1;
        }
    }
    return 0;
}

static __always_inline int woken(struct task_struct* task)
{
    __u32 number = task->thread_info.cpu;
    struct cpu* cpu = watched_cpu(number);
    if (!cpu || !of_the_job(task->tgid) || cpu->current.pid == task->pid) return 0;
    starts_to_wait(task->pid, bpf_ktime_get_ns(), number, throttles(task));
    return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct* task)
{
    return woken(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct* task)
{
    return woken(task);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct* task, int to)
{
    if (!of_the_job(task->tgid)) return 0;
    __u32 tid = task->pid;
    struct waiting* waiting = bpf_map_lookup_elem(&threads, &tid);
    if (!waiting || waiting->cpu < 0) return 0;
    __u64 now = bpf_ktime_get_ns();
    ends_to_wait(tid, waiting, now);
    waiting->since = now;
    waiting->cpu = to;
    return 0;
}

// Children of the job's processes belong to the job.
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct* parent, struct task_struct* child)
{
    if (!of_the_job(parent->tgid) || child->tgid == parent->tgid) return 0;
    __u32 tgid = child->tgid;
    __u8 yes = 1;
    bpf_map_update_elem(&groups, &tgid, &yes, BPF_ANY);
    return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct* task)
{
    __u32 tid = task->pid;
    __u32 tgid = task->tgid;
    if (!of_the_job(tgid)) return 0;
    bpf_map_delete_elem(&threads, &tid);
    if (tid == tgid) bpf_map_delete_elem(&groups, &tgid);  // its number may be reused by another job's process
    return 0;
}

// Interrupts nest: an interrupt in a softirq in a thread. Time of nested ones is not counted for the outer ones.
static __always_inline int enters(void)
{
    struct cpu* cpu = watched_cpu(bpf_get_smp_processor_id());
    if (!cpu) return 0;
    __u32 frame = cpu->frames;
    if (frame < depth) {
        cpu->frame[frame].begin = bpf_ktime_get_ns();
        cpu->frame[frame].inner = 0;
    }
    cpu->frames = frame + 1;
    return 0;
}

static __always_inline int leaves(__u32 cause, __u32 number)
{
    __u32 here = bpf_get_smp_processor_id();
    struct cpu* cpu = watched_cpu(here);
    if (!cpu || cpu->frames == 0) return 0;
    __u32 frame = --cpu->frames;
    if (frame >= depth || cpu->frame[frame].begin == 0) return 0;
    __u64 begin = cpu->frame[frame].begin;
    __u64 now = bpf_ktime_get_ns();
    __u64 all = now - begin;
    __u64 inner = cpu->frame[frame].inner;
    if (frame > 0 && frame <= depth) cpu->frame[(frame - 1) % depth].inner += all;
    __u64 current = bpf_get_current_pid_tgid();
    if (!of_the_job(current >> 32)) return 0;
    struct who unnamed = {};
    add((__u32)current, cause, begin, now, all > inner ? all - inner : 0, here, &unnamed, number);
    return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry)
{
    return enters();
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit, int irq)
{
    return leaves(interrupt, irq);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry)
{
    return enters();
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int vector)
{
    return leaves(softirq, vector);
}

// x86 interrupts without a number. If the kernel lacks such a tracepoint, the program is not loaded.
#define VECTOR(name, number)                     \
    SEC("tp_btf/" #name "_entry")                \
    int BPF_PROG(on_##name##_entry)              \
    {                                            \
        return enters();                         \
    }                                            \
    SEC("tp_btf/" #name "_exit")                 \
    int BPF_PROG(on_##name##_exit)               \
    {                                            \
        return leaves(vector_interrupt, number); \
    }

VECTOR(local_timer, vector_timer)
VECTOR(reschedule, vector_reschedule)
VECTOR(call_function, vector_call)
VECTOR(call_function_single, vector_call_single)
VECTOR(irq_work, vector_irq_work)

SEC("tp_btf/nmi_handler")
int BPF_PROG(on_nmi, void* handler, __s64 ns)
{
    __u32 here = bpf_get_smp_processor_id();
    if (here >= most_cpus || !watched[here]) return 0;
    __u64 current = bpf_get_current_pid_tgid();
    if (!of_the_job(current >> 32)) return 0;
    __u64 now = bpf_ktime_get_ns();
    struct who unnamed = {};
    add((__u32)current, interrupt_nmi, now - ns, now, ns, here, &unnamed, 0);
    return 0;
}

static __always_inline int reclaim_begins(void)
{
    __u64 current = bpf_get_current_pid_tgid();
    if (!of_the_job(current >> 32)) return 0;
    __u32 tid = current;
    struct waiting* thread = bpf_map_lookup_elem(&threads, &tid);
    if (thread) {
        thread->reclaims = bpf_ktime_get_ns();
        return 0;
    }
    struct waiting fresh = {.reclaims = bpf_ktime_get_ns(), .cpu = -1};
    bpf_map_update_elem(&threads, &tid, &fresh, BPF_ANY);
    return 0;
}

static __always_inline int reclaim_ends(void)
{
    __u64 current = bpf_get_current_pid_tgid();
    if (!of_the_job(current >> 32)) return 0;
    __u32 tid = current;
    struct waiting* thread = bpf_map_lookup_elem(&threads, &tid);
    if (!thread || thread->reclaims == 0) return 0;
    __u64 now = bpf_ktime_get_ns();
    struct who unnamed = {};
    add(tid, reclaim, thread->reclaims, now, now - thread->reclaims, bpf_get_smp_processor_id(), &unnamed, 0);
    thread->reclaims = 0;
    return 0;
}

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(on_reclaim_begin)
{
    return reclaim_begins();
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(on_reclaim_end)
{
    return reclaim_ends();
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(on_memcg_reclaim_begin)
{
    return reclaim_begins();
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(on_memcg_reclaim_end)
{
    return reclaim_ends();
}
