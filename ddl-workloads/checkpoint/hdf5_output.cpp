#include "ddl-workloads/checkpoint/hdf5_output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace ddl::hdf5 {

namespace {

// HDF5 hands out and takes back pointers to `base`.
struct DriverFile {
    H5FD_t base{};
    Output* output = nullptr;
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
    file->output = *static_cast<Output* const*>(H5Pget_driver_info(access));
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
    ours(file).output->read(at, {static_cast<std::byte*>(room), size});
    return 0;
}

herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, const void* bytes)
{
    ours(file).output->write(at, {static_cast<const std::byte*>(bytes), size});
    ours(file).size = std::max(ours(file).size, at + size);
    return 0;
}

herr_t truncate(H5FD_t* file, hid_t, hbool_t)
{
    if (ours(file).size == ours(file).allocated) return 0;
    ours(file).output->resize(ours(file).allocated);
    ours(file).size = ours(file).allocated;
    return 0;
}

H5FD_class_t driver_class()
{
    H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
    driver.version = H5FD_CLASS_VERSION;
    driver.value = 511;  // one that is not registered
#endif
    driver.name = "crosstalk";
    driver.maxaddr = INT64_MAX;
    driver.fc_degree = H5F_CLOSE_STRONG;
    driver.fapl_size = sizeof(void*);  // an Output*
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

Properties access_through(Output* output)
{
    static const H5FD_class_t driver = driver_class();
    static const hid_t id = check(H5FDregister(&driver), "register a file driver");
    Properties access{check(H5Pcreate(H5P_FILE_ACCESS), "make properties")};
    check(H5Pset_driver(access.get(), id, &output), "set a file driver");
    return access;
}

}  // namespace

Output::Output(std::filesystem::path path)
    : path_{std::move(path)},
      file_{base::check_errno(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), "create ",
                              path_.string())},
      access_{access_through(this)}
{
}

Output::~Output()
{
    if (file_ >= 0) ::close(file_);
}

void Output::finish(bool durable)
{
    if (error_ == 0 && durable && ::fsync(file_) != 0) error_ = errno;
    // Some file systems report only here that the disk is full.
    if (::close(std::exchange(file_, -1)) != 0 && error_ == 0) error_ = errno;
    if (error_ != 0) throw std::system_error{error_, std::generic_category(), "cannot write " + path_.string()};
}

void Output::write(std::uint64_t at, std::span<const std::byte> bytes) noexcept
{
    while (error_ == 0 && !bytes.empty()) {
        const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            error_ = written < 0 ? errno : EIO;
            return;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        at += static_cast<std::uint64_t>(written);
    }
}

void Output::read(std::uint64_t at, std::span<std::byte> room) const noexcept
{
    while (!room.empty()) {
        const ssize_t got = ::pread(file_, room.data(), room.size(), static_cast<off_t>(at));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        room = room.subspan(static_cast<std::size_t>(got));
        at += static_cast<std::uint64_t>(got);
    }
    std::fill(room.begin(), room.end(), std::byte{0});
}

void Output::resize(std::uint64_t size) noexcept
{
    if (error_ == 0 && ::ftruncate(file_, static_cast<off_t>(size)) != 0) error_ = errno;
}

}  // namespace ddl::hdf5
