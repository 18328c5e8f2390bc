// SPDX-License-Identifier: Apache-2.0
// A program that reports its steps, as process RANK of WORLD_SIZE: mark-program STEPS [MODE]. Each step prints
// CLOCK_MONOTONIC in ns right before and right after the call that begins it. MODE:
//   exchange FILE   all ranks synchronise in each step, through FILE
//   short           the last rank takes three steps
//   fork            a child process reports a step of its own
//   drop            begins a step that it does not finish
//   checkpoint      prints "checkpoint STEP ANSWER" whenever crosstalk_checkpoint_wanted() is not 0
//   checkpoint-between  likewise, but asks after the end of each step
//   wait FILE       creates FILE after the steps, then waits for a signal
#include "trace-tools/mark/crosstalk_mark.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int number(const char* name)
{
    const char* const text = getenv(name);
    return text != NULL ? atoi(text) : 0;
}

static void take_step(int print)
{
    const long long before = now_ns();
    crosstalk_step();
    if (print) printf("%lld %lld\n", before, now_ns());
    crosstalk_phase("load");
    usleep(1000);
    crosstalk_phase("forward");
    usleep(2000);
    crosstalk_phase("halo");
    usleep(500);
    crosstalk_phase(NULL);
}

static void meet(atomic_int* arrived, int all)
{
    atomic_fetch_add(arrived, 1);
    while (atomic_load(arrived) < all) usleep(100);
}

int main(int argc, char** argv)
{
    const int rank = number("RANK");
    const int size = number("WORLD_SIZE") > 0 ? number("WORLD_SIZE") : 1;
    const char* const mode = argc > 2 ? argv[2] : "";
    int steps = atoi(argv[1]);
    if (strcmp(mode, "short") == 0 && rank == size - 1) steps = 3;
    atomic_int* arrived = NULL;
    if (strcmp(mode, "exchange") == 0) {
        const int file = open(argv[3], O_RDWR | O_CREAT, 0600);
        if (ftruncate(file, sizeof *arrived) != 0) return 1;
        arrived = mmap(NULL, sizeof *arrived, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    for (int step = 0; step < steps; ++step) {
        take_step(1);
        const int between = strcmp(mode, "checkpoint-between") == 0;
        if (between) crosstalk_step_end();
        const int wanted = between || strcmp(mode, "checkpoint") == 0 ? crosstalk_checkpoint_wanted() : 0;
        if (wanted != 0) printf("checkpoint %d %d\n", step, wanted);
        if (arrived != NULL) meet(arrived, (step + 1) * size);
    }
    fflush(stdout);
    if (strcmp(mode, "fork") == 0) {
        const pid_t child = fork();
        if (child == 0) {
            take_step(0);
            exit(crosstalk_records());
        }
        int status = 0;
        waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    }
    if (strcmp(mode, "wait") == 0) {
        const int ready = open(argv[3], O_WRONLY | O_CREAT, 0600);
        close(ready);
        for (;;) pause();
    }
    if (strcmp(mode, "drop") == 0) {
        take_step(0);
        crosstalk_step_drop();
    }
    crosstalk_end();
    return 0;
}
