// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Records that the eBPF programs pass to user space, in C that both compile.
#ifndef CROSSTALK_OS_INTERRUPTIONS_H
#define CROSSTALK_OS_INTERRUPTIONS_H

#include <linux/types.h>

enum { name_bytes = 16, most_cpus = 1024 };

enum cause {
    waits_for_cpu,          // runnable while `by` ran on that CPU (pid 0: the CPU idled)
    waits_for_cpu_unknown,  // runnable; the running task is unknown
    waits_for_quota,        // runnable, but stopped by the quota of its control group, whichever task ran meanwhile
    waits_for_io,           // blocked, in a wait that the kernel counts as I/O
    reclaim,                // in memory reclaim; may contain waits with other causes
    interrupt,              // `number` is the interrupt number
    vector_interrupt,       // `number` is a value of `vector`
    interrupt_nmi,
    softirq,         // `number`: the vector's
    waits_for_page,  // as waits_for_io, in a page fault of the program
    causes
};

enum vector { vector_timer, vector_reschedule, vector_call, vector_call_single, vector_irq_work };

enum kind { somebody_else, of_this_job, of_the_kernel };

struct who {
    __u32 pid;   // thread id; 0: the CPU idled
    __u32 tgid;  // process id
    __u32 kind;
    char name[name_bytes];
};

struct event {
    __u64 begin_ns;  // CLOCK_MONOTONIC
    __u64 end_ns;
    __u64 ns;  // without interrupts inside
    __u32 tid;
    __u32 cpu;
    __u32 cause;
    __u32 number;
    struct who by;
};

struct sum_key {
    __u32 tid;
    __u32 cause;
    __u32 cpu;
    __u32 by;  // thread group of the cause
    __u32 number;
};

struct sum {
    __u64 count;
    __u64 ns;
    struct who who;
};

#endif
