// What reading costs: events per second of our reader beside the least that OTF2's own reader can do, in pairs, on an
// archive of two locations and four million events.
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/paired.hpp"
#include "base/testing.hpp"
#include "trace-tools/otf2/reader.hpp"
#include "trace-tools/otf2/recorder.hpp"
#include "trace-tools/patterns/profile.hpp"

#include <benchmark/benchmark.h>
#include <otf2/otf2.h>

#include <iostream>

namespace {

constexpr std::size_t pairs = 15;
constexpr int visits = 1'000'000;  // on each location
constexpr double events = 4.0 * visits;

void write_archive(const std::filesystem::path& directory)
{
    otf2::Recorder recorder{directory};
    const otf2::RegionRef region = recorder.region("work");
    for (const char* name : {"one", "two"}) {
        otf2::LocationRecorder& location = recorder.location(name);
        for (int i = 0; i < visits; ++i) {
            location.enter(region, 1'000'000 + 200 * i);
            location.leave(region, 1'000'100 + 200 * i);
        }
    }
    recorder.finish();
}

struct Counting : otf2::Visitor {
    void enter(const otf2::At&, std::uint32_t, const otf2::EventAttributes&) override { ++count; }
    void leave(const otf2::At&, std::uint32_t, const otf2::EventAttributes&) override { ++count; }
    std::uint64_t count = 0;
};

template <class Work>
double ns_per_event(const Work& work)
{
    const std::int64_t begin_ns = base::now_ns();
    work();
    return static_cast<double>(base::now_ns() - begin_ns) / events;
}

OTF2_CallbackCode count_global(OTF2_LocationRef, OTF2_TimeStamp, void* count, OTF2_AttributeList*, OTF2_RegionRef)
{
    ++*static_cast<std::uint64_t*>(count);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode count_local(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* count, OTF2_AttributeList*,
                              OTF2_RegionRef)
{
    ++*static_cast<std::uint64_t*>(count);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode select(void* reader, OTF2_LocationRef location, OTF2_StringRef, OTF2_LocationType, std::uint64_t,
                         OTF2_LocationGroupRef)
{
    OTF2_Reader_SelectLocation(static_cast<OTF2_Reader*>(reader), location);
    return OTF2_CALLBACK_SUCCESS;
}

// The reader of OTF2's manual, with callbacks that only count.
class BareReader {
 public:
    explicit BareReader(const std::filesystem::path& anchor) : reader_{OTF2_Reader_Open(anchor.c_str())}
    {
        OTF2_Reader_SetSerialCollectiveCallbacks(reader_);
        OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader_);
        OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
        OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, select);
        OTF2_Reader_RegisterGlobalDefCallbacks(reader_, definitions, callbacks, reader_);
        OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
        OTF2_Reader_ReadAllGlobalDefinitions(reader_, definitions, &read_);
        OTF2_Reader_OpenDefFiles(reader_);
        for (const OTF2_LocationRef location : locations) {
            OTF2_DefReader* local = OTF2_Reader_GetDefReader(reader_, location);
            OTF2_Reader_ReadAllLocalDefinitions(reader_, local, &read_);
            OTF2_Reader_CloseDefReader(reader_, local);
        }
        OTF2_Reader_CloseDefFiles(reader_);
        OTF2_Reader_OpenEvtFiles(reader_);
    }
    ~BareReader() { OTF2_Reader_Close(reader_); }
    BareReader(const BareReader&) = delete;
    BareReader& operator=(const BareReader&) = delete;

    std::uint64_t count_in_order_of_time()
    {
        for (const OTF2_LocationRef location : locations) OTF2_Reader_GetEvtReader(reader_, location);
        OTF2_GlobalEvtReader* global = OTF2_Reader_GetGlobalEvtReader(reader_);
        OTF2_GlobalEvtReaderCallbacks* callbacks = OTF2_GlobalEvtReaderCallbacks_New();
        OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(callbacks, count_global);
        OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(callbacks, count_global);
        OTF2_Reader_RegisterGlobalEvtCallbacks(reader_, global, callbacks, &count_);
        OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
        OTF2_Reader_ReadAllGlobalEvents(reader_, global, &read_);
        OTF2_Reader_CloseGlobalEvtReader(reader_, global);
        return count_;
    }

    std::uint64_t count_by_location()
    {
        OTF2_EvtReaderCallbacks* callbacks = OTF2_EvtReaderCallbacks_New();
        OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, count_local);
        OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, count_local);
        for (const OTF2_LocationRef location : locations) {
            OTF2_EvtReader* local = OTF2_Reader_GetEvtReader(reader_, location);
            OTF2_Reader_RegisterEvtCallbacks(reader_, local, callbacks, &count_);
            OTF2_Reader_ReadAllLocalEvents(reader_, local, &read_);
            OTF2_Reader_CloseEvtReader(reader_, local);
        }
        OTF2_EvtReaderCallbacks_Delete(callbacks);
        return count_;
    }

 private:
    static constexpr OTF2_LocationRef locations[] = {0, OTF2_LocationRef{1} << 32U};
    OTF2_Reader* reader_;
    std::uint64_t read_ = 0;
    std::uint64_t count_ = 0;
};

void all_there(std::uint64_t count)
{
    if (static_cast<double>(count) < events) base::fail("only ", count, " events were read");
}

void print(const char* what, const base::Paired& cost)
{
    std::cout << what << "\n  ours, ns/event      " << cost.first.text() << " (" << 1e3 / cost.first.value
              << " million events/s)\n  bare OTF2, ns/event " << cost.second.text() << "\n  ratio of the pairs  "
              << cost.ratio.text() << "\n";
}

}  // namespace

int main()
try {
    const testing::Scratch scratch;
    write_archive(scratch / "trace");
    const std::filesystem::path anchor = scratch / "trace/traces.otf2";

    const auto ours_in_order = [&] {
        return ns_per_event([&] {
            otf2::Reader reader{anchor};
            Counting counting;
            reader.read(counting);
            all_there(counting.count);
        });
    };
    const auto ours_by_location = [&] {
        return ns_per_event([&] {
            otf2::Reader reader{anchor};
            Counting counting;
            reader.read_by_location(counting);
            all_there(counting.count);
        });
    };
    const auto profile = [&] {
        return ns_per_event([&] {
            otf2::Reader reader{anchor};
            otf2::Profile of_regions{reader.archive()};
            reader.read_by_location(of_regions);
            of_regions.finish();
            all_there(2 * of_regions.regions().front().visits);
        });
    };
    const auto bare_in_order = [&] {
        return ns_per_event([&] { all_there(BareReader{anchor}.count_in_order_of_time()); });
    };
    const auto bare_by_location = [&] {
        return ns_per_event([&] { all_there(BareReader{anchor}.count_by_location()); });
    };
    print("in the order of time", base::measure_in_pairs(pairs, ours_in_order, bare_in_order));
    print("location by location", base::measure_in_pairs(pairs, ours_by_location, bare_by_location));
    print("profile of the regions", base::measure_in_pairs(pairs, profile, bare_by_location));
    return base::exit_fine;
} catch (...) {
    return base::report_failure("reader-bench");
}
