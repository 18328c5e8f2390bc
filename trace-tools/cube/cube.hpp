// SPDX-License-Identifier: Apache-2.0
// A call-path profile of all locations, as Cube and pycubexr know it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cube {

struct CubeMetric {
    enum class Kind {
        exclusive,  // values of a call path are without its children's
        inclusive,  // with them
        derived,    // computed by Cube from other metrics, after they are added up: `expression`
    };
    enum class Type { real, whole, signed_whole, least, most };  // DOUBLE, UINT64, INT64, MINDOUBLE, MAXDOUBLE
    std::string unique_name;                                     // "time"
    std::string display_name = {};                               // "Time"
    std::string unit = {};                                       // "sec", "occ"
    std::string description = {};
    Kind kind = Kind::exclusive;
    Type type = Type::real;
    std::string expression = {};  // CubePL: "metric::a()/metric::b()"
    std::optional<std::size_t> parent =
        {};  // index into CubeProfile::metrics, before this one; has these values in its
    std::map<std::size_t, std::vector<double>> rows = {};  // by call path: a value for each location; 0 where none is
};

struct CubeRegion {
    std::string name;
    std::string paradigm = "unknown";
    std::string role = "unknown";
    auto operator<=>(const CubeRegion&) const = default;
};

struct CubeCallPath {
    std::size_t region = 0;                  // index into CubeProfile::regions
    std::optional<std::size_t> parent = {};  // index into CubeProfile::call_paths, before this one; none: a root
};

struct CubeProcess {
    std::string name;
    std::string node;
    std::string kind = "process";  // process, metrics, accelerator
    std::int64_t rank = 0;
};

struct CubeLocation {
    std::string name;
    std::string kind = "thread";  // thread, gpu, metric
    std::size_t process = 0;      // index into CubeProfile::processes
};

struct CubeProfile {
    std::string machine;
    std::vector<std::pair<std::string, std::string>> attributes;
    std::vector<CubeMetric> metrics;
    std::vector<CubeRegion> regions;
    std::vector<CubeCallPath> call_paths;
    std::vector<CubeProcess> processes;   // those of a node side by side
    std::vector<CubeLocation> locations;  // those of a process side by side, processes in their order
    std::vector<std::string> oddities;    // found while reading: metrics whose values are not read

    // By its unique name; nullptr if there is none.
    const CubeMetric* find_metric(const std::string& unique_name) const;
};

// Children of each call path in their order, those of call_paths.size() are the roots.
std::vector<std::vector<std::size_t>> children_of(const std::vector<CubeCallPath>& call_paths);

// The call path of each row that a metric of this kind may have in a file. Exclusive: depth first. Inclusive: depth
// first, but a call path's children side by side.
std::vector<std::size_t> call_paths_by_row(const std::vector<CubeCallPath>& call_paths, CubeMetric::Kind kind);

// Puts an artificial root above all call paths, whose inclusive values are theirs added up.
void add_artificial_root(CubeProfile& profile);

// That for a profile with several roots, or none: readers of Cube files want exactly one.
void give_one_root(CubeProfile& profile);

// Is it the one that add_artificial_root() makes?
bool is_artificial_root(const CubeProfile& profile, std::size_t call_path);

// Puts the processes of a node and the locations of a process side by side, as a file wants them, and leaves out
// processes without locations. Gives the new place of each location. To be called before there are values.
std::vector<std::size_t> put_in_order(CubeProfile& profile);

}  // namespace cube
