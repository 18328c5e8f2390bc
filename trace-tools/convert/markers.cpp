// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/convert/markers.hpp"

#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/read/archive_files.hpp"

#include <otf2/OTF2_MarkerReader.h>
#include <otf2/OTF2_MarkerReaderCallbacks.h>

#include <map>

namespace convert {

namespace {

using MarkerCallbacks = otf2::Handle<OTF2_MarkerReaderCallbacks, OTF2_MarkerReaderCallbacks_Delete>;

struct FoundMarkers {
    const otf2::Archive& archive;
    std::map<OTF2_MarkerRef, std::string> categories;
    std::map<std::uint64_t, std::uint32_t> locations;  // by OTF2's location number
    std::vector<Marker> all;
};

std::int64_t marker_ns(const otf2::Clock& clock, OTF2_TimeStamp ticks)
{
    const auto per_s = static_cast<long double>(clock.ticks_per_s > 0 ? clock.ticks_per_s : 1'000'000'000);
    const long double ns = static_cast<long double>(ticks) * (1e9L / per_s);
    return ns < 9e18L ? static_cast<std::int64_t>(ns) : INT64_MAX;
}

OTF2_CallbackCode marker_category(void* user, OTF2_MarkerRef self, const char*, const char* category,
                                  OTF2_MarkerSeverity)
{
    return otf2::with_state<FoundMarkers>(
        user, [&](FoundMarkers& found) { found.categories.try_emplace(self, category != nullptr ? category : ""); });
}

OTF2_CallbackCode marker(void* user, OTF2_TimeStamp time, OTF2_TimeStamp length, OTF2_MarkerRef category,
                         OTF2_MarkerScope scope, std::uint64_t of, const char* text)
{
    return otf2::with_state<FoundMarkers>(user, [&](FoundMarkers& found) {
        const auto location = scope == OTF2_MARKER_SCOPE_LOCATION ? found.locations.find(of) : found.locations.end();
        found.all.push_back({.begin_ns = marker_ns(found.archive.clock, time),
                             .length_ns = marker_ns(found.archive.clock, length),
                             .category = found.categories[category],
                             .text = text != nullptr ? text : "",
                             .location = location == found.locations.end() ? otf2::nowhere : location->second});
    });
}

}  // namespace

std::vector<Marker> read_markers(const std::filesystem::path& anchor, const otf2::Archive& archive)
{
    std::filesystem::path file = anchor;
    if (!std::filesystem::exists(file.replace_extension(".marker"))) return {};
    const otf2::ReaderHandle reader = otf2::open_archive(anchor);
    OTF2_MarkerReader* markers = otf2::check(OTF2_Reader_GetMarkerReader(reader.get()), "read its markers");
    const MarkerCallbacks callbacks{otf2::check(OTF2_MarkerReaderCallbacks_New(), "read its markers")};
    OTF2_MarkerReaderCallbacks_SetDefMarkerCallback(callbacks.get(), marker_category);
    OTF2_MarkerReaderCallbacks_SetMarkerCallback(callbacks.get(), marker);
    FoundMarkers found{archive, {}, {}, {}};
    for (std::uint32_t i = 0; i < archive.locations.size(); ++i) found.locations.emplace(archive.locations[i].id, i);
    otf2::check(OTF2_Reader_RegisterMarkerCallbacks(reader.get(), markers, callbacks.get(), &found),
                "read its markers");
    std::uint64_t read = 0;
    otf2::check(OTF2_Reader_ReadAllMarkers(reader.get(), markers, &read), "read its markers");
    otf2::check(OTF2_Reader_CloseMarkerReader(reader.get(), markers), "read its markers");
    return std::move(found.all);
}

}  // namespace convert
