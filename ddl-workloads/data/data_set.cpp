// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/data_set.hpp"

#include "base/error.hpp"
#include "base/system/available.hpp"
#include "base/system/stop.hpp"
#include "ddl-workloads/data/record_file.hpp"

#include <algorithm>

namespace ddl {

#define DATA_SET(card) extern const DataSetCard card;
#include "ddl-workloads/data/data_sets.inc"
#undef DATA_SET

namespace {

struct Choice {
    const DataSetCard& card;
    base::Settings settings;
};

Choice choose(const std::string& text)
{
    const base::PlugInText named = base::parse_plug_in(text);
    const DataSetCard& card = data_sets().find(named.name);
    return {card, data_sets().settings(card, named.options)};
}

// Throws if the disk would be almost full afterwards.
void check_room(const DataSet& set, std::int64_t samples)
{
    const std::int64_t needed = samples * set.shape.record_bytes();
    const std::filesystem::path folder = set.train.parent_path();
    const std::int64_t free = base::free_disk(folder).count;
    if (needed > free / 2)
        base::fail("data set ", set.text, " needs ", needed, " bytes, but may take at most half of the ", free,
                   " free bytes in ", folder.string());
}

using TakeSample = std::function<void(Part, std::span<const std::uint8_t>)>;

void hand_over(const SampleSource& source, const SampleShape& shape, const TakeSample& take)
{
    std::vector<int> seen(static_cast<std::size_t>(shape.classes));  // samples seen of each class
    std::vector<std::uint8_t> record(static_cast<std::size_t>(shape.record_bytes()));
    for (std::int64_t number = 0; number < source.samples(); ++number) {
        source.sample(number, record);
        const std::size_t label = shape.kind == SampleShape::Kind::text ? 0 : record[0];
        if (base::stop_requested()) base::fail("stopped by a signal while generating the data set");
        const bool keep_apart = ++seen.at(label) % held_out_every == 0;
        take(keep_apart ? Part::held_out : Part::train, record);
    }
}

}  // namespace

const base::Registry<DataSetCard>& data_sets()
{
    static const base::Registry<DataSetCard> registry{"data set",
                                                      "ddl-train",
                                                      {
#define DATA_SET(card) &(card),
#include "ddl-workloads/data/data_sets.inc"
#undef DATA_SET
                                                      }};
    return registry;
}

DataSet data_set(const std::string& text, const std::filesystem::path& folder)
{
    const Choice choice = choose(text);
    DataSet set{.text = text, .shape = choice.card.shape(choice.settings), .train = {}, .held_out = {}};
    if (choice.card.make == nullptr) return set;
    // The options are part of the file's name, so that runs sharing a folder do not overwrite each other's data sets.
    std::string name = text;
    std::replace(name.begin(), name.end(), '/', '_');
    set.train = folder / (name + "_train.bin");
    set.held_out = folder / (name + "_held_out.bin");
    return set;
}

void write_data_set(const DataSet& set)
{
    const Choice choice = choose(set.text);
    if (choice.card.make == nullptr) return;
    const std::unique_ptr<SampleSource> source = choice.card.make(choice.settings);
    std::filesystem::create_directories(set.train.parent_path());
    check_room(set, source->samples());

    RecordFileWriter train{set.train, set.shape};
    RecordFileWriter held_out{set.held_out, set.shape};
    std::int64_t kept_apart = 0;
    hand_over(*source, set.shape, [&](Part part, std::span<const std::uint8_t> record) {
        (part == Part::held_out ? held_out : train).write(record);
        kept_apart += part == Part::held_out;
    });
    if (kept_apart == 0)
        base::fail_usage(set.text, ": no class has five samples, the fewest from which one is held out");
    train.finish();
    held_out.finish();
}

std::unique_ptr<Records> open_part(const DataSet& set, Part part, const Reading& reading)
{
    const Choice choice = choose(set.text);
    if (choice.card.open != nullptr) return choice.card.open(choice.settings, part, reading);
    return std::make_unique<RecordFile>(part == Part::train ? set.train : set.held_out, set.shape, reading);
}

void for_each_sample(const std::string& text, const TakeSample& take)
{
    const Choice choice = choose(text);
    if (choice.card.make != nullptr)
        return hand_over(*choice.card.make(choice.settings), choice.card.shape(choice.settings), take);
    for (const Part part : {Part::train, Part::held_out}) {
        const std::unique_ptr<Records> records = choice.card.open(choice.settings, part, {});
        std::vector<std::uint8_t> record(static_cast<std::size_t>(records->shape().record_bytes()));
        for (std::int64_t number = 0; number < records->records(); ++number) {
            records->read(number, record);
            take(part, record);
        }
    }
}

std::int64_t samples_in(const std::string& text)
{
    const Choice choice = choose(text);
    if (choice.card.make != nullptr) return choice.card.make(choice.settings)->samples();
    return choice.card.open(choice.settings, Part::train, {})->records() +
           choice.card.open(choice.settings, Part::held_out, {})->records();
}

}  // namespace ddl
