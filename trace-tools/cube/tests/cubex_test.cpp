// SPDX-License-Identifier: Apache-2.0
// .cubex files: written and read by us, by hand (fuzz/make_cubex_seeds.py) and by pycubexr.
#include "trace-tools/cube/cubex.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/random.hpp"
#include "base/words.hpp"
#include "testing/archives/pycubexr.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace fs = std::filesystem;

namespace {

using cube::CubeMetric;
using cube::CubeProfile;

const fs::path by_hand = fs::path{CROSSTALK_SOURCE} / "fuzz/seeds/cubex";

// A random tree of `call_paths` and random values; every third row of a metric is missing.
CubeProfile any_profile(std::size_t call_paths, std::size_t locations, base::Random& random)
{
    CubeProfile profile{.machine = "cluster",
                        .attributes = {{"Creator", "test"}},
                        .metrics = {{.unique_name = "visits", .type = CubeMetric::Type::whole},
                                    {.unique_name = "time", .kind = CubeMetric::Kind::inclusive},
                                    {.unique_name = "min_time", .type = CubeMetric::Type::least},
                                    {.unique_name = "change", .type = CubeMetric::Type::signed_whole},
                                    {.unique_name = "mpi_latesender", .parent = 1}},
                        .regions = {{.name = "one", .paradigm = "user", .role = "function"}, {.name = "other"}},
                        .processes = {{.name = "rank 0", .node = "node 1", .rank = 0},
                                      {.name = "rank 1", .node = "node 2", .rank = 1}}};
    for (std::size_t i = 0; i < call_paths; ++i) {
        cube::CubeCallPath path{.region = base::draw_below(random, 2)};
        if (i > 0) path.parent = base::draw_below(random, i);
        profile.call_paths.push_back(path);
    }
    for (std::size_t i = 0; i < locations; ++i)
        profile.locations.push_back({.name = base::join("thread ", i), .process = 2 * i < locations ? 0U : 1U});
    for (CubeMetric& metric : profile.metrics)
        for (std::size_t path = 0; path < call_paths; ++path)
            if (base::draw_below(random, 3) > 0)
                for (std::size_t i = 0; i < locations; ++i)
                    metric.rows[path].push_back(metric.type == CubeMetric::Type::whole ||
                                                        metric.type == CubeMetric::Type::signed_whole
                                                    ? static_cast<double>(base::draw_below(random, 1U << 30U))
                                                    : base::draw_unit(random));
    return profile;
}

double value(const CubeMetric& metric, std::size_t path, std::size_t location)
{
    const auto row = metric.rows.find(path);
    return row == metric.rows.end() ? 0.0 : row->second.at(location);
}

// Names such as "main/a/c" for each call path.
std::vector<std::string> full_names(const CubeProfile& profile)
{
    std::vector<std::string> names;
    for (const cube::CubeCallPath& path : profile.call_paths)
        names.push_back((path.parent ? names[*path.parent] + "/" : "") + profile.regions[path.region].name);
    return names;
}

// Values by the name of the call path, which must be unique.
std::map<std::string, std::vector<double>> values_by_name(const CubeProfile& profile, const std::string& metric)
{
    const CubeMetric* const found = profile.find_metric(metric);
    REQUIRE(found != nullptr);
    std::map<std::string, std::vector<double>> values;
    const std::vector<std::string> names = full_names(profile);
    for (const auto& [path, row] : found->rows) values[names[path]] = row;
    return values;
}

std::string failure(const fs::path& file)
{
    try {
        cube::read_cubex(file);
        return "";
    } catch (const base::Error& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("one profile reads the same however it is written")
{
    std::size_t files = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator{by_hand}) {
        INFO(entry.path().string());
        const CubeProfile profile = cube::read_cubex(entry.path());
        ++files;
        CHECK(values_by_name(profile, "visits") ==
              std::map<std::string, std::vector<double>>{
                  {"main", {1, 1}}, {"main/a <int>", {2, 3}}, {"main/a <int>/c", {4, 0}}, {"main/b", {7, 300}}});
        CHECK(values_by_name(profile, "time") == std::map<std::string, std::vector<double>>{{"main", {10.5, 11.25}},
                                                                                            {"main/a <int>", {4, 5}},
                                                                                            {"main/a <int>/c", {1, 0}},
                                                                                            {"main/b", {6, 6.125}}});
        CHECK(profile.find_metric("none")->rows.empty());
        CHECK(profile.find_metric("none")->parent == 1);
        CHECK(profile.find_metric("mean")->kind == CubeMetric::Kind::derived);
        CHECK(profile.find_metric("mean")->expression == "metric::time()/metric::visits()");
        CHECK(profile.oddities == std::vector<std::string>{"values of metric many are TAU_ATOMIC, which is not "
                                                           "supported"});
        CHECK(profile.machine == "cluster");
        REQUIRE(profile.locations.size() == 2);
        CHECK(profile.locations[1].name == "worker");
        CHECK(profile.processes[profile.locations[1].process].node == "node 1");
    }
    CHECK(files == 11);
}

TEST_CASE("what is written is read again, whatever the tree")
{
    const testing::Scratch scratch;
    for (std::size_t i = 1; i < 60; ++i) {
        base::Random random = base::random_stream(5, i);
        const CubeProfile written = any_profile(i, 1 + i % 5, random);
        cube::write_cubex(scratch / "p.cubex", written);
        const CubeProfile read = cube::read_cubex(scratch / "p.cubex");
        REQUIRE(read.call_paths.size() == i);
        // In the file, call paths are in depth-first order.
        const std::vector<std::size_t> order = cube::call_paths_by_row(written.call_paths, CubeMetric::Kind::exclusive);
        for (const CubeMetric& metric : written.metrics)
            for (std::size_t path = 0; path < i; ++path)
                for (std::size_t location = 0; location < written.locations.size(); ++location)
                    CHECK(value(*read.find_metric(metric.unique_name), path, location) ==
                          value(metric, order[path], location));
    }
}

TEST_CASE("no member of a file is of whole blocks, and a foreign tar reads it")
{
    const testing::Scratch scratch;
    base::Random random = base::random_stream(6, 0);
    CubeProfile profile = any_profile(3, 2, random);
    std::size_t members = 0;
    for (std::size_t length = 0; length < 520; ++length) {
        profile.regions[0].name = std::string(length, 'x');
        cube::write_cubex(scratch / "p.cubex", profile);
        const testing::Outcome listed = testing::run({"tar", "--list", "--verbose", "--file", scratch / "p.cubex"});
        REQUIRE(listed.status == 0);
        CHECK(listed.err.empty());
        std::istringstream lines{listed.out};
        for (std::string rights, owner, rest; lines >> rights >> owner;) {
            std::size_t size = 0;
            lines >> size;
            CHECK(size % 512 != 0);
            std::getline(lines, rest);
            ++members;
        }
    }
    CHECK(members == 520 * 11);
}

TEST_CASE("call paths without a common root get one, which has what they have together")
{
    const testing::Scratch scratch;
    base::Random random = base::random_stream(7, 0);
    CubeProfile profile = any_profile(3, 2, random);
    for (cube::CubeCallPath& path : profile.call_paths) path.parent.reset();
    profile.metrics[1].rows = {{0, {1, 2}}, {1, {3, 4}}, {2, {5, 6}}};
    cube::write_cubex(scratch / "p.cubex", profile);
    const CubeProfile read = cube::read_cubex(scratch / "p.cubex");
    REQUIRE(read.call_paths.size() == 4);
    CHECK(cube::is_artificial_root(read, 0));
    CHECK(read.metrics[1].rows.at(0) == std::vector<double>{9, 12});
    CHECK(read.metrics[1].rows.at(3) == std::vector<double>{5, 6});
    CHECK(!read.metrics[0].rows.contains(0));

    profile.call_paths.clear();
    for (CubeMetric& metric : profile.metrics) metric.rows.clear();
    cube::write_cubex(scratch / "none.cubex", profile);
    CHECK(cube::read_cubex(scratch / "none.cubex").call_paths.size() == 1);
}

TEST_CASE("names of any characters are in the file as people can see them")
{
    const testing::Scratch scratch;
    base::Random random = base::random_stream(8, 0);
    CubeProfile profile = any_profile(2, 2, random);
    profile.regions = {{.name = "a<b> && \"c\" 'd' ]]> \xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80"},
                       {.name = "\x01\x1b[2J\r\n\t\x7f\xff\xc3\xef\xbf\xbe\xef\xbf\xbf "}};
    profile.call_paths = {{.region = 0}, {.region = 1, .parent = 0}};
    profile.attributes = {{"<&\">", "\x02'"}};
    cube::write_cubex(scratch / "p.cubex", profile);
    const CubeProfile read = cube::read_cubex(scratch / "p.cubex");
    CHECK(read.regions[0].name == profile.regions[0].name);
    CHECK(read.regions[1].name == base::printable("\x01\x1b[2J\r\n\t\x7f\xff\xc3") + "\\ufffe\\uffff ");
    CHECK(read.attributes[0] == std::pair<std::string, std::string>{"<&\">", "\\x02'"});

    const std::string reader = testing::python_with_pycubexr();
    if (reader.empty()) return testing::skip("no python3 with pycubexr");
    const nlohmann::json found = testing::read_with_pycubexr(reader, scratch / "p.cubex");
    CHECK(found["call_paths"][0]["region"] == read.regions[0].name);
    CHECK(found["call_paths"][1]["region"] == read.regions[1].name);
}

TEST_CASE("pycubexr reads the values that were written")
{
    const std::string reader = testing::python_with_pycubexr();
    if (reader.empty()) return testing::skip("no python3 with pycubexr");
    const testing::Scratch scratch;
    for (std::size_t i = 1; i < 40; i += 6) {
        base::Random random = base::random_stream(9, i);
        const CubeProfile written = any_profile(i, 1 + i % 4, random);
        cube::write_cubex(scratch / "p.cubex", written);
        const nlohmann::json found = testing::read_with_pycubexr(reader, scratch / "p.cubex");
        CHECK(found["call_paths"].size() == i);
        CHECK(found["locations"].size() == written.locations.size());
        const std::vector<std::size_t> order = cube::call_paths_by_row(written.call_paths, CubeMetric::Kind::exclusive);
        for (std::size_t path = 0; path < i; ++path) {
            CHECK(found["call_paths"][path]["region"] == written.regions[written.call_paths[order[path]].region].name);
            for (const CubeMetric& metric : written.metrics)
                for (std::size_t location = 0; location < written.locations.size(); ++location)
                    CHECK(found["metrics"][metric.unique_name]["values"][path][location].get<double>() ==
                          value(metric, order[path], location));
        }
    }
}

TEST_CASE("files that are no profile are reported in one clear line")
{
    const testing::Scratch scratch;
    const auto with = [&](const std::string& content) {
        base::write_whole(scratch / "p.cubex", content);
        return failure(scratch / "p.cubex");
    };
    const std::string plain = base::read_whole(by_hand / "plain.cubex");
    const auto replaced = [&](const std::string& what, const std::string& by) {
        std::string bytes = plain;
        bytes.replace(bytes.find(what), by.size(), by);
        return with(bytes);
    };
    CHECK(failure(scratch / "nothing").find("cannot read ") == 0);
    CHECK(with("").find("not a tar archive") != std::string::npos);
    CHECK(with("no tar").find("not a tar archive") != std::string::npos);
    CHECK(replaced("anchor.xml", "another.xm").find("it has no anchor.xml") != std::string::npos);
    CHECK(replaced("version=\"4.4\"", "version=\"3.0\"").find("is not of Cube 4") != std::string::npos);
    CHECK(replaced("</program>", "</progxxx>").find("its anchor.xml is not XML") != std::string::npos);
    CHECK(replaced("calleeId=\"7\"", "calleeId=\"8\"")
              .find("of region '8', which is not "
                    "defined") != std::string::npos);
    CHECK(replaced("Id=\"1\"><name>worker", "Id=\"0\"><name>worker").find("two locations have the id 0") !=
          std::string::npos);
    CHECK(replaced("CUBEX.INDEX", "CUBES.INDEX").find("metric visits does not begin with CUBEX.INDEX") !=
          std::string::npos);
    CHECK(replaced(std::string{"CUBEX.INDEX\x01\0\0\0\0\0\x01", 18}, std::string{"CUBEX.INDEX\x01\0\0\0\0\0\x02", 18})
              .find("metric visits is of format 2, which is not supported") != std::string::npos);
    CHECK(
        replaced(std::string{"CUBEX.INDEX\x01\0\0\0\0\0\x01\4", 19}, std::string{"CUBEX.INDEX\x01\0\0\0\0\0\x01\7", 19})
            .find("metric visits has more rows than there are call paths") != std::string::npos);
}

TEST_CASE("a file cut off anywhere is read or refused")
{
    const testing::Scratch scratch;
    for (const char* name : {"plain.cubex", "compressed.cubex"}) {
        const std::string whole = base::read_whole(by_hand / name);
        std::size_t refused = 0;
        for (std::size_t size = 0; size < whole.size(); size += 7) {
            base::write_whole(scratch / "p.cubex", std::string_view{whole}.substr(0, size));
            const std::string why = failure(scratch / "p.cubex");
            CHECK(why.find('\n') == std::string::npos);
            if (!why.empty()) ++refused;
        }
        CHECK(refused > 100);
    }
}

TEST_CASE("what would be far larger than its file is refused")
{
    const testing::Scratch scratch;
    const std::string script = "import gzip, sys; sys.path.insert(0, '" CROSSTALK_SOURCE
                               "/fuzz'); import make_cubex_seeds as m\n"
                               "files = m.members(compressed=True)\n"
                               "files['anchor.xml'] = gzip.compress(bytes(300 << 20))\n"
                               "open(sys.argv[1], 'wb').write(m.tar(files))\n";
    const testing::Outcome made = testing::run({"python3", "-B", "-c", script, scratch / "p.cubex"});
    if (made.status != 0) return testing::skip("no python3");
    CHECK(fs::file_size(scratch / "p.cubex") < 1'000'000);
    CHECK(failure(scratch / "p.cubex").find("a member has more than 268435456 bytes") != std::string::npos);
}
