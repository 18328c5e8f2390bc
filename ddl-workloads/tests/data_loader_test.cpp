// SPDX-License-Identifier: Apache-2.0
// The loader, tested with real files and real reader threads.
#include "base/error.hpp"
#include "ddl-workloads/data/loading/loader.hpp"
#include "ddl-workloads/data/record_file.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <atomic>

namespace {

constexpr ddl::SampleShape tiny{.channels = 1, .height = 1, .width = 2, .classes = 256};

// Record n has label n and pixel values n and 255.
void write_numbered(const std::filesystem::path& path, int records)
{
    ddl::RecordFileWriter writer{path, tiny};
    for (int number = 0; number < records; ++number) {
        const auto byte = static_cast<std::uint8_t>(number);
        writer.write(std::vector<std::uint8_t>{byte, byte, 255});
    }
    writer.finish();
}

std::shared_ptr<const ddl::Records> records_in(const std::filesystem::path& path, const ddl::SampleShape& shape = tiny,
                                               const ddl::Reading& reading = {})
{
    return std::make_shared<ddl::RecordFile>(path, shape, reading);
}

std::vector<std::int64_t> labels_of(ddl::Loader& loader, int batches)
{
    std::vector<std::int64_t> labels;
    for (int batch = 0; batch < batches; ++batch)
        for (const std::int64_t label : loader.next().labels) labels.push_back(label);
    return labels;
}

class Watch : public ddl::ReaderObserver {
 public:
    void reader_begins(int reader) override
    {
        ++begun;
        highest = std::max(highest.load(), reader);
    }
    void read_begins(int) override { ++open; }
    void read_ends(int, std::int64_t amount) override
    {
        --open;
        bytes += amount;
    }
    void reader_ends(int) noexcept override { ++ended; }

    std::atomic<int> begun = 0;
    std::atomic<int> highest = 0;
    std::atomic<int> open = 0;
    std::atomic<int> ended = 0;
    std::atomic<std::int64_t> bytes = 0;
};

}  // namespace

TEST_CASE("a batch holds labels and pixels from -1 to 1")
{
    const testing::Scratch scratch;
    write_numbered(scratch / "a.bin", 6);
    ddl::Loader loader{{.records = records_in(scratch / "a.bin"), .sampling = {.batch = 3, .shuffle = false}}};
    CHECK(loader.steps_per_epoch() == 2);

    const ddl::Batch batch = loader.next();
    CHECK(batch.samples == 3);
    CHECK(batch.labels == std::vector<std::int64_t>{0, 1, 2});
    CHECK(batch.images == std::vector<float>{-1.0F, 1.0F, 1.0F / 127.5F - 1.0F, 1.0F, 2.0F / 127.5F - 1.0F, 1.0F});
}

TEST_CASE("the order of samples is the same for any number of readers")
{
    const testing::Scratch scratch;
    write_numbered(scratch / "a.bin", 100);
    ddl::LoaderPlan plan{.records = records_in(scratch / "a.bin"), .sampling = {.batch = 4, .ranks = 2, .seed = 3}};
    ddl::Loader alone{plan};
    const std::vector<std::int64_t> order = labels_of(alone, 60);  // five epochs
    plan.readers = 5;
    plan.queue_batches = 7;
    ddl::Loader together{plan};
    CHECK(labels_of(together, 60) == order);
}

TEST_CASE("two ranks read what one rank with their batches together reads")
{
    const testing::Scratch scratch;
    write_numbered(scratch / "a.bin", 64);
    const auto labels = [&](std::int64_t batch, int rank, int ranks) {
        ddl::Loader loader{{.records = records_in(scratch / "a.bin"),
                            .sampling = {.batch = batch, .rank = rank, .ranks = ranks, .seed = 9}}};
        return labels_of(loader, 1);
    };
    std::vector<std::int64_t> both = labels(4, 0, 2);
    const std::vector<std::int64_t> second = labels(4, 1, 2);
    both.insert(both.end(), second.begin(), second.end());
    CHECK(both == labels(8, 0, 1));
}

TEST_CASE("readers read ahead no further than the queue has places")
{
    const testing::Scratch scratch;
    write_numbered(scratch / "a.bin", 200);
    ddl::Loader loader{
        {.records = records_in(scratch / "a.bin"), .sampling = {.batch = 2}, .readers = 3, .queue_batches = 4}};
    const std::int64_t batch_bytes = 2 * tiny.record_bytes();
    for (int batch = 1; batch <= 150; ++batch) {
        loader.next();
        CHECK(loader.queue_depth() <= 4);
        CHECK(loader.bytes_read() >= batch * batch_bytes);
        CHECK(loader.bytes_read() <= (batch + 4) * batch_bytes);
    }
}

