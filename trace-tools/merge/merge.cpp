#include "trace-tools/merge/merge.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/trace_names.hpp"
#include "base/progress.hpp"
#include "base/version.hpp"
#include "trace-tools/merge/event_copy.hpp"
#include "trace-tools/merge/local_definitions.hpp"
#include "trace-tools/merge/merged_definitions.hpp"
#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/read/cut_off.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/read/soundness.hpp"
#include "trace-tools/otf2/write/chunks.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace otf2 {

namespace fs = std::filesystem;

namespace {

ReaderHandle open(const fs::path& anchor)
{
    keep_otf2_quiet();
    ReaderHandle reader{check(OTF2_Reader_Open(anchor.c_str()), "read trace ", anchor.string())};
    check(OTF2_Reader_SetSerialCollectiveCallbacks(reader.get()), "read it alone");
    return reader;
}

void select_all(OTF2_Reader* reader, const Archive& archive)
{
    for (const Location& location : archive.locations)
        check(OTF2_Reader_SelectLocation(reader, location.id), "select location ", location.name);
}

// One of the archives to be merged.
struct Input {
    fs::path anchor;
    std::size_t number;  // 0: the training
    Archive archive;
    RawDefinitions definitions;
    std::vector<std::uint64_t> nodes;      // OTF2's numbers, by index in the archive
    std::vector<std::uint64_t> processes;  // likewise
    std::vector<CopiedEvents> copied;      // by location
    std::uint64_t event_chunk = 0;
    std::uint64_t definition_chunk = 0;
    bool plain = true;  // its files can be looked at

    Input(const fs::path& path, std::size_t which) : anchor{path}, number{which}, archive{Reader{path}.archive()}
    {
        const ReaderHandle reader = open(anchor);
        definitions = read_raw_definitions(reader.get());
        for (const Row& row : definitions.rows) {
            if (row.kind == Kind::node) nodes.push_back(row.cells.front());
            if (row.kind == Kind::location_group) processes.push_back(row.cells.front());
        }
        OTF2_FileSubstrate substrate = OTF2_SUBSTRATE_UNDEFINED;
        OTF2_Compression compression = OTF2_COMPRESSION_UNDEFINED;
        check(OTF2_Reader_GetFileSubstrate(reader.get(), &substrate), "learn how its files lie");
        check(OTF2_Reader_GetCompression(reader.get(), &compression), "learn how its files are packed");
        check(OTF2_Reader_GetChunkSize(reader.get(), &event_chunk, &definition_chunk), "learn the size of its chunks");
        plain = substrate == OTF2_SUBSTRATE_POSIX && compression == OTF2_COMPRESSION_NONE;
    }

