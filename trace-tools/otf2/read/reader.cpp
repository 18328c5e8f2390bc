// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/read/reader.hpp"

#include "base/words.hpp"
#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/read/archive_files.hpp"
#include "trace-tools/otf2/read/confined.hpp"
#include "trace-tools/otf2/read/cut_off.hpp"
#include "trace-tools/otf2/read/definition_reader.hpp"
#include "trace-tools/otf2/read/event_source.hpp"
#include "trace-tools/otf2/read/spill.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <new>
#include <utility>

namespace otf2 {

namespace {

// Runs `work`; errors name the archive.
template <class Work>
auto reading(const std::filesystem::path& anchor, const Work& work)
{
    try {
        return work();
    } catch (const base::Error& error) {
        base::fail("cannot read trace ", anchor.string(), ": ", error.what());
    } catch (const std::bad_alloc&) {
        base::fail("cannot read trace ", anchor.string(), ": it needs more memory than its size justifies: damaged");
    }
}

constexpr std::size_t most_locations_at_once = 32;
constexpr std::uintmax_t most_prepared_bytes = 16 << 20;  // limit of definition files that OTF2 keeps in memory

std::vector<std::string> names_of(const Archive& archive, const std::vector<std::size_t>& locations)
{
    std::vector<std::string> names;
    for (const std::size_t number : locations) {
        const Location& location = archive.locations[number];
        const bool known = location.process < archive.processes.size();
        names.push_back((known ? archive.processes[location.process].name + " / " : "") + location.name);
    }
    return names;
}

// Returns a text such as "no events of one, two and 40 more" ends with.
std::string names_text(std::vector<std::string> names)
{
    constexpr std::size_t most = 5;
    const std::size_t more = names.size() > most ? names.size() - most : 0;
    names.resize(names.size() - more);
    return base::join_words(names, ", ") + (more > 0 ? base::join(" and ", more, " more") : "");
}

}  // namespace

Reader::Reader(std::filesystem::path anchor, ReadOptions options) : anchor_{std::move(anchor)}, options_{options}
{
    now_reading(anchor_);
    reading(anchor_, [&] {
        const ReaderHandle reader = open_archive(anchor_);
        const ArchiveFiles files{anchor_, reader.get()};
        files.refuse_cut_off_definitions();
        event_chunk_bytes_ = files.event_chunk_bytes();
        Definitions definitions = read_global_definitions(reader.get());
        archive_ = std::move(definitions.archive);
        references_ = std::make_shared<const ReferenceTable>(std::move(definitions.references));
        std::uintmax_t bytes = 0;
        std::vector<std::size_t> without;
        for (std::size_t first = 0; first < archive_.locations.size(); first += batch()) {
            const std::size_t last = std::min(first + batch(), archive_.locations.size());
            for (std::size_t i = first; i < last; ++i) bytes += files.check_definitions(archive_.locations[i]);
            Prepared prepared = prepare();
            for (const std::size_t location :
                 read_local_definitions(prepared.get(), archive_, *references_, first, last, &archive_))
                without.push_back(location);
            if (bytes <= most_prepared_bytes) prepared_.push_back(std::move(prepared));
            getting_on();
        }
        if (!without.empty() && without.size() < archive_.locations.size())
            archive_.problems.push_back("no local definitions (numbering, clock offsets) of " +
                                        names_text(names_of(archive_, without)));
    });
}

Reader::Prepared Reader::prepare() const
{
    return {open_archive(anchor_).release(), [](OTF2_Reader* reader) { OTF2_Reader_Close(reader); }};
}

// Number of locations in a batch: there are enough batches that all threads end at about the same time.
std::size_t Reader::batch() const
{
    constexpr std::size_t least_batches = 16;
    return std::clamp<std::size_t>(archive_.locations.size() / least_batches, 1, most_locations_at_once);
}

namespace {

constexpr std::uint64_t events_at_once = 100'000;

}  // namespace

// Counts of one pass, or the exception that ended it.
struct Reader::Tally {
    std::uint64_t read = 0;
    std::uint64_t left_out = 0;
    std::uint64_t unknown = 0;
    std::uint64_t samples = 0;
    std::vector<std::size_t> missing;  // locations without events
    std::exception_ptr failure;
};

// One pass over the events of some locations. Opens the archive again and gives OTF2 the reference numbers and clock
// offsets of each location.
class Reader::Pass {
 public:
    Pass(const Reader& reader, Visitor& visitor, std::size_t first, std::size_t last, Prepared prepared)
        : archive_{reader.archive_},
          options_{reader.options_},
          first_{first},
          last_{last},
          source_{archive_, *reader.references_, visitor},
          reader_{std::move(prepared)},
          files_{reader.anchor_, reader_.get()}
    {
        check(OTF2_Reader_OpenEvtFiles(reader_.get()), "open its events");
    }

