// SPDX-License-Identifier: Apache-2.0
// The least that reading with OTF2 takes: what benchmarks compare with.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace bench {

inline OTF2_CallbackCode count_global(OTF2_LocationRef, OTF2_TimeStamp, void* count, OTF2_AttributeList*,
                                      OTF2_RegionRef)
{
    ++*static_cast<std::uint64_t*>(count);
    return OTF2_CALLBACK_SUCCESS;
}

inline OTF2_CallbackCode count_local(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* count, OTF2_AttributeList*,
                                     OTF2_RegionRef)
{
    ++*static_cast<std::uint64_t*>(count);
    return OTF2_CALLBACK_SUCCESS;
}

inline OTF2_CallbackCode note(void* locations, OTF2_LocationRef location, OTF2_StringRef, OTF2_LocationType,
                              std::uint64_t, OTF2_LocationGroupRef)
{
    static_cast<std::vector<OTF2_LocationRef>*>(locations)->push_back(location);
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
        OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, note);
        OTF2_Reader_RegisterGlobalDefCallbacks(reader_, definitions, callbacks, &locations_);
        OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
        OTF2_Reader_ReadAllGlobalDefinitions(reader_, definitions, &read_);
        for (const OTF2_LocationRef location : locations_) OTF2_Reader_SelectLocation(reader_, location);
        OTF2_Reader_OpenDefFiles(reader_);
        for (const OTF2_LocationRef location : locations_) {
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
        for (const OTF2_LocationRef location : locations_) OTF2_Reader_GetEvtReader(reader_, location);
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
        for (const OTF2_LocationRef location : locations_) {
            OTF2_EvtReader* local = OTF2_Reader_GetEvtReader(reader_, location);
            OTF2_Reader_RegisterEvtCallbacks(reader_, local, callbacks, &count_);
            OTF2_Reader_ReadAllLocalEvents(reader_, local, &read_);
            OTF2_Reader_CloseEvtReader(reader_, local);
        }
        OTF2_EvtReaderCallbacks_Delete(callbacks);
        return count_;
    }

 private:
    OTF2_Reader* reader_;
    std::vector<OTF2_LocationRef> locations_;
    std::uint64_t read_ = 0;
    std::uint64_t count_ = 0;
};

}  // namespace bench
