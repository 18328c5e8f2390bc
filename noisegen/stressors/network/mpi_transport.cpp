// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/network/mpi_transport.hpp"

#if CROSSTALK_HAS_MPI

#define OMPI_SKIP_MPICXX
#include "base/system/environment.hpp"
#include "base/words.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <vector>

namespace noisegen {

namespace {

constexpr int name_size = 256;

// A session of MPI's tools interface.
class Tools {
 public:
    Tools()
    {
        int provided = 0;
        open_ = MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS;
    }
    ~Tools()
    {
        if (open_) MPI_T_finalize();
    }
    Tools(const Tools&) = delete;
    Tools& operator=(const Tools&) = delete;
    bool open() const { return open_; }

 private:
    bool open_ = false;
};

// Active components of an Open MPI framework, given with its project: "opal_btl". Open MPI has a category for each
// component, which is valid while the component is in use; components that were not selected are closed.
std::vector<std::string> components(const std::string& framework)
{
    std::vector<std::string> names;
    int count = 0;
    MPI_T_category_get_num(&count);
    for (int i = 0; i < count; ++i) {
        std::array<char, name_size> text{};
        int length = name_size;
        int none = 0;
        int variables = 0;
        int counters = 0;
        int categories = 0;
        if (MPI_T_category_get_info(i, text.data(), &length, nullptr, &none, &variables, &counters, &categories) !=
            MPI_SUCCESS)
            continue;
        const std::string name = text.data();
        if (name.starts_with(framework + "_") && name != framework + "_base")
            names.push_back(name.substr(framework.size() + 1));
    }
    return names;
}

// Name of the present value of an enumeration variable; empty if there is no such variable.
std::string value_of(const char* variable)
{
    int index = 0;
    if (MPI_T_cvar_get_index(variable, &index) != MPI_SUCCESS) return {};
    int none = 0;
    int verbosity = 0;
    int binding = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    const int code =
        MPI_T_cvar_get_info(index, nullptr, &none, &verbosity, &type, &names, nullptr, &none, &binding, &scope);
    if (code != MPI_SUCCESS || type != MPI_INT || names == MPI_T_ENUM_NULL) return {};
    MPI_T_cvar_handle handle = nullptr;
    int count = 0;
    int value = 0;
    if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS || count != 1) return {};
    MPI_T_cvar_read(handle, &value);
    MPI_T_cvar_handle_free(&handle);
    std::array<char, name_size> text{};
    int length = name_size;
    int items = 0;
    MPI_T_enum_get_info(names, &items, text.data(), &length);
    for (int i = 0; i < items; ++i) {
        int item = 0;
        length = name_size;
        MPI_T_enum_get_item(names, i, &item, text.data(), &length);
        if (item == value) return text.data();
    }
    return {};
}

bool through_memory(const std::string& btl)
{
    return btl == "vader" || btl == "sm";
}

// Transports of ob1: shared memory for ranks of this node if available, the others for the rest.
std::string carriers(int here, int size)
{
    if (size == 1) return "btl self";
    std::vector<std::string> far = components("opal_btl");
    std::erase(far, "self");
    const auto found = std::ranges::find_if(far, through_memory);
    std::string near = found == far.end() ? "" : *found;
    std::erase_if(far, through_memory);
    const std::string others = base::join_words(far, "+");
    if (near.empty() || here == 1) return "btl " + others;
    const std::string copy = value_of(("btl_" + near + "_single_copy_mechanism").c_str());
    if (!copy.empty()) near += " (single copy " + copy + ")";
    return "btl " + near + (here == size ? "" : " on this node, " + others + " between nodes");
}

}  // namespace

std::string mpi_transport(int here, int size)
{
    const Tools tools;
    if (!tools.open()) return "transport unknown";
    const std::vector<std::string> pml = components("ompi_pml");
    const auto in_use = [&pml](const char* name) { return std::ranges::find(pml, name) != pml.end(); };
    if (in_use("ob1")) return "ob1, " + carriers(here, size);
    if (in_use("cm")) return "cm, mtl " + base::join_words(components("ompi_mtl"), "+");
    if (in_use("ucx")) return "ucx, UCX_TLS " + base::environment("UCX_TLS").value_or("not set");
    return "transport unknown";
}

}  // namespace noisegen

#endif
