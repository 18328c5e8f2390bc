// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/state/alteration_record.hpp"

#include "base/csv.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/words.hpp"
#include "soft-errors/state/checksums.hpp"

#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <span>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace soft_errors {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

const std::vector<std::string> columns{"path",   "index", "type",         "bits",
                                       "before", "after", "before_value", "after_value"};

std::string checksum_of(const std::string& content)
{
    return hexadecimal({.kind = NumberFormat::Kind::natural, .bytes = 4}, crc32c(std::as_bytes(std::span{content})));
}

void make_durable(const fs::path& path)
{
    const base::Descriptor file = base::check_errno(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open ", path.string());
    base::check_errno(::fsync(file), "write ", path.string());
}

// Creates the file, and returns it locked, to mark that it is being written. If two processes ask for the same name,
// one of them gets it.
base::Descriptor write_new(const fs::path& path, const std::string& content)
{
    fs::path beside = path;
    beside += base::join(".", ::getpid(), ".tmp");
    base::write_whole(beside, content);
    base::Descriptor lock = base::check_errno(::open(beside.c_str(), O_RDONLY | O_CLOEXEC), "open ", beside.string());
    ::flock(lock, LOCK_EX | LOCK_NB);
    const int renamed = base::rename_unless_taken(beside, path);
    const int why = errno;
    std::error_code ignored;
    if (renamed < 0) fs::remove(beside, ignored);
    if (renamed < 0 && why == EEXIST) base::fail_taken(path);
    if (renamed < 0) throw std::system_error{why, std::generic_category(), "cannot create " + path.string()};
    make_durable(path);
    return lock;
}

bool begins_with(const fs::path& file, const std::string& text)
{
    std::string found(text.size(), '\0');
    return std::ifstream{file, std::ios::binary}.read(found.data(), static_cast<std::streamsize>(found.size())) &&
           found == text;
}

// Removes R.csv and R.undo without R.json: the process that wrote them was killed before it altered anything. A process
// that still writes them holds the lock. A file of that name with other content is the user's.
void remove_what_was_never_begun(const fs::path& record)
{
    const fs::path rows = rows_of(record);
    const fs::path undo = undo_of(record);
    if (fs::exists(record) || !begins_with(rows, base::join_words(columns, ",") + '\n')) return;
    if (fs::exists(undo) && !begins_with(undo, undo_mark)) return;
    const base::Descriptor lock = ::open(rows.c_str(), O_RDONLY | O_CLOEXEC);
    if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0 || fs::exists(record)) return;
    std::error_code ignored;
    for (const fs::path& path : {undo, rows}) fs::remove(path, ignored);
}

template <class Number>
void append_number(std::string& text, Number number)
{
    std::array<char, 32> room{};
    text.append(room.data(), std::to_chars(room.data(), room.data() + room.size(), number).ptr);
}

// Does not use CsvWriter: a record may have many rows, and must be on the device before the state's file changes.
std::string rows_text(const AlterationRecord& alteration)
{
    std::vector<std::string> paths;
    std::vector<std::string> types;
    for (const AlteredTensor& tensor : alteration.tensors) {
        paths.push_back(base::CsvText{tensor.path}.quoted() + ',');
        types.push_back(',' + format_name(tensor.format) + ',');
    }
    std::string text = base::join_words(columns, ",") + '\n';
    for (const AlteredNumber& number : alteration.numbers) {
        const NumberFormat& format = alteration.tensors.at(number.tensor).format;
        text += paths[number.tensor];
        append_number(text, number.index);
        text += types[number.tensor];
        text += bits_text(format, number.before ^ number.after);
        for (const std::uint64_t bits : {number.before, number.after}) (text += ',') += hexadecimal(format, bits);
        for (const std::uint64_t bits : {number.before, number.after}) (text += ',') += value_text(format, bits);
        text += '\n';
    }
    return text;
}

std::uint64_t parse_hexadecimal(const base::CsvTable& rows, std::size_t row, const std::string& column,
                                const NumberFormat& format)
{
    const std::string& text = rows.text(row, column);
    std::uint64_t bits = 0;
    const char* const end = text.data() + text.size();
    const bool marked = text.starts_with("0x") && text.size() == static_cast<std::size_t>(2 + 2 * format.bytes);
    if (!marked || std::from_chars(text.data() + 2, end, bits, 16).ptr != end)
        base::fail(rows.place(row, column), ": '", text, "' is not a number of ", format.bytes, " bytes, such as ",
                   hexadecimal(format, 0));
    return bits;
}

std::vector<AlteredTensor> read_tensors(const ordered_json& json, const fs::path& record)
{
    std::vector<AlteredTensor> tensors;
    for (const auto& one : json.at("tensors")) {
        const std::optional<NumberFormat> format = format_named(one.at("type"));
        if (!format) base::fail(record.string(), ": unknown type ", one.at("type").dump());
        tensors.push_back({one.at("path"), *format, one.at("shape").get<std::vector<std::uint64_t>>()});
    }
    return tensors;
}

