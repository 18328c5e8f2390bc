// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/state/hdf5_store.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <type_traits>

namespace soft_errors::hdf5 {

namespace {

// HDF5 allocates and frees this through pointers to `base`.
struct DriverFile {
    H5FD_t base{};
    Store* store = nullptr;
    haddr_t allocated = 0;
    haddr_t size = 0;
};
static_assert(std::is_standard_layout_v<DriverFile>);

DriverFile& ours(H5FD_t* file)
{
    return *reinterpret_cast<DriverFile*>(file);
}
const DriverFile& ours(const H5FD_t* file)
{
    return *reinterpret_cast<const DriverFile*>(file);
}

H5FD_t* open(const char*, unsigned, hid_t access, haddr_t)
{
    auto file = std::make_unique<DriverFile>();
    file->store = *static_cast<Store* const*>(H5Pget_driver_info(access));
    file->size = file->store->size();
    return &file.release()->base;
}

herr_t close(H5FD_t* file)
{
    std::default_delete<DriverFile>{}(&ours(file));
    return 0;
}

herr_t query(const H5FD_t*, unsigned long* features)
{
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t)
{
    return ours(file).allocated;
}

herr_t set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t allocated)
{
    ours(file).allocated = allocated;
    return 0;
}

haddr_t get_eof(const H5FD_t* file, H5FD_mem_t)
{
    return ours(file).size;
}

herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, void* room)
{
    ours(file).store->read(at, {static_cast<std::byte*>(room), size});
    return 0;
}

herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, const void* bytes)
{
    ours(file).store->write(at, {static_cast<const std::byte*>(bytes), size});
    ours(file).size = std::max(ours(file).size, at + size);
    return 0;
}

herr_t truncate(H5FD_t* file, hid_t, hbool_t)
{
    if (ours(file).size == ours(file).allocated) return 0;
    ours(file).store->resize(ours(file).allocated);
    ours(file).size = ours(file).allocated;
    return 0;
}

H5FD_class_t driver_class()
{
    H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
    driver.version = H5FD_CLASS_VERSION;
    driver.value = 511;  // an unregistered value
#endif
    driver.name = "crosstalk";
    driver.maxaddr = INT64_MAX;
    driver.fc_degree = H5F_CLOSE_STRONG;
    driver.fapl_size = sizeof(void*);  // a Store*
    driver.open = open;
    driver.close = close;
    driver.query = query;
    driver.get_eoa = get_eoa;
    driver.set_eoa = set_eoa;
    driver.get_eof = get_eof;
    driver.read = read;
    driver.write = write;
    driver.truncate = truncate;
    const H5FD_mem_t map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), std::begin(driver.fl_map));
    return driver;
}

}  // namespace

Properties access_through(Store* store)
{
    static const H5FD_class_t driver = driver_class();
    static const hid_t id = check(H5FDregister(&driver), "register a file driver");
    Properties access{check(H5Pcreate(H5P_FILE_ACCESS), "make properties")};
    check(H5Pset_driver(access.get(), id, &store), "set a file driver");
    return access;
}

}  // namespace soft_errors::hdf5
