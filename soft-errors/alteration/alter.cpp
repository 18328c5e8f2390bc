// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/alteration/alter.hpp"

#include "base/error.hpp"
#include "base/system/temporary_directory.hpp"
#include "base/version.hpp"
#include "base/words.hpp"
#include "soft-errors/alteration/copy.hpp"
#include "soft-errors/alteration/file_locks.hpp"
#include "soft-errors/alteration/replay.hpp"
#include "soft-errors/drawing/flips.hpp"
#include "soft-errors/drawing/roles.hpp"
#include "soft-errors/state/alteration_record.hpp"
#include "soft-errors/stored/numbers.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <ostream>
#include <utility>

namespace soft_errors {

namespace fs = std::filesystem;

namespace {

std::string shape_text(const std::vector<std::uint64_t>& shape)
{
    std::string text;
    for (const std::uint64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
    return text.empty() ? "1" : text;
}

const char* layout_text(Tensor::Layout layout)
{
    constexpr std::array texts{"plain", "chunks", "packed"};
    return texts.at(static_cast<std::size_t>(layout));
}

// The state to be altered. A member that is deflated in its archive is unpacked first, into a copy of the archive:
// `copy` if there is one, else a temporary copy.
class Source {
 public:
    Source(const fs::path& file, std::optional<NewCopy>& copy, bool in_place)
    {
        fs::path read = file;
        if (!fs::is_directory(file)) {
            const StoredFile stored = stored_file(file);
            if (stored.member && !stored.member->stored) {
                if (in_place)
                    base::fail(file.string(), " is compressed (deflate) and cannot change in place: use --out COPY");
                if (!copy) unpacked_.emplace("ddl-alter");
                read = copy ? copy->path() : unpacked_->path() / file.filename();
                copy_with_member_stored(file, *stored.member, read);
                is_in_copy_ = copy.has_value();
            }
        }
        state_ = read_state(read);
        state_.path = file;
    }

    StoredState& state() { return state_; }
    bool is_in_copy() const { return is_in_copy_; }

 private:
    std::optional<base::TemporaryDirectory> unpacked_;
    StoredState state_;
    bool is_in_copy_ = false;
};

struct Alteration {
    std::vector<Number> before{};
    std::vector<Number> after{};
    std::optional<double> scale;
    std::size_t skipped = 0;  // skipped because they would not be finite
};

Alteration draw(StoredState& state, const AlterRequest& request)
{
    take_precision(state, request.sites.precision);
    const NamedTensors named = named_tensors(state);
    base::Random random = base::random_stream(request.seed, 0);
    std::vector<Site> sites;
    FlipRequest flips = request.flips;
    if (request.replay.empty()) {
        const std::vector<std::size_t> tensors = eligible(named, request.sites);
        for (const std::size_t tensor : tensors)
            if (!flips.scale) static_cast<void>(allowed_bits(named.tensors[tensor], flips));
        sites = draw_sites(named, tensors, request.sites, flips, random);
    } else {
        Replay replay = replayed(state, request.replay, request.map, random);
        sites = std::move(replay.sites);
        flips.scale = replay.scale;
    }
    Alteration alteration{.scale = flips.scale, .skipped = sites.size()};
    for (const Site& site : sites) alteration.before.push_back({site.tensor, site.index, 0});
    read_numbers(state, alteration.before);
    alteration.after = altered(named, sites, alteration.before, flips, random);
    alteration.skipped -= sites.size();
    return alteration;
}

nlohmann::ordered_json about(const StoredState& state, const AlterRequest& request,
                             const std::vector<std::uint64_t>& bytes_after)
{
    nlohmann::ordered_json json;
    json["format"] = alteration_format;
    json["program"] = "ddl-alter";
    json["version"] = base::version();
    json["seed"] = request.seed;
    json["files"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < state.files.size(); ++i)
        json["files"].push_back(
            {{"name", state.files[i].name}, {"bytes", state.files[i].whole_bytes()}, {"bytes_after", bytes_after[i]}});
    return json;
}

AlterationRecord record_of(const StoredState& state, const AlterRequest& request, const Alteration& alteration,
                           const std::vector<Patch>& patches)
{
    std::vector<std::uint64_t> bytes_after;
    for (const StoredFile& file : state.files) bytes_after.push_back(file.whole_bytes());
    for (const Patch& patch : patches) bytes_after[patch.file] = std::max(bytes_after[patch.file], patch.end());
    AlterationRecord record{.about = about(state, request, bytes_after), .scale = alteration.scale};
    std::map<std::size_t, std::size_t> places;
    for (std::size_t i = 0; i < alteration.before.size(); ++i) {
        const Number& before = alteration.before[i];
        const auto [place, is_new] = places.try_emplace(before.tensor, record.tensors.size());
        const Tensor& tensor = state.tensors[before.tensor];
        if (is_new) record.tensors.push_back({tensor.path, tensor.format, tensor.shape});
        record.numbers.push_back({place->second, before.index, before.bits, alteration.after[i].bits});
    }
    return record;
}

void print_rows(std::ostream& out, const StoredState& state, const Alteration& alteration)
{
    for (std::size_t i = 0; i < alteration.before.size(); ++i) {
        const Number& before = alteration.before[i];
        const Number& after = alteration.after[i];
        const Tensor& tensor = state.tensors[before.tensor];
        out << base::printable(tensor.path) << '[' << before.index << "] bits "
            << bits_text(tensor.format, before.bits ^ after.bits) << ": " << value_text(tensor.format, before.bits)
            << " -> " << value_text(tensor.format, after.bits) << '\n';
    }
}

void print_summary(std::ostream& out, const StoredState& state, const Alteration& alteration)
{
    std::uint64_t all = 0;
    for (const Tensor& tensor : state.tensors) all += tensor.elements;
    out << alteration.before.size() << " of " << all << " numbers in " << state.tensors.size() << " tensors";
    if (alteration.skipped > 0) out << ", " << alteration.skipped << " more skipped, since they would not be finite";
}

FileLocks locks_on(const fs::path& file, bool in_place)
{
    return {file, in_place ? FileLocks::For::changing : FileLocks::For::reading};
}

void apply_in_place(const std::vector<Patch>& patches, const std::vector<fs::path>& files, const fs::path& record)
try {
    apply_patches(patches, files);
} catch (const std::exception& error) {
    base::fail(error.what(), "; partly altered: --undo ", record.string(), " restores it");
}

std::vector<fs::path> paths_in(const fs::path& target, const std::vector<std::string>& names)
{
    std::vector<fs::path> paths;
    for (const std::string& name : names) paths.push_back(name.empty() ? target : target / name);
    return paths;
}

struct RecordedFile {
    std::string name;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_after = 0;
};

std::vector<RecordedFile> recorded_files(const AlterationRecord& alteration, const fs::path& record)
try {
    std::vector<RecordedFile> files;
    for (const auto& one : alteration.about.at("files")) {
        files.push_back({one.at("name"), one.at("bytes"), one.at("bytes_after")});
        if (fs::path{files.back().name}.filename() != files.back().name)
            base::fail(record.string(), ": '", files.back().name, "' is not the name of a checkpoint's file");
    }
    return files;
} catch (const nlohmann::json::exception& error) {
    base::fail(record.string(), ": ", error.what());
}

}  // namespace

void list_tensors(std::ostream& out, const fs::path& file, const std::string& precision)
{
    std::optional<NewCopy> none;
    Source source{file, none, false};
    StoredState& state = source.state();
    take_precision(state, precision);
    const std::vector<std::string> roles = roles_of(named_tensors(state));
    for (std::size_t i = 0; i < state.tensors.size(); ++i) {
        const Tensor& tensor = state.tensors[i];
        out << base::printable(tensor.path) << "  " << format_name(tensor.format) << "  " << shape_text(tensor.shape)
            << "  " << roles[i] << "  " << layout_text(tensor.layout) << '\n';
    }
    for (const LeftAlone& one : state.left_alone)
        out << base::printable(one.path) << "  skipped: " << base::printable(one.why) << '\n';
}

void alter(std::ostream& out, const AlterRequest& request)
{
    std::optional<NewCopy> copy;
    if (!request.out.empty() && !request.dry_run) copy.emplace(request.out);
    std::optional<FileLocks> locks;
    if (!request.dry_run) locks.emplace(locks_on(request.file, request.out.empty()));
    Source source{request.file, copy, request.out.empty() && !request.dry_run};
    StoredState& state = source.state();
    const Alteration alteration = draw(state, request);
    if (request.dry_run) {
        print_rows(out, state, alteration);
        out << "would alter ";
        print_summary(out, state, alteration);
        out << '\n';
        return;
    }
    const std::vector<Patch> patches = patches_for(state, alteration.before, alteration.after, request.keep_checksum);
    if (copy && !source.is_in_copy()) copy->fill(request.file);
    write_alteration(request.record, record_of(state, request, alteration, patches), packed_patches(patches));
    std::vector<std::string> names;
    for (const StoredFile& file : state.files) names.push_back(file.name);
    const std::vector<fs::path> targets = paths_in(copy ? copy->path() : request.file, names);
    try {
        make_room(patches, targets);
        if (copy) apply_patches(patches, targets);
        if (copy) copy->finish();
    } catch (...) {
        remove_alteration(request.record);
        throw;
    }
    if (!copy) apply_in_place(patches, targets, request.record);
    out << "altered ";
    print_summary(out, state, alteration);
    out << "; record: " << request.record.string() << '\n';
}

void undo_alteration(std::ostream& out, const fs::path& file, const fs::path& out_copy, const fs::path& record)
{
    const AlterationRecord alteration = read_alteration(record);
    const std::vector<Patch> patches = unpacked_patches(read_undo(record), undo_of(record));
    std::optional<NewCopy> copy;
    if (!out_copy.empty()) copy.emplace(out_copy);
    const FileLocks locks = locks_on(file, out_copy.empty());
    const std::vector<RecordedFile> files = recorded_files(alteration, record);
    std::vector<std::string> names;
    for (const RecordedFile& one : files) {
        names.push_back(one.name);
        const fs::path here = paths_in(file, {one.name}).front();
        const std::uint64_t found = fs::file_size(here);
        if (found < one.bytes || found > one.bytes_after)
            base::fail(here.string(), " is not the file of the record: its size is ", found, " bytes");
    }
    for (const Patch& patch : patches)
        if (patch.file >= names.size()) base::fail(record.string(), " has no file ", patch.file);
    for (std::size_t i = 0; i < files.size(); ++i)
        refuse_unproven_cut(patches, static_cast<std::uint32_t>(i), files[i].bytes, files[i].bytes_after,
                            paths_in(file, {files[i].name}).front());
    if (copy) copy->fill(file);
    const std::vector<fs::path> targets = paths_in(copy ? copy->path() : file, names);
    const std::uint64_t changed = undo(patches, targets);
    for (std::size_t i = 0; i < targets.size(); ++i) fs::resize_file(targets[i], files[i].bytes);
    if (copy) copy->finish();
    if (changed == 0)
        out << "nothing to undo in " << file.string() << '\n';
    else
        out << "undid " << alteration.numbers.size() << " numbers in " << file.string() << '\n';
}

}  // namespace soft_errors