std::uint64_t elements_of(const AlteredTensor& tensor)
{
    std::uint64_t elements = 1;
    for (const std::uint64_t size : tensor.shape)
        if (__builtin_mul_overflow(elements, size, &elements)) return 0;
    return elements;
}

void read_rows(const fs::path& path, AlterationRecord& alteration)
{
    const base::CsvTable rows{path};
    std::map<std::string, std::size_t> places;
    for (const AlteredTensor& tensor : alteration.tensors) places.emplace(tensor.path, places.size());
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        const auto place = places.find(rows.text(row, "path"));
        if (place == places.end())
            base::fail(rows.place(row, "path"), ": ", rows.text(row, "path"), " is not in the record");
        const AlteredTensor& tensor = alteration.tensors.at(place->second);
        const auto index = rows.get<std::int64_t>(row, "index");
        if (index < 0 || static_cast<std::uint64_t>(index) >= elements_of(tensor))
            base::fail(rows.place(row, "index"), ": ", tensor.path, " has no element ", index);
        alteration.numbers.push_back({.tensor = place->second,
                                      .index = static_cast<std::uint64_t>(index),
                                      .before = parse_hexadecimal(rows, row, "before", tensor.format),
                                      .after = parse_hexadecimal(rows, row, "after", tensor.format)});
    }
}

void check_sum(const ordered_json& json, const char* member, const fs::path& file)
{
    if (json.at(member) != checksum_of(base::read_whole(file)))
        base::fail(file.string(), " is damaged, or belongs to another record");
}

ordered_json read_about(const fs::path& record)
try {
    ordered_json json = base::read_json(record);
    if (!is_alteration(json)) base::fail(record.string(), " is not a record of an alteration");
    if (json.at("format") != alteration_format)
        base::fail(record.string(), " is of format ", json.at("format").dump(), ", but this version reads format ",
                   alteration_format);
    const std::string checksum = json.at("crc32c");
    json.erase("crc32c");
    if (checksum != checksum_of(base::json_text(json, base::one_line)))
        base::fail(record.string(), " is damaged: its CRC-32C does not match");
    return json;
} catch (const nlohmann::json::parse_error&) {
    base::fail(record.string(), " is not a record of an alteration, or is cut off");
} catch (const nlohmann::json::exception& error) {
    base::fail(record.string(), ": ", error.what());
}

}  // namespace

fs::path rows_of(fs::path record)
{
    return record.replace_extension(".csv");
}

fs::path undo_of(fs::path record)
{
    return record.replace_extension(".undo");
}

bool is_alteration(const ordered_json& json)
{
    return json.is_object() && json.contains("program") && json["program"] == "ddl-alter";
}

void write_alteration(const fs::path& record, const AlterationRecord& alteration, const std::string& undo)
{
    remove_what_was_never_begun(record);
    for (const fs::path& path : {record, rows_of(record), undo_of(record)}) base::refuse_taken(path);
    const std::string rows = rows_text(alteration);
    ordered_json json = alteration.about;
    json["scale"] = alteration.scale ? ordered_json(*alteration.scale) : nullptr;
    json["numbers"] = alteration.numbers.size();
    json["rows"] = rows_of(record).filename().string();
    json["rows_crc32c"] = checksum_of(rows);
    json["undo"] = undo_of(record).filename().string();
    json["undo_crc32c"] = checksum_of(undo);
    json["tensors"] = ordered_json::array();
    for (const AlteredTensor& tensor : alteration.tensors)
        json["tensors"].push_back(
            {{"path", tensor.path}, {"type", format_name(tensor.format)}, {"shape", tensor.shape}});
    json["crc32c"] = checksum_of(base::json_text(json, base::one_line));
    const base::Descriptor being_written = write_new(rows_of(record), rows);  // its winner also gets the other names
    try {
        write_new(undo_of(record), undo);
        write_new(record, base::json_text(json) + "\n");
        make_durable(record.parent_path().empty() ? fs::path{"."} : record.parent_path());
    } catch (...) {
        remove_alteration(record);
        throw;
    }
}

void remove_alteration(const fs::path& record)
{
    std::error_code ignored;
    for (const fs::path& path : {record, undo_of(record), rows_of(record)}) fs::remove(path, ignored);
}

AlterationRecord read_alteration(const fs::path& record)
try {
    AlterationRecord alteration;
    alteration.about = read_about(record);
    check_sum(alteration.about, "rows_crc32c", rows_of(record));
    alteration.tensors = read_tensors(alteration.about, record);
    if (alteration.about.contains("scale") && !alteration.about["scale"].is_null())
        alteration.scale = alteration.about["scale"].get<double>();
    read_rows(rows_of(record), alteration);
    return alteration;
} catch (const nlohmann::json::exception& error) {
    base::fail(record.string(), ": ", error.what());
}

std::string read_undo(const fs::path& record)
try {
    const ordered_json about = read_about(record);
    std::string undo = base::read_whole(undo_of(record));
    if (about.at("undo_crc32c") != checksum_of(undo))
        base::fail(undo_of(record).string(), " is damaged, or belongs to another record");
    return undo;
} catch (const nlohmann::json::exception& error) {
    base::fail(record.string(), ": ", error.what());
}

}  // namespace soft_errors
