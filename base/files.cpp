#include "base/files.hpp"

#include "base/error.hpp"

#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

namespace base {

namespace fs = std::filesystem;

ClaimedPart::ClaimedPart(const fs::path& run, const fs::path& part) : path_{run / part}
{
    std::error_code code;
    fs::create_directories(path_.parent_path(), code);
    if (code) fail("cannot create ", path_.parent_path().string(), ": ", code.message());
    const bool created = fs::create_directory(path_, code);
    if (code) fail("cannot create ", path_.string(), ": ", code.message());
    if (!created) fail_usage(path_.string(), " is already there; give another --out, or move it away");
}

ClaimedPart::~ClaimedPart()
{
    std::error_code ignored;
    if (!kept_) fs::remove_all(path_, ignored);
}

void write_whole(const fs::path& path, std::string_view content)
{
    const fs::path beside = path.string() + ".tmp" + std::to_string(::getpid());
    const int file =
        check_errno(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), "create ", path.string());
    while (!content.empty()) {
        const ssize_t written = ::write(file, content.data(), content.size());
        if (written < 0) {
            const int why = errno;
            ::close(file);
            ::unlink(beside.c_str());
            throw std::system_error{why, std::generic_category(), "cannot write " + path.string()};
        }
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    // Some file systems tell only here that the disk is full.
    if (::close(file) != 0 || ::rename(beside.c_str(), path.c_str()) != 0) {
        const int why = errno;
        ::unlink(beside.c_str());
        throw std::system_error{why, std::generic_category(), "cannot write " + path.string()};
    }
}

std::string read_whole(const fs::path& path)
{
    std::ifstream file{path, std::ios::binary};
    std::ostringstream text;
    if (!file || fs::is_directory(path)) fail("cannot read ", path.string());
    if (file.peek() != std::ifstream::traits_type::eof() && !(text << file.rdbuf()))
        fail("cannot read ", path.string());
    return text.str();
}

}  // namespace base