    // By index, nowhere if the archive does not say.
    std::uint32_t node_of(const Location& location) const
    {
        return location.process == nowhere ? nowhere : archive.processes[location.process].node;
    }
    std::string host_of(const Location& location) const
    {
        const std::uint32_t node = node_of(location);
        return node == nowhere ? "" : archive.nodes[node].name;
    }
    // The node of that name that the location is on or below.
    std::uint32_t node_named(const std::string& name, const Location& location) const
    {
        std::uint32_t node = node_of(location);
        for (std::size_t steps = 0; node != nowhere && steps < archive.nodes.size(); ++steps) {
            if (archive.nodes[node].name == name) return node;
            node = archive.nodes[node].parent;
        }
        return nowhere;
    }
};

// noisegen has one process an archive; a merged one says what noisegen says, too, but is also a training.
bool is_noise_alone(const Archive& archive)
{
    return archive.property(base::property::design) && archive.processes.size() == 1;
}

std::string shown(const std::string& name)
{
    return name.empty() ? "unknown" : name;
}

// A location of the training whose clock a location of the noise reads, or differs from by a stated offset.
struct Beside {
    const Location* location = nullptr;
    bool same_clock = false;
};

Beside beside(const Input& training, const Input& noise, const Location& location, bool offset_stated)
{
    const std::string clock = noise.archive.clock_identity(location);
    const std::string host = noise.host_of(location);
    Beside same_clock;
    Beside same_host;
    for (const Location& other : training.archive.locations) {
        const bool here =
            host.empty() || training.node_of(other) == nowhere || training.node_named(host, other) != nowhere;
        if (!clock.empty() && training.archive.clock_identity(other) == clock) {
            if (here) return {&other, true};
            if (same_clock.location == nullptr) same_clock = {&other, true};
        }
        if (here && same_host.location == nullptr) same_host = {&other, false};
    }
    if (same_clock.location != nullptr) return same_clock;
    if (offset_stated && same_host.location != nullptr) return same_host;
    if (offset_stated)
        base::fail("no process of the training is on ", shown(host), ", where ", noise.anchor.string(),
                   " was recorded");
    const std::string of_training =
        training.archive.locations.empty() ? "" : training.archive.clock_identity(training.archive.locations.front());
    const bool none_told = of_training.empty() && clock.empty();
    base::fail(none_told ? "neither training nor noise says on which clock it was recorded"
                         : base::join("training and noise were recorded on two different clocks (", shown(of_training),
                                      " and ", shown(clock), ")"),
               ": state their difference with --clock-offset if you know it");
}

// Of the common time, in ticks.
struct Span {
    std::uint64_t first = UINT64_MAX;
    std::uint64_t last = 0;
    bool any() const { return first <= last; }
};

// The archive that is written.
class Output {
 public:
    Output(const fs::path& directory, std::uint64_t event_chunk, std::uint64_t definition_chunk)
    {
        keep_otf2_quiet();
        archive_.reset(check(OTF2_Archive_Open(directory.c_str(), base::file::archive, OTF2_FILEMODE_WRITE, event_chunk,
                                               definition_chunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE),
                             "create an archive in ", directory.string()));
        static const OTF2_FlushCallbacks flushing{
            .otf2_pre_flush = [](void*, OTF2_FileType, OTF2_LocationRef, void*, bool) -> OTF2_FlushType {
                return OTF2_FLUSH;
            },
            .otf2_post_flush = nullptr};  // the flushes of this writing are no events
        check(OTF2_Archive_SetFlushCallbacks(archive_.get(), &flushing, nullptr), "set up the archive");
        check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_.get()), "write it alone");
        use_memory(archive_.get(), memory_);
        check(OTF2_Archive_SetCreator(archive_.get(), ("crosstalk " + base::version()).c_str()), "set up the archive");
    }

    OTF2_Archive* get() const { return archive_.get(); }

    void close()
    {
        check_written([&] { check(OTF2_Archive_Close(archive_.release()), "close the archive"); }, "close the archive");
    }

 private:
    EventMemory memory_{0};
    ArchiveHandle archive_;
};

class Merge {
 public:
    Merge(const MergePlan& plan, const fs::path& directory)
        : inputs_{open_inputs(plan)},
          clock_offset_ns_{plan.clock_offset_ns},
          definitions_{definitions_of(inputs_)},
          spans_(inputs_.size()),
          output_{directory, largest(&Input::event_chunk), largest(&Input::definition_chunk)}
    {
    }

    Merged run()
    {
        for (std::size_t i = 1; i < inputs_.size(); ++i) take_in_noise(inputs_[i]);
        if (clock_offset_ns_.value_or(0) != 0 && !clocks_differ_)
            base::fail_usage("--clock-offset: training and noise were recorded on the same clock; leave it out");
        copy_all_events();
        write_all_local_definitions();
        check_written([&] { write_global_definitions(); }, "write definitions");
        describe();
        output_.close();
        for (const Input& input : inputs_) tell_what_is_left_out(input);
        for (const Input& input : inputs_) tell_if_apart(input);
        merged_.length_s =
            static_cast<double>(last_ - first_) / static_cast<double>(training().definitions.clock.ticks_per_s);
        return std::move(merged_);
    }

 private:
    static std::vector<Input> open_inputs(const MergePlan& plan)
    {
        std::vector<Input> inputs;
        inputs.emplace_back(plan.training, 0);
        if (is_noise_alone(inputs.front().archive))
            base::fail_usage(plan.training.string(),
                             " is noise of noisegen: the training's archive comes first, then the noise's");
        for (const fs::path& noise : plan.noise) inputs.emplace_back(noise, inputs.size());
        for (const Input& input : inputs) {
            Reader reader{input.anchor};
            Visitor nothing_else;
            read_soundly(reader, nothing_else);
        }
        for (const Input& input : inputs)
            if (input.definitions.clock.ticks_per_s == 0)
                base::fail(input.anchor.string(), " does not tell how many ticks of its clock are a second");
        return inputs;
    }

    static std::vector<const RawDefinitions*> definitions_of(const std::vector<Input>& inputs)
    {
        std::vector<const RawDefinitions*> all;
        for (const Input& input : inputs) all.push_back(&input.definitions);
        return all;
    }