    void in_order_of_time()
    {
        if (options_.undo_clock_offsets) base::fail("events cannot be ordered: clocks are not corrected");
        std::uint64_t defined = 0;
        std::uint64_t bytes = 0;
        bool any = false;
        for (std::size_t i = first_; i < last_; ++i) {
            any = location_reader(i) != nullptr || any;
            defined += archive_.locations[i].events;
            bytes += files_.bytes_of_events(archive_.locations[i]);
            getting_on();
        }
        if (!any) return;
        OTF2_GlobalEvtReader* events = check(OTF2_Reader_GetGlobalEvtReader(reader_.get()), "read events");
        check(OTF2_Reader_RegisterGlobalEvtCallbacks(reader_.get(), events, callbacks_.global.get(), &source_),
              "read events");
        const bool whole = read_in_parts(most_events(defined, bytes), "", [&](std::uint64_t most, std::uint64_t& read) {
            return OTF2_Reader_ReadGlobalEvents(reader_.get(), events, most, &read);
        });
        if (whole) check(OTF2_Reader_CloseGlobalEvtReader(reader_.get(), events), "close events");
    }

    void location_by_location()
    {
        for (std::size_t i = first_; i < last_; ++i) {
            const Location& location = archive_.locations[i];
            OTF2_EvtReader* events = location_reader(i);
            if (events == nullptr) continue;
            check(OTF2_Reader_RegisterEvtCallbacks(reader_.get(), events, callbacks_.local.get(), &source_),
                  "read events");
            const bool whole = read_in_parts(most_events(location.events, files_.bytes_of_events(location)),
                                             " of " + location.name, [&](std::uint64_t some, std::uint64_t& read) {
                                                 return OTF2_Reader_ReadLocalEvents(reader_.get(), events, some, &read);
                                             });
            if (!whole) return;
            check(OTF2_Reader_CloseEvtReader(reader_.get(), events), "close events of ", location.name);
        }
    }

    Tally tally() const
    {
        return {.read = read_,
                .left_out = source_.left_out(),
                .unknown = source_.unknown(),
                .samples = source_.samples(),
                .missing = missing_,
                .failure = source_.thrown()};
    }

 private:
    // Returns false if the visitor ended the pass.
    template <class ReadSome>
    bool read_in_parts(std::uint64_t most, const std::string& of, const ReadSome& read_some)
    {
        for (std::uint64_t all = 0;;) {
            std::uint64_t read = 0;
            const OTF2_ErrorCode code = read_some(events_at_once, read);
            if (source_.thrown()) return false;
            check(code, "read events", of);
            getting_on();
            read_ += read;
            all += read;
            if (read < events_at_once) return true;
            if (all >= most) base::fail("events", of, " exceed the defined count and the file's size: damaged");
        }
    }

    // Returns null, and notes the location, if its events are missing. OTF2 would only notice while reading, and then
    // give up on all locations.
    OTF2_EvtReader* location_reader(std::size_t index)
    {
        const Location& location = archive_.locations[index];
        OTF2_EvtReader* events = nullptr;
        if (files_.has_events(location)) {
            files_.refuse_cut_off_events(location);
            events = OTF2_Reader_GetEvtReader(reader_.get(), location.id);
        }
        if (events == nullptr) {
            if (location.events > 0) missing_.push_back(index);
            return nullptr;
        }
        if (options_.undo_clock_offsets) check(OTF2_EvtReader_ApplyClockOffsets(events, false), "undo clock offsets");
        return events;
    }

