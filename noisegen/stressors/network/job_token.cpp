// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/network/job_token.hpp"

#include "base/contract/run_directory.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t token_bytes = 2 * std::tuple_size_v<JobToken::Half>;

std::string random_bytes()
{
    std::string bytes(token_bytes, ' ');
    base::check_errno(::getrandom(bytes.data(), bytes.size(), 0), "get random numbers");
    return bytes;
}

// Writes the token under an unpredictable name and then links it to `path`: the link appears with its whole content, or
// fails because another process was first.
void make_once(const fs::path& path)
{
    std::string mine = path.string() + ".XXXXXX";
    base::Descriptor file =
        base::check_errno(::mkostemp(mine.data(), O_CLOEXEC), "create ", path.string());  // mode 0600
    const std::string bytes = random_bytes();
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    int code = written == static_cast<ssize_t>(bytes.size()) ? 0 : written < 0 ? errno : ENOSPC;
    file.close();
    if (code == 0 && ::link(mine.c_str(), path.c_str()) != 0 && errno != EEXIST) code = errno;
    ::unlink(mine.c_str());
    if (code != 0) throw std::system_error{code, std::generic_category(), "cannot create " + path.string()};
}

std::string read_own(const fs::path& path)
{
    struct stat found {};
    base::check_errno(::lstat(path.c_str(), &found), "read ", path.string());
    if (!S_ISREG(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & 077) != 0)
        base::fail(path.string(), " is readable by other users; give another --out");
    std::string bytes = base::read_whole(path);
    if (bytes.size() != token_bytes) base::fail(path.string(), " is not a token written by noisegen");
    return bytes;
}

}  // namespace

JobToken job_token(const fs::path& noise)
{
    const fs::path path = noise / base::file::noise_token;
    if (!noise.empty()) make_once(path);
    const std::string bytes = noise.empty() ? "noisegen: hello.noisegen: answer" : read_own(path);
    JobToken token;
    std::copy_n(bytes.begin(), token.hello.size(), token.hello.begin());
    std::copy_n(bytes.begin() + token.hello.size(), token.answer.size(), token.answer.begin());
    return token;
}

}  // namespace noisegen