    std::uint64_t largest(std::uint64_t Input::*chunk) const
    {
        std::uint64_t most = 0;
        for (const Input& input : inputs_) most = std::max(most, input.*chunk);
        return most;
    }

    const Input& training() const { return inputs_.front(); }

    void take_in_noise(Input& noise)
    {
        for (const Location& location : noise.archive.locations) {
            const Beside training_there = beside(training(), noise, location, clock_offset_ns_.has_value());
            if (!training_there.same_clock) clocks_differ_ = true;
            const std::uint32_t node = noise.node_of(location);
            if (node == nowhere) continue;
            const std::uint32_t same = training().node_named(noise.archive.nodes[node].name, *training_there.location);
            if (same != nowhere) definitions_.same_node(noise.number, noise.nodes[node], training().nodes[same]);
        }
        definitions_.add(noise.number);
        for (std::size_t process = 0; process < noise.processes.size(); ++process) {
            const std::uint32_t node = noise.archive.processes[process].node;
            const std::string name = node == nowhere ? "noise" : "noise on " + noise.archive.nodes[node].name;
            const int before = noise_of_name_[name]++;
            definitions_.rename_process(
                definitions_.number(noise.number, Space::location_group, noise.processes[process]),
                before == 0 ? name : base::join(name, " (", before + 1, ")"));
            ++merged_.noise_processes;
        }
    }

    void copy_all_events()
    {
        std::uint64_t defined = 0;
        for (const Input& input : inputs_)
            for (const Location& location : input.archive.locations) defined += location.events;
        base::Progress progress{"merging"};
        const auto show = [&](std::uint64_t events) {
            merged_.events += events;
            if (progress.due())
                progress.show(
                    static_cast<double>(merged_.events) / static_cast<double>(std::max<std::uint64_t>(defined, 1)),
                    base::join(merged_.events, " events"));
        };
        check(OTF2_Archive_OpenEvtFiles(output_.get()), "create files of events");
        for (Input& input : inputs_) {
            const ReaderHandle reader = open(input.anchor);
            select_all(reader.get(), input.archive);
            check(OTF2_Reader_OpenEvtFiles(reader.get()), "open the events of ", input.anchor.string());
            for (const Location& location : input.archive.locations)
                input.copied.push_back(copy_location(input, reader.get(), location, show));
        }
        check(OTF2_Archive_CloseEvtFiles(output_.get()), "write events");
    }

    CopiedEvents copy_location(const Input& input, OTF2_Reader* reader, const Location& location,
                               const std::function<void(std::uint64_t)>& progress)
    try {
        const std::uint64_t number = definitions_.number(input.number, Space::location, location.id);
        OTF2_EvtWriter* writer = check(OTF2_Archive_GetEvtWriter(output_.get(), number), "write events");
        CopiedEvents copied;
        OTF2_EvtReader* events = has_events(input, location) ? OTF2_Reader_GetEvtReader(reader, location.id) : nullptr;
        if (events != nullptr) {
            const std::uint64_t most = most_events(location.events, bytes_of_events(input, location));
            copied = copy_events(reader, events, writer, io_paradigms(input), resolution(input), most, progress);
            check(OTF2_Reader_CloseEvtReader(reader, events), "read events");
        }
        definitions_.set_events(number, copied.events);
        check_written([&] { check(OTF2_Archive_CloseEvtWriter(output_.get(), writer), "write events"); },
                      "write events");
        ++merged_.locations;
        return copied;
    } catch (const base::Error& error) {
        base::fail(input.anchor.string(), ", location ", location.name, ": ", error.what());
    }

    IoParadigms io_paradigms(const Input& input) const
    {
        IoParadigms now{};
        for (std::size_t old = 0; old < now.size(); ++old)
            now[old] = static_cast<OTF2_IoParadigmRef>(definitions_.number(input.number, Space::io_paradigm, old));
        return now;
    }

    Resolution resolution(const Input& input) const
    {
        return {.read = input.definitions.clock.ticks_per_s, .written = training().definitions.clock.ticks_per_s};
    }

    bool has_events(const Input& input, const Location& location) const
    {
        if (!input.plain) return true;
        const fs::path file = input.anchor.parent_path() / input.anchor.stem() / (std::to_string(location.id) + ".evt");
        if (!fs::exists(file)) return false;
        if (!fs::is_regular_file(file)) base::fail(file.filename().string(), " is no regular file");
        refuse_if_cut_off(file, input.event_chunk, Records::events);
        return true;
    }

