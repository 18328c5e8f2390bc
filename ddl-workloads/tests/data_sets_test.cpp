// SPDX-License-Identifier: Apache-2.0
// The registered data sets and their files.
#include "base/error.hpp"
#include "base/files.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/formats/digits.hpp"
#include "ddl-workloads/data/formats/upscale.hpp"
#include "ddl-workloads/data/loading/loader.hpp"
#include "ddl-workloads/data/record_file.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <sys/stat.h>

namespace {

using Record = std::vector<std::uint8_t>;

std::vector<Record> records_of(const std::filesystem::path& path, const ddl::SampleShape& shape)
{
    const ddl::RecordFile file{path, shape};
    std::vector<Record> records;
    for (std::int64_t number = 0; number < file.records(); ++number) {
        records.emplace_back(static_cast<std::size_t>(shape.record_bytes()));
        file.read(number, records.back());
    }
    return records;
}

std::vector<int> class_counts(const std::vector<Record>& records, std::size_t classes)
{
    std::vector<int> counts(classes);
    for (const Record& record : records) ++counts.at(record[0]);
    return counts;
}

std::string repeated(const std::string& line, int times)
{
    std::string text;
    for (int time = 0; time < times; ++time) text += line;
    return text;
}

const std::string blank_pixels = repeated("0,", 64);

double squared_distance(const Record& a, const std::vector<double>& b)
{
    double sum = 0.0;
    for (std::size_t at = 1; at < a.size(); ++at) sum += (a[at] - b[at]) * (a[at] - b[at]);
    return sum;
}

}  // namespace

TEST_CASE("every data set on the registry writes what it says")
{
    for (const ddl::DataSetCard* card : ddl::data_sets().cards()) {
        if (card->make == nullptr) continue;
        const testing::Scratch scratch;
        const ddl::DataSet set = ddl::data_set(card->name, scratch / "data");
        CHECK_FALSE(std::filesystem::exists(scratch / "data"));
        ddl::write_data_set(set);
        const std::int64_t train = ddl::RecordFile{set.train, set.shape}.records();
        const std::int64_t held_out = ddl::RecordFile{set.held_out, set.shape}.records();
        CHECK(train >= 4 * held_out);
        CHECK(train < 5 * held_out);
    }
}

TEST_CASE("synthetic images are the same for the same settings")
{
    const testing::Scratch scratch;
    const auto train = [&](const std::string& text) {
        const ddl::DataSet set = ddl::data_set(text, scratch / "data");
        ddl::write_data_set(set);  // written repeatedly into the same folder
        return records_of(set.train, set.shape);
    };
    const auto records = train("synthetic[samples=50,channels=1,height=9,width=7]");
    CHECK(records == train("synthetic[samples=50,channels=1,height=9,width=7]"));
    CHECK(records != train("synthetic[samples=50,channels=1,height=9,width=7,seed=2]"));
    CHECK(records.size() == 40);
    CHECK(records[0].size() == 1 + 9 * 7);
}

TEST_CASE("synthetic classes can be learned and generalise: the nearest mean image tells the class")
{
    const testing::Scratch scratch;
    const ddl::DataSet set = ddl::data_set("synthetic[samples=500,noise=50%]", scratch.path());
    ddl::write_data_set(set);
    const auto size = static_cast<std::size_t>(set.shape.record_bytes());
    std::vector<std::vector<double>> means(10, std::vector<double>(size));
    const std::vector<Record> train = records_of(set.train, set.shape);
    for (const Record& record : train)
        for (std::size_t at = 1; at < size; ++at) means[record[0]][at] += record[at] / 40.0;

    const std::vector<Record> held_out = records_of(set.held_out, set.shape);
    int right = 0;
    for (const Record& record : held_out) {
        std::size_t nearest = 0;
        for (std::size_t label = 1; label < means.size(); ++label)
            if (squared_distance(record, means[label]) < squared_distance(record, means[nearest])) nearest = label;
        right += nearest == record[0];
    }
    CHECK(held_out.size() == 100);
    CHECK(right == 100);
}