    const Archive& archive_;
    ReadOptions options_;
    std::size_t first_;
    std::size_t last_;
    EventSource source_;
    EventCallbacks callbacks_;
    Prepared reader_;
    ArchiveFiles files_;
    std::uint64_t read_ = 0;
    std::vector<std::size_t> missing_;
};

Reader::Tally Reader::pass(Visitor& visitor, Order order, std::size_t first, std::size_t last, Prepared prepared) const
try {
    return reading(anchor_, [&] {
        if (!prepared) {
            prepared = prepare();
            read_local_definitions(prepared.get(), archive_, *references_, first, last, nullptr);
        }
        Pass pass{*this, visitor, first, last, std::move(prepared)};
        if (order == Order::time)
            pass.in_order_of_time();
        else
            pass.location_by_location();
        return pass.tally();
    });
} catch (...) {
    Tally failed;
    failed.failure = std::current_exception();
    return failed;
}

void Reader::read(Visitor& visitor)
{
    now_reading(anchor_);
    if (event_chunk_bytes_ > options_.most_open_bytes / std::max<std::size_t>(archive_.locations.size(), 1) &&
        !options_.undo_clock_offsets)
        return merge(visitor);
    const Tally tally = pass(visitor, Order::time, 0, archive_.locations.size(), {nullptr, nullptr});
    conclude({&tally, 1});
}

void Reader::merge(Visitor& visitor)
{
    std::error_code code;
    const std::filesystem::path directory = std::filesystem::temp_directory_path(code);
    if (code) reading(anchor_, [&] { base::fail("no directory for temporary files (TMPDIR): ", code.message()); });
    Spill spill{archive_, *references_, directory};
    read_by_location(spill);
    Spill* const alone = &spill;
    Spill::Merge in_order{{&alone, 1}};
    for (Spill::Merge::Chunk chunk; in_order.next(chunk);) in_order.visit(chunk, visitor);
}

void Reader::read_by_location(Visitor& visitor)
{
    Visitor* const alone = &visitor;
    read_by_location(std::span<Visitor* const>{&alone, 1});
}

void Reader::read_by_location(std::span<Visitor* const> visitors)
{
    now_reading(anchor_);
    const std::size_t locations = archive_.locations.size();
    std::vector<Prepared> prepared = std::exchange(prepared_, {});
    std::vector<Tally> tallies((locations + batch() - 1) / batch());
    std::atomic<std::size_t> next = 0;
    const auto work = [&](Visitor& visitor) {
        for (std::size_t i = next++; i < tallies.size(); i = next++) {
            const std::size_t first = i * batch();
            tallies[i] = pass(visitor, Order::location, first, std::min(first + batch(), locations),
                              i < prepared.size() ? std::move(prepared[i]) : Prepared{nullptr, nullptr});
            if (tallies[i].failure) next = tallies.size();
        }
    };
    std::vector<std::future<void>> others;
    for (Visitor* visitor : visitors.subspan(std::min<std::size_t>(visitors.size(), 1)))
        others.push_back(std::async(std::launch::async, work, std::ref(*visitor)));
    if (!visitors.empty()) work(*visitors.front());
    for (std::future<void>& other : others) other.get();
    conclude(tallies);
}

void Reader::conclude(std::span<const Tally> tallies)
{
    Tally all;
    for (const Tally& one : tallies) {
        if (one.failure) std::rethrow_exception(one.failure);  // rethrows an exception of a visitor unchanged
        all.read += one.read;
        all.left_out += one.left_out;
        all.unknown += one.unknown;
        all.samples += one.samples;
        all.missing.insert(all.missing.end(), one.missing.begin(), one.missing.end());
    }
    std::uint64_t defined = 0;
    for (const Location& location : archive_.locations) defined += location.events;
    reading(anchor_, [&] {
        if (all.read == 0 && defined > 0) base::fail("there are definitions of ", defined, " events, but no events");
    });
    problems_.clear();
    oddities_.clear();
    if (!all.missing.empty()) problems_.push_back("no events of " + names_text(names_of(archive_, all.missing)));
    if (all.read != defined) {
        // Some other writers count events wrongly (APEX); but if events are missing, the file may be truncated.
        const bool miscounted = all.read > defined && !archive_.is_ours();
        (miscounted ? oddities_ : problems_)
            .push_back(base::join(all.read, " events are present, ", defined, " are defined"));
    }
    if (all.left_out > 0) problems_.push_back(base::join(all.left_out, " events refer to a missing definition"));
    if (all.unknown > 0) oddities_.push_back(base::join(all.unknown, " events are of a kind unknown to this OTF2"));
    if (all.samples > 0)
        oddities_.push_back(base::join(all.samples, " events of calling contexts (samples) are ignored"));
}

}  // namespace otf2