    static std::uint64_t bytes_of_events(const Input& input, const Location& location)
    {
        std::error_code missing;
        const fs::path file = input.anchor.parent_path() / input.anchor.stem() / (std::to_string(location.id) + ".evt");
        const std::uintmax_t bytes = input.plain ? fs::file_size(file, missing) : 0;
        return missing ? 0 : bytes;
    }

    void write_all_local_definitions()
    {
        check(OTF2_Archive_OpenDefFiles(output_.get()), "create files of definitions");
        for (const Input& input : inputs_) {
            const ReaderHandle reader = open(input.anchor);
            select_all(reader.get(), input.archive);
            static_cast<void>(OTF2_Reader_OpenDefFiles(reader.get()));  // archives need not have any
            std::array<std::map<std::uint64_t, std::uint64_t>, mapped_spaces> changed;
            for (std::size_t space = 0; space < mapped_spaces; ++space)
                changed[space] = definitions_.changed_numbers(input.number, static_cast<Space>(space));
            for (std::size_t i = 0; i < input.archive.locations.size(); ++i) {
                const Location& location = input.archive.locations[i];
                LocalDefinitions local = read_local_definitions(reader.get(), location.id);
                if (input.number == 0)
                    offsets_of_training_[location.id] = local.clock_offsets;
                else
                    local.clock_offsets = offsets_of_noise(input, location);
                renumber(input, location, input.copied[i], changed, local);
                note_times(input, input.copied[i], local);
                const std::uint64_t number = definitions_.number(input.number, Space::location, location.id);
                check_written([&] { write_local_definitions(output_.get(), number, local); },
                              "write local definitions");
            }
        }
        check(OTF2_Archive_CloseDefFiles(output_.get()), "write local definitions");
    }

    // Noise beside a rank is on that rank's clock.
    std::vector<RawClockOffset> offsets_of_noise(const Input& noise, const Location& location) const
    {
        const Beside there = beside(training(), noise, location, clock_offset_ns_.has_value());
        const std::vector<RawClockOffset>& offsets = offsets_of_training_.at(there.location->id);
        if (there.same_clock) return offsets;
        const double ticks_per_ns = static_cast<double>(training().definitions.clock.ticks_per_s) / 1e9;
        const auto stated = static_cast<std::int64_t>(static_cast<double>(*clock_offset_ns_) * ticks_per_ns);
        if (offsets.empty()) return {{.at = 0, .offset = stated}};
        std::vector<RawClockOffset> of_noise;
        for (const RawClockOffset& offset : offsets) {
            const auto at = std::max<std::int64_t>(static_cast<std::int64_t>(offset.at) - stated, 0);
            if (at == 0) of_noise.clear();  // from before the noise's clock began
            of_noise.push_back({static_cast<std::uint64_t>(at), offset.offset + stated, offset.deviation});
        }
        return of_noise;
    }

    void renumber(const Input& input, const Location& location, const CopiedEvents& copied,
                  const std::array<std::map<std::uint64_t, std::uint64_t>, mapped_spaces>& changed,
                  LocalDefinitions& local)
    {
        const auto metric = static_cast<std::size_t>(Space::metric);
        std::map<std::uint64_t, std::uint64_t> metrics_of_node;
        if (input.number > 0) {
            const std::uint64_t here = definitions_.number(input.number, Space::location, location.id);
            for (const OTF2_MetricRef own : copied.metrics) {
                const auto found = local.numbers[metric].find(own);
                const std::uint64_t known = definitions_.number(
                    input.number, Space::metric, found == local.numbers[metric].end() ? own : found->second);
                if (known != undefined(Space::metric)) metrics_of_node[own] = definitions_.metric_of_node(known, here);
            }
        }
        for (std::size_t space = 0; space < mapped_spaces; ++space) {
            std::map<std::uint64_t, std::uint64_t>& numbers = local.numbers[space];
            for (auto& [own, global] : numbers)
                if (const auto now = changed[space].find(global); now != changed[space].end()) global = now->second;
            numbers.insert(changed[space].begin(), changed[space].end());  // what the location did not renumber
        }
        for (const auto& [own, now] : metrics_of_node) local.numbers[metric][own] = now;
    }