TEST_CASE("text is read where it lies and its last tenth is held out")
{
    const testing::Scratch scratch;
    std::string bytes;
    for (int at = 0; at < 200; ++at) bytes += static_cast<char>(at);
    base::write_whole(scratch / "a.txt", bytes);
    const ddl::DataSet set =
        ddl::data_set("text[path=" + (scratch / "a.txt").string() + ",length=9]", scratch / "data");
    ddl::write_data_set(set);
    CHECK_FALSE(std::filesystem::exists(scratch / "data"));
    CHECK(set.shape == ddl::text_shape(9));

    const auto train = ddl::open_part(set, ddl::Part::train);
    const auto held_out = ddl::open_part(set, ddl::Part::held_out);
    CHECK(train->records() == 19);
    CHECK(held_out->records() == 2);
    const ddl::Batch batch = ddl::read_in_order(*train, 1, 2);
    CHECK(batch.samples == 2);
    CHECK(batch.labels.empty());
    CHECK(batch.tokens ==
          std::vector<std::int64_t>{9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27});
    CHECK(ddl::read_in_order(*held_out, 0, 1).tokens.front() == 180);
}

TEST_CASE("text that is missing or too short is refused")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "a.txt", "too short");
    CHECK_THROWS_AS(ddl::data_set("text", scratch.path()), base::UsageError);
    CHECK_THROWS_AS(ddl::data_set("text[path=a,length=0]", scratch.path()), base::UsageError);
    const auto open = [&](const std::string& path) {
        ddl::open_part(ddl::data_set("text[path=" + path + "]", scratch.path()), ddl::Part::train);
    };
    CHECK_THROWS_AS(open((scratch / "a.txt").string()), base::Error);
    CHECK_THROWS_AS(open(scratch.path().string()), base::Error);
    CHECK_THROWS_AS(open((scratch / "none").string()), std::system_error);
}

TEST_CASE("clicks can be learned: ids that were clicked before are clicked again")
{
    const testing::Scratch scratch;
    const ddl::DataSet set = ddl::data_set("clicks[samples=20000,dense=2,categories=4,rows=30]", scratch.path());
    ddl::write_data_set(set);
    CHECK(set.shape.record_bytes() == 1 + 2 + 4 * 4);
    const auto train = ddl::open_part(set, ddl::Part::train);
    const ddl::Batch batch = ddl::read_in_order(*train, 0, train->records());
    CHECK(batch.images.size() == static_cast<std::size_t>(2 * batch.samples));

    std::vector<std::vector<double>> liked(4, std::vector<double>(30));  // weights of a simple naive Bayes classifier
    for (std::size_t at = 0; at < batch.tokens.size(); ++at)
        liked[at % 4].at(static_cast<std::size_t>(batch.tokens[at])) += batch.labels[at / 4] == 1 ? 1.0 : -1.0;
    const auto held_out = ddl::open_part(set, ddl::Part::held_out);
    const ddl::Batch unseen = ddl::read_in_order(*held_out, 0, held_out->records());
    std::int64_t right = 0;
    for (std::size_t sample = 0; sample < unseen.labels.size(); ++sample) {
        double vote = 0.0;
        for (std::size_t category = 0; category < 4; ++category) {
            const auto id = static_cast<std::size_t>(unseen.tokens[4 * sample + category]);
            vote += liked[category][id] > 0.0 ? 1.0 : -1.0;
        }
        right += (vote > 0.0) == (unseen.labels[sample] == 1);
    }
    CHECK(static_cast<double>(right) > 0.7 * static_cast<double>(unseen.samples));
    CHECK(std::ranges::count(batch.labels, 1) > batch.samples / 5);
    CHECK(std::ranges::count(batch.labels, 0) > batch.samples / 5);
}