TEST_CASE("a bad record ends the training with file and byte")
{
    const testing::Scratch scratch;
    write_numbered(scratch / "a.bin", 20);
    ddl::SampleShape ten_classes = tiny;
    ten_classes.classes = 10;
    ddl::Loader loader{{.records = records_in(scratch / "a.bin", ten_classes),
                        .sampling = {.batch = 4, .shuffle = false},
                        .queue_batches = 1}};
    CHECK_THROWS_WITH_AS(labels_of(loader, 5),
                         ((scratch / "a.bin").string() + ", byte 30: label 10 is not a class; there are 10").c_str(),
                         base::Error);
}

TEST_CASE("the observer sees every reader and every read from start to end")
{
    const testing::Scratch scratch;
    write_numbered(scratch / "a.bin", 40);
    Watch watch;
    ddl::Loader loader{
        {.records = records_in(scratch / "a.bin"), .sampling = {.batch = 4}, .readers = 3, .observer = &watch}};
    labels_of(loader, 30);
    loader.stop();
    CHECK(watch.begun == 3);
    CHECK(watch.highest == 2);
    CHECK(watch.ended == 3);
    CHECK(watch.open == 0);
    CHECK(watch.bytes == loader.bytes_read());
    CHECK(watch.bytes >= 30 * 4 * tiny.record_bytes());
}

TEST_CASE("what an observer throws reaches the training")
{
    struct Unbindable : ddl::ReaderObserver {
        void reader_begins(int) override { base::fail("CPU 9 is gone"); }
    };
    const testing::Scratch scratch;
    write_numbered(scratch / "a.bin", 40);
    Unbindable observer;
    ddl::Loader loader{{.records = records_in(scratch / "a.bin"), .readers = 2, .observer = &observer}};
    CHECK_THROWS_WITH_AS(loader.next(), "CPU 9 is gone", base::Error);
}

TEST_CASE("a loader ends at any time")
{
    const testing::Scratch scratch;
    write_numbered(scratch / "a.bin", 40);
    const ddl::LoaderPlan plan{.records = records_in(scratch / "a.bin"), .readers = 3, .queue_batches = 2};
    for (int batches = 0; batches < 20; ++batches) {
        ddl::Loader loader{plan};
        labels_of(loader, batches);
    }
    ddl::Loader stopped{plan};
    stopped.stop();
    stopped.stop();
    CHECK_THROWS_WITH_AS(stopped.next(), "the loader is stopped", base::Error);
}

TEST_CASE("plans that make no sense are refused")
{
    const testing::Scratch scratch;
    write_numbered(scratch / "a.bin", 10);
    const ddl::LoaderPlan good{.records = records_in(scratch / "a.bin"), .sampling = {.batch = 2}};
    const auto refused = [&](const auto& spoil) {
        ddl::LoaderPlan plan = good;
        spoil(plan);
        CHECK_THROWS_AS(ddl::Loader{plan}, base::UsageError);
    };
    refused([](ddl::LoaderPlan& plan) { plan.readers = -1; });
    refused([](ddl::LoaderPlan& plan) { plan.transformers = -1; });
    refused([](ddl::LoaderPlan& plan) { plan.queue_batches = 0; });
    refused([](ddl::LoaderPlan& plan) { plan.sampling.batch = 11; });
}

TEST_CASE("with the page cache dropped the loader reads the same")
{
    const testing::Scratch scratch;
    write_numbered(scratch / "a.bin", 100);
    ddl::LoaderPlan plan{.records = records_in(scratch / "a.bin"), .sampling = {.batch = 5}};
    ddl::Loader cached{plan};
    plan.records = records_in(scratch / "a.bin", tiny, {.access = ddl::Access::uncached});
    plan.readers = 2;
    ddl::Loader dropped{plan};
    CHECK_FALSE(cached.records().past_page_cache());
    CHECK(labels_of(dropped, 40) == labels_of(cached, 40));
}

