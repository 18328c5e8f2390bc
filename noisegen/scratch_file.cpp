#include "noisegen/scratch_file.hpp"

#include "base/error.hpp"
#include "base/random.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

int open_unnamed(const fs::path& directory)
{
    const int file = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
    // A file system without unnamed files (NFS, some parallel ones): a name for a moment.
    const fs::path path = directory / base::join(".noisegen.", ::getpid(), ".", std::random_device{}());
    const int named = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (named >= 0) ::unlink(path.c_str());
    return named;
}

}  // namespace

ScratchFile::ScratchFile(const fs::path& directory, std::int64_t size)
    : file_{base::check_errno(open_unnamed(directory), "create a scratch file in ", directory.string())}
{
    const int code = ::posix_fallocate(file_, 0, size);
    if (code == 0) return;
    ::close(file_);
    throw std::system_error{code, std::generic_category(),
                            base::join("cannot reserve ", size, " bytes in ", directory.string())};
}

ScratchFile::~ScratchFile()
{
    ::close(file_);
}

bool ScratchFile::bypass_cache()
{
    const int flags = ::fcntl(file_, F_GETFL);
    return flags >= 0 && ::fcntl(file_, F_SETFL, flags | O_DIRECT) == 0;
}

void ScratchFile::through_cache()
{
    const int flags = ::fcntl(file_, F_GETFL);
    if (flags >= 0) ::fcntl(file_, F_SETFL, flags & ~O_DIRECT);
}

}  // namespace noisegen
