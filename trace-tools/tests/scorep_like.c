// SPDX-License-Identifier: Apache-2.0
// A loop that records itself as Score-P does (its own archive, user regions, no property of Crosstalk's), for machines
// without Score-P:
//
//   scorep_like SECONDS
//
// As in Score-P, SCOREP_ENABLE_TRACING=true enables the archive, SCOREP_EXPERIMENT_DIRECTORY names its directory
// (default scorep-PID), and SCOREP_TIMER=gettimeofday counts microseconds of CLOCK_REALTIME; any other timer counts
// ns of CLOCK_MONOTONIC here. If a signal ends the program there is no archive.
#include <otf2/otf2.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int by_real_time;

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static uint64_t ticks(void)
{
    return by_real_time ? read_ns(CLOCK_REALTIME) / 1000 : read_ns(CLOCK_MONOTONIC);
}

static OTF2_FlushType before_flush(void* data, OTF2_FileType type, OTF2_LocationRef location, void* caller, bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void* data, OTF2_FileType type, OTF2_LocationRef location)
{
    (void)data, (void)type, (void)location;
    return ticks();
}

static const char* const texts[] = {"", "machine", "node", "vm", "Process", "Master thread", "main", "step", "work.c"};

static void define(OTF2_Archive* archive, uint64_t begin, uint64_t end, uint64_t events)
{
    OTF2_GlobalDefWriter* writer = OTF2_Archive_GetGlobalDefWriter(archive);
    OTF2_GlobalDefWriter_WriteClockProperties(writer, by_real_time ? 1000000U : 1000000000U, begin, end - begin + 1,
                                              by_real_time ? begin * 1000U : OTF2_UNDEFINED_TIMESTAMP);
    for (uint32_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) OTF2_GlobalDefWriter_WriteString(writer, i, texts[i]);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, 1, 1, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 1, 3, 2, 0);
    OTF2_GlobalDefWriter_WriteLocationGroup(writer, 0, 4, OTF2_LOCATION_GROUP_TYPE_PROCESS, 1,
                                            OTF2_UNDEFINED_LOCATION_GROUP);
    OTF2_GlobalDefWriter_WriteLocation(writer, 0, 5, OTF2_LOCATION_TYPE_CPU_THREAD, events, 0);
    for (uint32_t region = 0; region < 2; ++region)
        OTF2_GlobalDefWriter_WriteRegion(writer, region, 6 + region, 6 + region, 0, OTF2_REGION_ROLE_FUNCTION,
                                         OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, 8, 1, 9);
}

static int is(const char* variable, const char* value)
{
    const char* text = getenv(variable);
    return text != NULL && strcmp(text, value) == 0;
}

// Creates the directory at the start of the program, as Score-P does.
static OTF2_Archive* opened(void)
{
    static OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush, .otf2_post_flush = after_flush};
    char unnamed[64];
    snprintf(unnamed, sizeof unnamed, "scorep-%lu", (unsigned long)getpid());
    const char* directory = getenv("SCOREP_EXPERIMENT_DIRECTORY");
    OTF2_Archive* archive =
        OTF2_Archive_Open(directory == NULL ? unnamed : directory, "traces", OTF2_FILEMODE_WRITE, 1024 * 1024,
                          4 * 1024 * 1024, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive == NULL) return NULL;
    OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    OTF2_Archive_SetCreator(archive, "Score-P 7.1");
    OTF2_Archive_OpenEvtFiles(archive);
    return archive;
}

int main(int count, char** words)
{
    if (count != 2) return 2;
    by_real_time = is("SCOREP_TIMER", "gettimeofday");
    OTF2_Archive* archive = is("SCOREP_ENABLE_TRACING", "true") ? opened() : NULL;
    OTF2_EvtWriter* events = archive == NULL ? NULL : OTF2_Archive_GetEvtWriter(archive, 0);
    const uint64_t until_ns = read_ns(CLOCK_MONOTONIC) + (uint64_t)atoi(words[1]) * 1000000000U;
    const uint64_t begin = ticks();
    if (events != NULL) OTF2_EvtWriter_Enter(events, NULL, begin, 0);
    volatile double sum = 0.0;
    uint64_t steps = 0;
    for (; read_ns(CLOCK_MONOTONIC) < until_ns; ++steps) {
        if (events != NULL) OTF2_EvtWriter_Enter(events, NULL, ticks(), 1);
        for (int i = 0; i < 3000000; ++i) sum += (double)i;
        if (events != NULL) OTF2_EvtWriter_Leave(events, NULL, ticks(), 1);
    }
    printf("%llu steps\n", (unsigned long long)steps);
    if (archive == NULL) return 0;
    const uint64_t end = ticks();
    OTF2_EvtWriter_Leave(events, NULL, end, 0);
    uint64_t written = 0;
    OTF2_EvtWriter_GetNumberOfEvents(events, &written);
    OTF2_Archive_CloseEvtWriter(archive, events);
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_Archive_OpenDefFiles(archive);
    OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, 0));
    OTF2_Archive_CloseDefFiles(archive);
    define(archive, begin, end, written);
    OTF2_Archive_Close(archive);
    return 0;
}