TEST_CASE("records come in order with a shorter batch at their end")
{
    const testing::Scratch scratch;
    write_numbered(scratch / "a.bin", 7);
    const ddl::RecordFile file{scratch / "a.bin", tiny};
    CHECK(ddl::read_in_order(file, 0, 3).labels == std::vector<std::int64_t>{0, 1, 2});
    const ddl::Batch last = ddl::read_in_order(file, 6, 3);
    CHECK(last.labels == std::vector<std::int64_t>{6});
    CHECK(last.samples == 1);
    CHECK(last.images.size() == 2);
}

TEST_CASE("transform threads give the same batches in the same order")
{
    const testing::Scratch scratch;
    write_numbered(scratch / "a.bin", 100);
    ddl::LoaderPlan plan{.records = records_in(scratch / "a.bin"), .sampling = {.batch = 4}, .readers = 2};
    ddl::Loader readers{plan};
    plan.transformers = 3;
    ddl::Loader transformers{plan};
    for (int step = 0; step < 60; ++step) {
        const ddl::Batch expected = readers.next();
        const ddl::Batch batch = transformers.next();
        CHECK(batch.labels == expected.labels);
        CHECK(batch.images == expected.images);
    }
}

TEST_CASE("images are changed at random by the seed alone")
{
    constexpr ddl::SampleShape shape{.channels = 1, .height = 8, .width = 16};
    const testing::Scratch scratch;
    ddl::RecordFileWriter writer{scratch / "a.bin", shape};
    std::vector<std::uint8_t> record(static_cast<std::size_t>(shape.record_bytes()));
    for (std::size_t at = 1; at < record.size(); ++at) record[at] = static_cast<std::uint8_t>(at);
    for (int number = 0; number < 40; ++number) writer.write(record);
    writer.finish();
    ddl::LoaderPlan plan{.records = records_in(scratch / "a.bin", shape), .sampling = {.batch = 40}};
    const std::vector<float> plain = ddl::Loader{plan}.next().images;

    plan.augmentation = {.flip = true, .crop = false};
    const std::vector<float> flipped = ddl::Loader{plan}.next().images;
    int mirrored = 0;
    for (std::size_t row = 0; row < plain.size(); row += 16) {
        const bool same = std::equal(plain.begin() + static_cast<std::ptrdiff_t>(row),
                                     plain.begin() + static_cast<std::ptrdiff_t>(row + 16),
                                     flipped.begin() + static_cast<std::ptrdiff_t>(row));
        for (std::size_t x = 0; x < 16 && !same; ++x) REQUIRE(flipped[row + x] == plain[row + 15 - x]);
        mirrored += !same;
    }
    CHECK(mirrored % 8 == 0);
    CHECK(mirrored > 0);
    CHECK(mirrored < 320);

    plan.augmentation = {.flip = true, .crop = true};
    ddl::Loader one{plan};
    plan.transformers = 2;
    ddl::Loader other{plan};
    for (int step = 0; step < 5; ++step) CHECK(one.next().images == other.next().images);
    const std::vector<float> first = ddl::Loader{plan}.next().images;
    plan.sampling.seed = 2;
    CHECK(ddl::Loader{plan}.next().images != first);
}

TEST_CASE("the next sound record stands in for a corrupt one and the batch reports it")
{
    const testing::Scratch scratch;
    write_numbered(scratch / "a.bin", 20);
    ddl::SampleShape ten_classes = tiny;
    ten_classes.classes = 10;
    ddl::Loader loader{{.records = records_in(scratch / "a.bin", ten_classes),
                        .sampling = {.batch = 4, .shuffle = false},
                        .queue_batches = 1,
                        .skip_corrupt = true}};
    CHECK(labels_of(loader, 2) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
    const ddl::Batch batch = loader.next();
    CHECK(batch.labels == std::vector<std::int64_t>{8, 9, 0, 0});
    REQUIRE(batch.skipped.size() == 10 + 9);
    CHECK(batch.skipped[0] == (scratch / "a.bin").string() + ", byte 30: label 10 is not a class; there are 10");
}

TEST_CASE("a data set without a sound record ends the loader")
{
    const testing::Scratch scratch;
    write_numbered(scratch / "a.bin", 20);
    std::filesystem::resize_file(scratch / "a.bin", 18);
    ddl::SampleShape one_class = tiny;
    one_class.classes = 1;
    const auto records = records_in(scratch / "a.bin", one_class);
    std::filesystem::resize_file(scratch / "a.bin", 0);
    ddl::Loader loader{{.records = records, .sampling = {.batch = 2}, .skip_corrupt = true}};
    CHECK_THROWS_AS(loader.next(), base::Error);
}
