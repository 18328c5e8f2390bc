// SPDX-License-Identifier: MIT OR GPL-2.0-only
// State shared by the eBPF programs, and the output of an interruption: an event if it lasts at least `least_ns`,
// otherwise an addition to a sum. Included by a single file.
#ifndef CROSSTALK_OS_PROGRAMS_BPF_H
#define CROSSTALK_OS_PROGRAMS_BPF_H

#include "trace-tools/os/interruptions.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <linux/bpf.h>

// Declares only the members that are read: the loader adjusts their offsets to the running kernel (CO-RE).
#define KERNEL_TYPE __attribute__((preserve_access_index))

struct thread_info {
    __u32 cpu;
} KERNEL_TYPE;

struct cfs_rq {
    int throttle_count;
} KERNEL_TYPE;

struct sched_entity {
    struct cfs_rq* cfs_rq;
} KERNEL_TYPE;

struct task_struct {
    struct thread_info thread_info;
    struct sched_entity se;
    unsigned int flags;
    int pid;
    int tgid;
    char comm[name_bytes];
    unsigned in_iowait : 1;
    unsigned int __state;
} KERNEL_TYPE;

struct pt_regs___x86 {
    unsigned long orig_ax;
} KERNEL_TYPE;

struct pt_regs___arm64 {
    int syscallno;
} KERNEL_TYPE;

const volatile __u64 least_ns = 2000;

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 4 << 20);
} events SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, __u32);
    __type(value, __u8);
} groups SEC(".maps");  // thread groups of the job

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 16384);
    __type(key, struct sum_key);
    __type(value, struct sum);
} sums SEC(".maps");

__u64 lost_events;  // events lost because `events` or `sums` was full

struct waiting {
    __u64 since;
    __u64 blocked;  // start of its wait for I/O; 0: not waiting
    __u64 reclaims;
    __u32 in_fault;  // 1: the wait for I/O is in a page fault
    __s32 cpu;       // CPU whose run queue holds the task; -1: none
    __u32 throttled;
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 16384);
    __type(key, __u32);
    __type(value, struct waiting);
} threads SEC(".maps");

struct ran {
    __u64 begin;
    __u64 end;
    struct who who;
};

enum { history = 16, depth = 8 };

struct frame {
    __u64 begin;
    __u64 inner;  // time in nested interrupts, in ns
};

struct cpu {
    __u64 since;  // start of the current task's time
    struct who current;
    __u32 next;
    __u32 frames;
    struct ran ran[history];
    struct frame frame[depth];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, most_cpus);
    __type(key, __u32);
    __type(value, struct cpu);
} cpus SEC(".maps");

__u8 watched[most_cpus];  // 1: the job may use this CPU

static __always_inline struct cpu* watched_cpu(__u32 number)
{
    if (number >= most_cpus || !watched[number]) return 0;
    return bpf_map_lookup_elem(&cpus, &number);
}

static __always_inline int of_the_job(__u32 tgid)
{
    return bpf_map_lookup_elem(&groups, &tgid) != 0;
}

// True if a control group that contains the task has used up its quota on this CPU.
static __always_inline int throttles(const struct task_struct* task)
{
    if (!bpf_core_field_exists(struct cfs_rq, throttle_count)) return 0;
    return BPF_CORE_READ(task, se.cfs_rq, throttle_count) > 0;
}

static __always_inline void identify(struct who* who, const struct task_struct* task)
{
    who->pid = task->pid;
    who->tgid = task->tgid;
    who->kind = (task->flags & 0x00200000) != 0 ? of_the_kernel  // PF_KTHREAD
                : of_the_job(task->tgid)        ? of_this_job
                                                : somebody_else;
    bpf_probe_read_kernel(who->name, sizeof who->name, task->comm);
}

static void add(__u32 tid, __u32 cause, __u64 begin, __u64 end, __u64 ns, __u32 cpu, const struct who* by, __u32 number)
{
    if (ns >= least_ns) {
        struct event* event = bpf_ringbuf_reserve(&events, sizeof *event, 0);
        if (!event) {
            __sync_fetch_and_add(&lost_events, 1);
            return;
        }
        event->begin_ns = begin;
        event->end_ns = end;
        event->ns = ns;
        event->tid = tid;
        event->cpu = cpu;
        event->cause = cause;
        event->number = number;
        event->by = *by;
        bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
        return;
    }
    struct sum_key key = {.tid = tid, .cause = cause, .cpu = cpu, .by = by->tgid, .number = number};
    struct sum* sum = bpf_map_lookup_elem(&sums, &key);
    if (!sum) {
        struct sum first = {.who = *by};
        if (bpf_map_update_elem(&sums, &key, &first, BPF_NOEXIST) != 0) __sync_fetch_and_add(&lost_events, 1);
        sum = bpf_map_lookup_elem(&sums, &key);
        if (!sum) return;
    }
    __sync_fetch_and_add(&sum->count, 1);
    __sync_fetch_and_add(&sum->ns, ns);
}

#endif