TEST_CASE("data sets and options that do not exist are refused with the right words")
{
    const testing::Scratch scratch;
    CHECK_THROWS_WITH_AS(ddl::data_set("digit", scratch.path()),
                         "no data set 'digit'; did you mean digits? (ddl-train --list shows all)", base::UsageError);
    CHECK_THROWS_AS(ddl::data_set("digits[size=3]", scratch.path()), base::UsageError);
    CHECK_THROWS_WITH_AS(ddl::data_set("synthetic[classes=300]", scratch.path()),
                         "synthetic[classes]: 300 is not 1 to 256", base::UsageError);
    CHECK_THROWS_AS(ddl::write_data_set(ddl::data_set("synthetic[samples=0]", scratch.path())), base::UsageError);
    CHECK_THROWS_AS(ddl::write_data_set(ddl::data_set("synthetic[samples=20]", scratch.path())), base::UsageError);
    CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("a data set larger than half of the free disk is refused before it is written")
{
    const testing::Scratch scratch;
    const ddl::DataSet set =
        ddl::data_set("synthetic[samples=1000000000,channels=16,height=4096,width=4096]", scratch.path());
    CHECK_THROWS_AS(ddl::write_data_set(set), base::Error);
    CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("the real digits: 1797 images and the class counts of the real set")
{
    const testing::Scratch scratch;
    const ddl::DataSet set = ddl::data_set("digits", scratch.path());
    ddl::write_data_set(set);

    const std::vector<Record> train = records_of(set.train, set.shape);
    const std::vector<Record> held_out = records_of(set.held_out, set.shape);
    CHECK(set.shape == ddl::SampleShape{});
    CHECK(train.size() + held_out.size() == 1797);
    std::vector<int> counts = class_counts(train, 10);
    const std::vector<int> apart = class_counts(held_out, 10);
    for (std::size_t label = 0; label < 10; ++label) {
        counts[label] += apart[label];
        CHECK(apart[label] == counts[label] / 5);
    }
    CHECK(counts == std::vector<int>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180});
}

TEST_CASE("a real digit is grey and keeps its ink when enlarged")
{
    const testing::Scratch scratch;
    const ddl::DataSet set = ddl::data_set("digits", scratch.path());
    ddl::write_data_set(set);

    const ddl::Digit digit = ddl::read_digits(ddl::find_digits()).at(0);
    const Record record = records_of(set.train, set.shape).at(0);
    CHECK(record[0] == digit.label);
    const std::span<const std::uint8_t> pixels = std::span{record}.subspan(1);
    const std::size_t plane = 32 * 32;
    CHECK(std::equal(pixels.begin(), pixels.begin() + plane, pixels.begin() + plane));
    CHECK(std::equal(pixels.begin(), pixels.begin() + plane, pixels.begin() + 2 * plane));
    double ink = 0.0;
    for (const float value : digit.ink) ink += value / 64.0;
    double enlarged = 0.0;
    for (const std::uint8_t pixel : pixels) enlarged += pixel / 255.0 / static_cast<double>(pixels.size());
    CHECK(enlarged == doctest::Approx(ink).epsilon(0.05));
}

TEST_CASE("a pipe in the place of a data set is refused and not waited for")
{
    const testing::Scratch scratch;
    const std::string pipe = scratch / "pipe.h5";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THROWS_WITH_AS(ddl::read_digits(pipe), (pipe + " is not a regular file").c_str(), base::Error);
    CHECK_THROWS_WITH_AS(ddl::data_set("hdf5[path=" + pipe + "]", scratch.path()),
                         (pipe + " is not a regular file").c_str(), base::Error);
}

TEST_CASE("a damaged digits file is refused with file and line")
{
    const testing::Scratch scratch;
    const auto refusal = [&](const std::string& content) -> std::string {
        base::write_whole(scratch / "d.csv", content);
        try {
            ddl::read_digits(scratch / "d.csv");
        } catch (const base::Error& error) {
            return error.what();
        }
        return "none";
    };
    const std::string name = (scratch / "d.csv").string();
    const std::string good = blank_pixels + "7\n";
    CHECK(refusal(repeated(good, 1797)) == "none");
    CHECK(refusal(good + "1,2,3\n") == name + ", line 2: expected 64 pixels and a label");
    CHECK(refusal(good + "17," + good) == name + ", line 2: expected 64 pixels and a label");
    CHECK(refusal("17" + good.substr(1)) == name + ", line 1: pixel 17 is not 0 to 16");
    CHECK(refusal(good + blank_pixels + "10\n") == name + ", line 2: label 10 is not a digit");
    CHECK(refusal(repeated(good, 3)) == name + " is not the data set digits: 3 images instead of 1797");
    CHECK(refusal(repeated(good, 1798)) == name + " is not the data set digits: more than 1797 images");
    CHECK(refusal("\x1f\x8b\x08 a gzip header and then rubbish").starts_with("cannot read " + name));
}

TEST_CASE("the missing digits file is unavailable and says how to get it")
{
    const testing::Scratch scratch;
    const ddl::DataSet set = ddl::data_set("digits[file=" + (scratch / "none.csv.gz").string() + "]", scratch.path());
    CHECK_THROWS_AS(ddl::write_data_set(set), base::Unavailable);
}

TEST_CASE("enlarging keeps a plane a plane and takes the border's value outside")
{
    const std::vector<float> two{0.0F, 1.0F};
    CHECK(ddl::upscale(two, 1, 2, 1, 4) == std::vector<float>{0.0F, 0.25F, 0.75F, 1.0F});
    CHECK(ddl::upscale(two, 2, 1, 4, 1) == std::vector<float>{0.0F, 0.25F, 0.75F, 1.0F});
    CHECK(ddl::upscale(two, 1, 2, 2, 2) == std::vector<float>{0.0F, 1.0F, 0.0F, 1.0F});
    CHECK(ddl::upscale(std::vector<float>{0.5F}, 1, 1, 2, 2) == std::vector<float>(4, 0.5F));
}
