// SPDX-License-Identifier: Apache-2.0
// trace-merge preserves events of all kinds and the definitions that they refer to.
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/archives/listing.hpp"
#include "testing/archives/merged_archives.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/profile/profile.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // deprecated OpenMP events

namespace fs = std::filesystem;
using testing::differences;
using testing::has_otf2_print;
using testing::merge;
using testing::printed_definitions;
using testing::printed_events;
using testing::says;

namespace {

// Writes an event with 1 for each of its arguments.
template <auto write_one>
struct EventOf;

template <class... Arguments,
          OTF2_ErrorCode (*write_one)(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp, Arguments...)>
struct EventOf<write_one> {
    static void write(OTF2_EvtWriter* writer, OTF2_TimeStamp time)
    {
        otf2::check(write_one(writer, nullptr, time, static_cast<Arguments>(1)...), "write an event");
    }
};

// Writes one event of every kind that refers to definitions, with id 1 and each archive's own, and a metric event.
fs::path write_all_kinds(const fs::path& directory, const std::string& whose)
{
    otf2::RawArchive archive{directory};
    OTF2_EvtWriter* writer = archive.events(0);
    std::uint64_t time = 1000;
#define WRITE(Event) EventOf<OTF2_EvtWriter_##Event>::write(writer, time += 10);
    WRITE(MeasurementOnOff)
    WRITE(Enter)
    WRITE(Leave)
    WRITE(MpiSend)
    WRITE(MpiIsend)
    WRITE(MpiIsendComplete)
    WRITE(MpiIrecvRequest)
    WRITE(MpiRecv)
    WRITE(MpiIrecv)
    WRITE(MpiRequestTest)
    WRITE(MpiRequestCancelled)
    WRITE(MpiCollectiveBegin)
    WRITE(MpiCollectiveEnd)
    WRITE(OmpFork)
    WRITE(OmpJoin)
    WRITE(OmpAcquireLock)
    WRITE(OmpReleaseLock)
    WRITE(OmpTaskCreate)
    WRITE(OmpTaskSwitch)
    WRITE(OmpTaskComplete)
    WRITE(ParameterString)
    WRITE(ParameterInt)
    WRITE(ParameterUnsignedInt)
    WRITE(RmaWinCreate)
    WRITE(RmaWinDestroy)
    WRITE(RmaCollectiveBegin)
    WRITE(RmaCollectiveEnd)
    WRITE(RmaGroupSync)
    WRITE(RmaRequestLock)
    WRITE(RmaAcquireLock)
    WRITE(RmaTryLock)
    WRITE(RmaReleaseLock)
    WRITE(RmaSync)
    WRITE(RmaWaitChange)
    WRITE(RmaPut)
    WRITE(RmaGet)
    WRITE(RmaAtomic)
    WRITE(RmaOpCompleteBlocking)
    WRITE(RmaOpCompleteNonBlocking)
    WRITE(RmaOpTest)
    WRITE(RmaOpCompleteRemote)
    WRITE(ThreadFork)
    WRITE(ThreadJoin)
    WRITE(ThreadTeamBegin)
    WRITE(ThreadTeamEnd)
    WRITE(ThreadAcquireLock)
    WRITE(ThreadReleaseLock)
    WRITE(ThreadTaskCreate)
    WRITE(ThreadTaskSwitch)
    WRITE(ThreadTaskComplete)
    WRITE(ThreadCreate)
    WRITE(ThreadBegin)
    WRITE(ThreadWait)
    WRITE(ThreadEnd)
    WRITE(CallingContextEnter)
    WRITE(CallingContextLeave)
    WRITE(CallingContextSample)
    WRITE(IoCreateHandle)
    WRITE(IoDestroyHandle)
    WRITE(IoDuplicateHandle)
    WRITE(IoSeek)
    WRITE(IoChangeStatusFlags)
    WRITE(IoDeleteFile)
    WRITE(IoOperationBegin)
    WRITE(IoOperationTest)
    WRITE(IoOperationIssued)
    WRITE(IoOperationComplete)
    WRITE(IoOperationCancelled)
    WRITE(IoAcquireLock)
    WRITE(IoReleaseLock)
    WRITE(IoTryLock)
    WRITE(ProgramEnd)
    WRITE(NonBlockingCollectiveRequest)
    WRITE(NonBlockingCollectiveComplete)
    WRITE(CommCreate)
    WRITE(CommDestroy)
#undef WRITE
    const OTF2_StringRef arguments[] = {1, 1};
    otf2::check(OTF2_EvtWriter_ProgramBegin(writer, nullptr, time += 10, 1, 2, arguments), "write an event");
    otf2::check(OTF2_EvtWriter_BufferFlush(writer, nullptr, time + 10, time + 15), "write an event");
    const OTF2_Type types[] = {OTF2_TYPE_DOUBLE, OTF2_TYPE_INT64};
    OTF2_MetricValue values[2] = {};
    values[0].floating_point = 0.5;
    values[1].signed_int = -7;
    otf2::check(OTF2_EvtWriter_Metric(writer, nullptr, time += 20, 1, 2, types, values), "write an event");
    const otf2::AttributeListHandle attributes{OTF2_AttributeList_New()};
    OTF2_AttributeList_AddStringRef(attributes.get(), 1, 1);
    OTF2_AttributeList_AddUint64(attributes.get(), 2, 42);
    OTF2_AttributeList_AddLocationRef(attributes.get(), 3, 0);
    otf2::check(OTF2_EvtWriter_Enter(writer, attributes.get(), time += 10, 1), "write an event");
    archive.end_events();

    OTF2_GlobalDefWriter* definitions = archive.definitions();
    const auto text = [&](const std::string& words) { return archive.text(whose + " " + words); };
    const OTF2_StringRef zero = text("text 0");
    const OTF2_StringRef one = text("text 1");
    REQUIRE(zero == 0);
    REQUIRE(one == 1);
    archive.clock(1000, time - 1000);
    archive.node(0, "node");
    archive.process(0, whose + " process", 0);
    archive.location(0, whose + " thread", 0);
    archive.region(1, whose + " region");
    const OTF2_StringRef name = text("thing");
    const std::uint64_t locations[] = {0, 0};
    const OTF2_MetricMemberRef members[] = {0, 1};
    const auto define = [](OTF2_ErrorCode code) { otf2::check(code, "define"); };
    define(OTF2_GlobalDefWriter_WriteAttribute(definitions, 1, name, name, OTF2_TYPE_STRING));
    define(OTF2_GlobalDefWriter_WriteAttribute(definitions, 2, name, name, OTF2_TYPE_UINT64));
    define(OTF2_GlobalDefWriter_WriteAttribute(definitions, 3, name, name, OTF2_TYPE_LOCATION));
    define(OTF2_GlobalDefWriter_WriteGroup(definitions, 0, name, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                           OTF2_GROUP_FLAG_NONE, 2, locations));
    define(OTF2_GlobalDefWriter_WriteGroup(definitions, 1, name, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                           OTF2_GROUP_FLAG_NONE, 1, locations));
    define(OTF2_GlobalDefWriter_WriteComm(definitions, 1, name, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    define(OTF2_GlobalDefWriter_WriteParameter(definitions, 1, name, OTF2_PARAMETER_TYPE_STRING));
    define(OTF2_GlobalDefWriter_WriteRmaWin(definitions, 1, name, 1, OTF2_RMA_WIN_FLAG_NONE));
    define(OTF2_GlobalDefWriter_WriteMetricMember(definitions, 0, name, name, OTF2_METRIC_TYPE_USER,
                                                  OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL, -3,
                                                  name));
    define(OTF2_GlobalDefWriter_WriteMetricMember(definitions, 1, name, one, OTF2_METRIC_TYPE_USER,
                                                  OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_INT64, OTF2_BASE_DECIMAL, 0,
                                                  name));
    define(OTF2_GlobalDefWriter_WriteMetricClass(definitions, 1, 2, members, OTF2_METRIC_SYNCHRONOUS,
                                                 OTF2_RECORDER_KIND_CPU));
    define(OTF2_GlobalDefWriter_WriteSourceCodeLocation(definitions, 1, name, 17));
    define(OTF2_GlobalDefWriter_WriteCallingContext(definitions, 1, 1, 1, OTF2_UNDEFINED_CALLING_CONTEXT));
    define(OTF2_GlobalDefWriter_WriteInterruptGenerator(definitions, 1, name, OTF2_INTERRUPT_GENERATOR_MODE_TIME,
                                                        OTF2_BASE_DECIMAL, -9, 1000));
    const OTF2_IoParadigmProperty properties[] = {OTF2_IO_PARADIGM_PROPERTY_VERSION};
    const OTF2_Type property_types[] = {OTF2_TYPE_STRING};
    OTF2_AttributeValue property_values[1] = {};
    property_values[0].stringRef = one;
    define(OTF2_GlobalDefWriter_WriteIoParadigm(definitions, 1, name, name, OTF2_IO_PARADIGM_CLASS_SERIAL,
                                                OTF2_IO_PARADIGM_FLAG_NONE, 1, properties, property_types,
                                                property_values));
    define(OTF2_GlobalDefWriter_WriteIoRegularFile(definitions, 1, name, 0));
    define(OTF2_GlobalDefWriter_WriteIoHandle(definitions, 1, name, 1, 1, OTF2_IO_HANDLE_FLAG_NONE, 1,
                                              OTF2_UNDEFINED_IO_HANDLE));
    archive.finish();
    return archive.anchor();
}

}  // namespace

TEST_CASE("events of all kinds survive with what they refer to")
{
    if (!has_otf2_print()) return;
    const testing::Scratch scratch;
    const std::string one = write_all_kinds(scratch / "one", "my");
    const std::string other = write_all_kinds(scratch / "other", "your");
    const testing::Outcome outcome = merge({one, other}, scratch / "merged", {"--clock-offset", "0s"});
    REQUIRE(outcome.err == "");
    const std::string merged = scratch / "merged/traces.otf2";
    const std::vector<std::string> events = printed_events({merged});
    CHECK(differences(events, printed_events({one, other})) == "");
    CHECK(std::count_if(events.begin(), events.end(),
                        [](const std::string& line) { return says(line, "your region"); }) > 3);

    // Each archive keeps its own definitions; equal ones occur once.
    const std::string definitions = printed_definitions(merged);
    for (const char* whose : {"my", "your"})
        for (const char* kind : {"REGION", "PARAMETER", "RMA_WIN", "IO_PARADIGM", "IO_HANDLE", "COMM"})
            CHECK(std::regex_search(definitions, std::regex{base::join("\n", kind, " +[0-9]+ .*", whose, " ")}));
    const std::regex node{"SYSTEM_TREE_NODE +[0-9]+ "};
    CHECK(std::distance(std::sregex_iterator{definitions.begin(), definitions.end(), node}, {}) == 1);
}
