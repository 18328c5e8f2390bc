// SPDX-License-Identifier: Apache-2.0
// Plain C, two ranks: calls every MPI function that libcrosstalk-mpi.so records, and rank 0 prints how often it called
// each. Usage: mpi-calls all|failures|communicators|names|flood|abort|leave|late|fork|none, or
//   mpi-calls poll HOW                       prints how many seconds rank 0 polled
//   mpi-calls reduce                         alternates some ms of computation and MPI_Allreduce, for ever
//   mpi-calls wait READY                     creates the file READY, and waits for ever
//   mpi-calls handle READY before|after      the same until SIGTERM; its handler is installed before or after MPI_Init
#include "mpi_calls.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { functions = 256, flood_calls = 400000, communicators = 2000, polled_rounds = 20, late_us = 20000 };

int rank;
static const char* names[functions];
static int counts[functions];

void count(const char* name)
{
    int i = 0;
    while (names[i] != NULL && strcmp(names[i], name) != 0) ++i;
    names[i] = name;
    ++counts[i];
}

static void print_counts(void)
{
    for (int i = 0; rank == 0 && i < functions && names[i] != NULL; ++i) printf("%s %d\n", names[i], counts[i]);
}

// Creates and uses a communicator, sets its name on the ranks whose name is not NULL, uses it again and frees it.
static void use_named(const char* of_rank_0, const char* of_rank_1)
{
    const char* mine = rank == 0 ? of_rank_0 : of_rank_1;
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Barrier(made);
    if (mine != NULL) MPI_Comm_set_name(made, mine);
    MPI_Barrier(made);
    MPI_Comm_free(&made);
}

static void named_communicators(void)
{
    MPI_Comm_set_name(MPI_COMM_WORLD, "everybody");
    use_named("rows", "rows");
    use_named("columns", "of rank 1");
    use_named(NULL, "diagonals");
    MPI_Comm duplicate;
    MPI_Comm_dup(MPI_COMM_SELF, &duplicate);
    MPI_Barrier(duplicate);
    MPI_Comm_free(&duplicate);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void many_communicators(void)
{
    for (int i = 0; i < communicators; ++i) {
        MPI_Comm made;
        DO(MPI_Comm_dup, MPI_COMM_WORLD, &made);
        use_and_free(made);
    }
}

static void flood(void)
{
    char byte = 0;
    for (int i = 0; i < flood_calls; ++i) DO(MPI_Send, &byte, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void compute(double seconds)
{
    const double end = cpu_seconds() + seconds;
    while (cpu_seconds() < end) continue;
}

// Polls until the request is complete.
static void poll_for(MPI_Request* request, const char* how)
{
    int flag = 0;
    int index = 0;
    int done = 0;
    if (strcmp(how, "spin") == 0)
        while (!flag) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    if (strcmp(how, "yield") == 0)
        while (MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE), !flag) sched_yield();
    if (strcmp(how, "sleep") == 0)
        while (MPI_Testsome(1, request, &done, &index, MPI_STATUSES_IGNORE), done == 0) usleep(100);
    if (strcmp(how, "compute") == 0)
        while (MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE), !flag) compute(5e-3);
    if (strcmp(how, "wait") == 0) {
        const double end = MPI_Wtime() + 0.5e-6 * late_us;
        while (!flag && MPI_Wtime() < end) MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
}

// Prints the seconds that rank 0 polled. Rank 1 is late in each round.
static void poll(const char* how)
{
    double seconds = 0.0;
    for (int i = 0; i < polled_rounds; ++i) {
        const int mine = 1;
        int all = 0;
        int flag = 0;
        MPI_Request request;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) usleep(late_us);
        if (strcmp(how, "probe") == 0 && rank == 1) MPI_Send(&mine, 1, MPI_INT, 0, 50, MPI_COMM_WORLD);
        if (strcmp(how, "probe") != 0) MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        const double begin = MPI_Wtime();
        if (strcmp(how, "probe") == 0 && rank == 0) {
            while (!flag) MPI_Iprobe(1, 50, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            seconds += MPI_Wtime() - begin;
            MPI_Recv(&all, 1, MPI_INT, 1, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (strcmp(how, "probe") != 0) {
            poll_for(&request, rank == 0 ? how : "spin");
            seconds += MPI_Wtime() - begin;
        }
    }
    if (rank == 0) printf("%f\n", seconds);
}

static void create(const char* file)
{
    FILE* out = fopen(file, "w");
    if (out != NULL) fclose(out);
}

// Waits until a signal ends the process.
static void wait_for_ever(const char* ready)
{
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 50; ++i) {
        const int mine = 1;
        int all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) create(ready);
    int never = 0;
    if (rank == 0 && size > 1) MPI_Recv(&never, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (;;) pause();
}

static volatile sig_atomic_t asked = 0;

static void ask(int number)
{
    (void)number;
    asked = 1;
}

static int wait_until_asked(const char* ready)
{
    create(ready);
    while (!asked) usleep(1000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 9;
}

static void fork_and_kill(void)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        for (;;) pause();
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    printf("child: signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    usleep(200000);  // time for a misdirected signal to arrive
}

static void finalize(void)
{
    MPI_Finalize();
}

static void reduce_for_ever(void)
{
    enum { numbers = 1 << 18, rounds = 16 };
    double* values = calloc(numbers, sizeof *values);
    for (;;) {
        double sum;
        for (int i = 0; i < numbers * rounds; ++i) values[i % numbers] = values[i % numbers] * 0.5 + 1.0;
        MPI_Allreduce(&values[0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv)
{
    const char* mode = argc > 1 ? argv[1] : "all";
    const int handles = argc > 3 && strcmp(mode, "handle") == 0;
    if (handles && strcmp(argv[3], "before") == 0) signal(SIGTERM, ask);
    DO(MPI_Init, &argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(mode, "all") == 0) {
        call_everything();
    }
    if (strcmp(mode, "failures") == 0) failures();
    if (strcmp(mode, "communicators") == 0) many_communicators();
    if (strcmp(mode, "names") == 0) named_communicators();
    if (strcmp(mode, "flood") == 0) flood();
    if (strcmp(mode, "reduce") == 0) reduce_for_ever();
    if (strcmp(mode, "poll") == 0 && argc > 2) {
        poll(argv[2]);
        MPI_Finalize();
        return 0;
    }
    if (strcmp(mode, "wait") == 0 && argc > 2) wait_for_ever(argv[2]);
    if (handles) {
        signal(SIGTERM, ask);
        return wait_until_asked(argv[2]);
    }
    if (strcmp(mode, "fork") == 0) fork_and_kill();
    if (strcmp(mode, "abort") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
        for (;;) MPI_Barrier(MPI_COMM_WORLD);
    }
    if (strcmp(mode, "leave") == 0) exit(0);
    if (strcmp(mode, "late") == 0) {
        atexit(finalize);
        return 0;
    }
    count("MPI_Finalize");
    MPI_Finalize();
    print_counts();
    return 0;
}
