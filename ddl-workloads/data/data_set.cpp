#include "ddl-workloads/data/data_set.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace ddl {

extern const DataSetCard digits_data;
extern const DataSetCard synthetic_data;

namespace {

constexpr int held_out_every = 5;

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

// Never takes the last of the disk.
void check_room(const DataSet& set, std::int64_t images)
{
    const auto needed = static_cast<std::uintmax_t>(images) * static_cast<std::uintmax_t>(set.shape.record_bytes());
    const std::filesystem::path folder = set.train.parent_path();
    const std::uintmax_t free = std::filesystem::space(folder).available;
    if (needed > free / 2)
        base::fail("data set ", set.text, " needs ", needed, " bytes, but of ", free, " free ones in ", folder.string(),
                   " at most half are taken");
}

}  // namespace

const base::Shelf<DataSetCard>& data_sets()
{
    static const base::Shelf<DataSetCard> shelf{"data set", "ddl-train", {&digits_data, &synthetic_data}};
    return shelf;
}

DataSet data_set(const std::string& text, const std::filesystem::path& folder)
{
    const Choice choice = choose(text);
    // Data sets with other options are other files, so that a run never changes another's in a folder they share.
    std::string name = text;
    std::replace(name.begin(), name.end(), '/', '_');
    return {.text = text,
            .shape = choice.card.shape(choice.settings),
            .train = folder / (name + "_train.bin"),
            .held_out = folder / (name + "_held_out.bin")};
}

void write_data_set(const DataSet& set)
{
    const Choice choice = choose(set.text);
    const std::unique_ptr<ImageSource> source = choice.card.make(choice.settings);
    std::filesystem::create_directories(set.train.parent_path());
    check_room(set, source->images());

    RecordFileWriter train{set.train, set.shape};
    RecordFileWriter held_out{set.held_out, set.shape};
    std::int64_t kept_apart = 0;
    std::vector<int> seen(static_cast<std::size_t>(set.shape.classes));  // images of each class
    std::vector<std::uint8_t> record(static_cast<std::size_t>(set.shape.record_bytes()));
    for (std::int64_t number = 0; number < source->images(); ++number) {
        source->image(number, record);
        const bool keep_apart = ++seen.at(record[0]) % held_out_every == 0;
        (keep_apart ? held_out : train).write(record);
        kept_apart += keep_apart;
    }
    if (kept_apart == 0) base::fail_usage(set.text, ": no class has the five images that holding one out takes");
    train.finish();
    held_out.finish();
}

}  // namespace ddl
