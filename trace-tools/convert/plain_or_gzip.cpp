// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/convert/plain_or_gzip.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/stop.hpp"

#include <array>
#include <fstream>
#include <streambuf>

#ifdef CROSSTALK_HAS_ZLIB
#include <zlib.h>
#endif

namespace convert {

#ifdef CROSSTALK_HAS_ZLIB

namespace {

using Gzip = std::unique_ptr<gzFile_s, int (*)(gzFile)>;

// zlib passes uncompressed data through unchanged.
class GzipBuffer : public std::streambuf {
 public:
    explicit GzipBuffer(const std::filesystem::path& path)
        : path_{path}, file_{::gzopen(path.c_str(), "rb"), &::gzclose}
    {
        if (!file_) base::fail("cannot open ", path.string());
    }

 private:
    int_type underflow() override
    {
        if (base::stop_requested()) base::fail("stopped by a signal");
        const int read = ::gzread(file_.get(), bytes_.data(), static_cast<unsigned int>(bytes_.size()));
        int code = Z_OK;
        ::gzerror(file_.get(), &code);
        if (read < 0 || (read == 0 && code != Z_OK && code != Z_STREAM_END))
            base::fail(path_.string(), " is compressed, and damaged or cut off");
        setg(bytes_.data(), bytes_.data(), bytes_.data() + read);
        return read == 0 ? traits_type::eof() : traits_type::to_int_type(bytes_.front());
    }

    std::filesystem::path path_;
    Gzip file_;
    std::array<char, 1 << 16> bytes_{};
};

class GzipStream : private GzipBuffer, public std::istream {
 public:
    explicit GzipStream(const std::filesystem::path& path) : GzipBuffer{path}, std::istream{this} {}
};

}  // namespace

std::unique_ptr<std::istream> open_plain_or_gzip(const std::filesystem::path& file)
{
    base::refuse_irregular(file);
    auto stream = std::make_unique<GzipStream>(file);
    stream->exceptions(std::ios::badbit);  // rethrows exceptions of underflow() from std::getline
    return stream;
}

#else

std::unique_ptr<std::istream> open_plain_or_gzip(const std::filesystem::path& file)
{
    base::refuse_irregular(file);
    auto stream = std::make_unique<std::ifstream>(file, std::ios::binary);
    if (!*stream) base::fail("cannot open ", file.string());
    stream->exceptions(std::ios::badbit);
    if (stream->peek() == 0x1f) base::fail(file.string(), " is compressed, and this was built without zlib");
    return stream;
}

#endif

}  // namespace convert
