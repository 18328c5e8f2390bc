// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/mpi_calls.hpp"

#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace otf2 {

namespace {

// Names in MPI 4.1, without "MPI_" and in lower case.
constexpr std::array mpi_families{"attr_",  "cart_",     "comm_",    "dist_",   "errhandler_", "error_",  "file_",
                                  "graph_", "grequest_", "group_",   "info_",   "intercomm_",  "keyval_", "message_",
                                  "op_",    "request_",  "session_", "status_", "t_",          "type_",   "win_"};
// These also exist with the prefix i or the suffix _init, and neighbourhood collectives with the prefix neighbor_.
constexpr std::array mpi_operations{
    " allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast bsend exscan gather gatherv ",
    " improbe iprobe mprobe mrecv precv probe psend recv reduce reduce_scatter reduce_scatter_block rsend scan ",
    " scatter scatterv send sendrecv sendrecv_replace ssend "};
constexpr std::array other_mpi_calls{
    " abort accumulate add_error_class add_error_code add_error_string address aint_add aint_diff alloc_mem ",
    " buffer_attach buffer_detach buffer_flush cancel close_port compare_and_swap dims_create fetch_and_op ",
    " finalize finalized free_mem get get_accumulate get_address get_count get_elements get_elements_x ",
    " get_hw_resource_info get_library_version get_processor_name get_version init init_thread initialized ",
    " is_thread_main lookup_name open_port pack pack_external pack_external_size pack_size parrived pcontrol ",
    " pready pready_list pready_range publish_name put query_thread raccumulate reduce_local register_datarep ",
    " remove_error_class remove_error_code remove_error_string rget rget_accumulate rput start startall test ",
    " test_cancelled testall testany testsome topo_test unpack unpack_external unpublish_name wait waitall ",
    " waitany waitsome wtick wtime "};

template <class Lines>
bool holds(const Lines& lines, std::string_view name)
{
    const std::string word = base::join(' ', name, ' ');
    return std::ranges::any_of(lines, [&](std::string_view line) { return line.find(word) != std::string_view::npos; });
}

bool is_operation(std::string_view name)
{
    if (name.ends_with("_init")) name.remove_suffix(5);
    if (holds(mpi_operations, name)) return true;
    if (name.starts_with('i')) name.remove_prefix(1);
    if (name.starts_with("neighbor_")) name.remove_prefix(9);
    return holds(mpi_operations, name);
}

// Functions with large counts have the suffix _c.
bool is_of_mpi(std::string_view name)
{
    const bool of_family = std::ranges::any_of(
        mpi_families, [&](std::string_view family) { return name.size() > family.size() && name.starts_with(family); });
    if (of_family || is_operation(name) || holds(other_mpi_calls, name)) return true;
    return name.ends_with("_c") && is_of_mpi(name.substr(0, name.size() - 2));
}

// Returns "MPI_Send" for each of its spellings; empty if the name is not MPI's.
std::string known_name(std::string_view name)
{
    if (name.ends_with("()")) name.remove_suffix(2);
    const std::string lower = base::lower_case(name);
    std::string_view stem{lower};
    if (stem.starts_with('p')) stem.remove_prefix(1);
    if (!stem.starts_with("mpi_")) return "";
    stem.remove_prefix(4);
    while (stem.ends_with('_')) stem.remove_suffix(1);
    const auto of_name = [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; };
    if (!std::ranges::all_of(stem, of_name) || !is_of_mpi(stem)) return "";
    std::string found = "MPI_" + std::string{stem};
    found[4] = static_cast<char>(std::toupper(static_cast<unsigned char>(found[4])));
    return found;
}

// True for roles in which regions of the paradigm MPI communicate; regions of other paradigms have them too.
bool communicates_by_mpi(RegionRole role)
{
    return is_collective(role) || role == RegionRole::point_to_point || role == RegionRole::file_io ||
           role == RegionRole::rma;
}

}  // namespace

std::string mpi_call_name(const Region& region)
{
    if (!is_of_program_or_mpi(region.paradigm)) return "";
    std::string known = known_name(region.name);
    if (!known.empty() || region.paradigm != Paradigm::mpi || !communicates_by_mpi(region.role)) return known;
    return region.name;
}

}  // namespace otf2