    void note_times(const Input& input, const CopiedEvents& copied, const LocalDefinitions& local)
    {
        if (copied.events == 0) return;
        Span& span = spans_[input.number];
        span.first = std::min(span.first, common_time(copied.first, local.clock_offsets));
        span.last = std::max(span.last, common_time(copied.last, local.clock_offsets));
        first_ = std::min(first_, span.first);
        last_ = std::max(last_, span.last);
    }

    void write_global_definitions()
    {
        const RawClock& clock = training().definitions.clock;
        const bool stated = clock.begin != OTF2_UNDEFINED_TIMESTAMP;
        if (stated) first_ = std::min(first_, clock.begin);
        if (stated) last_ = std::max(last_, clock.begin + clock.length);
        if (first_ > last_) first_ = last_;
        const std::uint64_t realtime =
            clock.realtime == OTF2_UNDEFINED_TIMESTAMP
                ? clock.realtime
                : clock.realtime - static_cast<std::uint64_t>(static_cast<double>(clock.begin - first_) * 1e9 /
                                                              static_cast<double>(clock.ticks_per_s));
        OTF2_GlobalDefWriter* writer = check(OTF2_Archive_GetGlobalDefWriter(output_.get()), "write definitions");
        check(OTF2_GlobalDefWriter_WriteClockProperties(writer, clock.ticks_per_s, first_, last_ - first_, realtime),
              "write clock properties");
        definitions_.write(writer);
        check(OTF2_Archive_CloseGlobalDefWriter(output_.get(), writer), "close the definitions");
    }

    void describe()
    {
        const Archive& archive = training().archive;
        if (!archive.machine.empty())
            check(OTF2_Archive_SetMachineName(output_.get(), archive.machine.c_str()), "name the machine");
        if (!archive.description.empty())
            check(OTF2_Archive_SetDescription(output_.get(), archive.description.c_str()), "describe the archive");
        for (const Input& input : inputs_)
            for (const auto& [name, value] : input.archive.properties)
                OTF2_Archive_SetProperty(output_.get(), name.c_str(), value.c_str(), false);  // the first one stays
    }

    void tell_what_is_left_out(const Input& input)
    {
        const auto note = [&](const auto&... parts) {
            merged_.notes.push_back(base::join(input.anchor.string(), ": ", parts...));
        };
        for (const std::string& problem : input.archive.problems) note(problem);
        if (input.definitions.unknown > 0)
            note(input.definitions.unknown, " definitions of kinds that this OTF2 does not know are left out");
        for (std::size_t i = 0; i < input.copied.size(); ++i) {
            const Location& location = input.archive.locations[i];
            const CopiedEvents& copied = input.copied[i];
            if (copied.unknown > 0)
                note(copied.unknown, " events of ", location.name,
                     " are of kinds that this OTF2 does not know: left out");
            if (copied.events + copied.unknown != location.events)
                note(copied.events + copied.unknown, " events of ", location.name, " are there, ", location.events,
                     " are defined");
        }
    }

    void tell_if_apart(const Input& noise)
    {
        const Span& one = spans_.front();
        const Span& other = spans_[noise.number];
        if (!one.any() || !other.any() || (other.first <= one.last && one.first <= other.last)) return;
        const bool before = other.last < one.first;
        const std::uint64_t gap = before ? one.first - other.last : other.first - one.last;
        std::array<char, 64> length{};
        std::snprintf(length.data(), length.size(), "%.3f s",
                      static_cast<double>(gap) / static_cast<double>(training().definitions.clock.ticks_per_s));
        merged_.notes.push_back(base::join(noise.anchor.string(), ": does not overlap the training: it ",
                                           before ? "ends " : "begins ", length.data(),
                                           before ? " before the training begins" : " after the training ends"));
    }

    std::vector<Input> inputs_;
    std::optional<std::int64_t> clock_offset_ns_;
    bool clocks_differ_ = false;  // of some noise from the training's
    MergedDefinitions definitions_;
    std::vector<Span> spans_;  // by input
    Output output_;
    Merged merged_;
    std::map<std::string, int> noise_of_name_;
    std::map<std::uint64_t, std::vector<RawClockOffset>> offsets_of_training_;  // by location
    std::uint64_t first_ = UINT64_MAX;                                          // ticks of the common time
    std::uint64_t last_ = 0;
};

}  // namespace

Merged merge_traces(const MergePlan& plan, const fs::path& directory)
{
    return Merge{plan, directory}.run();
}

}  // namespace otf2
