// SPDX-License-Identifier: Apache-2.0
// The record of an alteration: it is read as it was written, and a damaged file is refused with its name.
#include "soft-errors/state/alteration_record.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace {

soft_errors::AlterationRecord small_record()
{
    soft_errors::AlterationRecord record;
    record.about = {{"format", soft_errors::alteration_format}, {"program", "ddl-alter"}, {"seed", 7}};
    record.tensors = {{"model/a, b", soft_errors::float32, {2, 3}}, {"step", *soft_errors::format_named("int64"), {}}};
    record.numbers = {{0, 5, 0x3f800000, 0x7f800000}, {1, 0, 3, 1}};
    return record;
}

}  // namespace

TEST_CASE("a record is read as it was written")
{
    const testing::Scratch scratch;
    const auto path = scratch / "r.json";
    soft_errors::write_alteration(path, small_record(), "some bytes");
    CHECK(base::read_whole(scratch / "r.csv") ==
          "path,index,type,bits,before,after,before_value,after_value\n"
          "\"model/a, b\",5,float32,1,0x3f800000,0x7f800000,1,inf\n"
          "step,0,int64,62,0x0000000000000003,0x0000000000000001,3,1\n");
    const soft_errors::AlterationRecord read = soft_errors::read_alteration(path);
    CHECK(read.tensors.at(0).shape == std::vector<std::uint64_t>{2, 3});
    CHECK(read.tensors.at(1).format == *soft_errors::format_named("int64"));
    REQUIRE(read.numbers.size() == 2);
    CHECK(read.numbers[0].index == 5);
    CHECK(read.numbers[1].tensor == 1);
    CHECK(read.numbers[1].after == 1);
    CHECK(!read.scale);
    CHECK(soft_errors::read_undo(path) == "some bytes");
    CHECK_THROWS_AS(soft_errors::write_alteration(path, small_record(), ""), base::UsageError);
}

TEST_CASE("a record that was changed or lost a part is refused by its name")
{
    const testing::Scratch scratch;
    const auto path = scratch / "r.json";
    soft_errors::write_alteration(path, small_record(), "some bytes");
    std::ofstream{scratch / "r.undo", std::ios::app} << "x";
    CHECK_THROWS_WITH_AS(soft_errors::read_undo(path), doctest::Contains("r.undo is damaged"), base::Error);
    std::ofstream{scratch / "r.csv", std::ios::app} << "step,0,int64,62,0x0,0x1,0,1\n";
    CHECK_THROWS_WITH_AS(soft_errors::read_alteration(path), doctest::Contains("r.csv is damaged"), base::Error);
    std::ofstream{path} << R"({"program": "other"})";
    CHECK_THROWS_WITH_AS(soft_errors::read_alteration(path), doctest::Contains("not a record of an alteration"),
                         base::Error);
}

TEST_CASE("a record whose R.json was changed anywhere is refused")
{
    const testing::Scratch scratch;
    const auto path = scratch / "r.json";
    soft_errors::write_alteration(path, small_record(), "some bytes");
    const std::string text = base::read_whole(path);
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] < '0' || text[at] > '9') continue;
        std::string other = text;
        other[at] = other[at] == '9' ? '0' : static_cast<char>(other[at] + 1);
        base::write_whole(path, other);
        CHECK_THROWS_AS(soft_errors::read_alteration(path), base::Error);
        CHECK_THROWS_AS(soft_errors::read_undo(path), base::Error);
    }
}

TEST_CASE("what an alteration left that was killed before it began is in nobody's way, and other files stay")
{
    const testing::Scratch scratch;
    const auto path = scratch / "r.json";
    soft_errors::write_alteration(path, small_record(), soft_errors::undo_mark);
    std::filesystem::remove(path);  // R.json is written last
    CHECK_NOTHROW(soft_errors::write_alteration(path, small_record(), soft_errors::undo_mark));
    std::filesystem::remove(path);
    base::write_whole(scratch / "r.csv", "of,the,user\n");
    CHECK_THROWS_AS(soft_errors::write_alteration(path, small_record(), soft_errors::undo_mark), base::UsageError);
    CHECK(base::read_whole(scratch / "r.csv") == "of,the,user\n");
}
