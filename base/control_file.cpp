#include "base/control_file.hpp"

#include "base/error.hpp"

#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace base {

namespace {
constexpr std::size_t page_bytes = 4096;
}

ControlFile ControlFile::open(const std::filesystem::path& run, const std::string& host)
{
    const std::filesystem::path path = run / "control" / host;
    std::filesystem::create_directories(path.parent_path());
    const int file =
        check_errno(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644), "open ", path.string());
    struct stat status {};
    void* memory = MAP_FAILED;
    const bool other_size = ::fstat(file, &status) == 0 && status.st_size != 0 && status.st_size != page_bytes;
    int why = 0;
    // Allocated, not only made long: on a full disk the first store to a hole would be a bus error.
    if (!other_size) why = ::posix_fallocate(file, 0, page_bytes);
    if (!other_size && why == 0) {
        memory = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        why = errno;
    }
    ::close(file);
    if (other_size) fail(path.string(), " is not a control file");
    if (memory == MAP_FAILED) throw std::system_error{why, std::generic_category(), "cannot map " + path.string()};

    ControlFile control{static_cast<ControlPage*>(memory)};
    ControlPage& page = control.page();
    std::uint32_t fresh = 0;
    if (page.version.compare_exchange_strong(fresh, ControlPage::current_version)) fresh = ControlPage::current_version;
    std::uint32_t unmarked = 0;
    if (page.magic.compare_exchange_strong(unmarked, ControlPage::magic_value)) unmarked = ControlPage::magic_value;
    if (unmarked != ControlPage::magic_value) fail(path.string(), " is not a control file");
    if (fresh != ControlPage::current_version)
        fail(path.string(), " has layout version ", fresh, ", not ", ControlPage::current_version);
    return control;
}

ControlFile::ControlFile(ControlFile&& other) noexcept : page_{std::exchange(other.page_, nullptr)} {}

ControlFile::~ControlFile()
{
    if (page_ != nullptr) ::munmap(page_, page_bytes);
}

}  // namespace base
