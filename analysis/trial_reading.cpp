#include "analysis/trial_reading.hpp"

#include "base/error.hpp"
#include "trace-tools/otf2/confined.hpp"

#include <new>

namespace analysis {

namespace {

int read_once(const std::filesystem::path& archive, otf2::ReadOptions options)
try {
    otf2::Reader reader{archive, options};
    otf2::Visitor nobody;
    reader.read_by_location(nobody);
    return base::exit_fine;
} catch (const base::Error&) {
    return base::exit_fine;
} catch (const std::bad_alloc&) {
    return base::exit_failed;
}

}  // namespace

void try_reading(const std::filesystem::path& archive, otf2::ReadOptions options)
try {
    const int code =
        otf2::confined("interference", otf2::limits_for(archive), [&] { return read_once(archive, options); });
    if (code != base::exit_fine) base::fail("it takes more memory than its size allows: damaged");
} catch (const base::Error& error) {
    base::fail("cannot read trace ", archive.string(), ": ", error.what());
}

}  // namespace analysis
