// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/gpu/recording/gpu_recording.hpp"

#include "base/contract/variables.hpp"
#include "base/error.hpp"
#include "base/programs/own_library.hpp"
#include "base/system/environment.hpp"

#include <filesystem>
#include <utility>

#include <dlfcn.h>

namespace gpu {

namespace {

namespace fs = std::filesystem;

// Path of libcrosstalk-cupti.so: next to the library that contains this code, if another program has loaded it;
// otherwise where our own programs have their libraries.
fs::path path_of_source()
try {
    ::Dl_info ours{};
    ::dladdr(reinterpret_cast<const void*>(&path_of_source), &ours);
    const fs::path file = ours.dli_fname == nullptr ? "" : ours.dli_fname;  // for a program, its name as called
    const fs::path beside = file.parent_path() / source_library;
    return file.has_parent_path() && fs::exists(beside) ? beside : base::own_library("crosstalk-cupti");
} catch (const base::Unavailable&) {
    base::unavailable("no GPU activities: there is no ", source_library, ", which is built only with CUPTI");
}

const ActivitySource& loaded_source()
{
    const fs::path path = path_of_source();
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) base::unavailable("no GPU activities: ", ::dlerror());
    const auto* const source = static_cast<const ActivitySource*>(::dlsym(library, source_symbol));
    if (source == nullptr || source->version != source_version)
        base::unavailable("no GPU activities: ", path.string(), " is of another build");
    return *source;
}

}  // namespace

bool activities_wanted()
{
    const std::string wanted = base::environment(base::variable::trace_gpu).value_or("");
    if (wanted.empty() || wanted == "0") return false;
    if (wanted == "1") return true;
    base::fail(base::variable::trace_gpu, " is 1 or 0, not ", wanted);
}

GpuRecording::GpuRecording(otf2::Recorder& recorder) : activities_{recorder}, source_{&loaded_source()}
{
    if (const char* const reason = source_->start(*this)) base::unavailable("no GPU activities: ", reason);
}

GpuRecording::~GpuRecording()
{
    if (source_ != nullptr) source_->stop();
}

std::int64_t GpuRecording::enter()
{
    const std::int64_t number = ++entered_;
    if (source_ != nullptr) source_->enter(number);
    return number;
}

void GpuRecording::leave()
{
    if (source_ != nullptr) source_->leave();
}

ActivitySummary GpuRecording::finish()
{
    std::exchange(source_, nullptr)->stop();
    const std::lock_guard lock{mutex_};
    if (!failure_.empty()) base::fail("not all GPU activities were recorded: ", failure_);
    return activities_.finish();
}

void GpuRecording::look(const ClockPair& look)
{
    take([&] { activities_.add(look); });
}

void GpuRecording::activity(const Activity& activity)
{
    take([&] { activities_.add(activity); });
}

void GpuRecording::waits_for(std::uint32_t correlation, std::int64_t stream)
{
    take([&] { activities_.waits_for(correlation, stream); });
}

void GpuRecording::belongs_to(std::uint32_t correlation, std::int64_t id)
{
    take([&] { activities_.belongs_to(correlation, id); });
}

void GpuRecording::dropped(std::uint64_t records)
{
    take([&] { activities_.dropped(records); });
}

// Called on a CUPTI thread, which cannot handle exceptions.
template <class Take>
void GpuRecording::take(const Take& take_it)
{
    const std::lock_guard lock{mutex_};
    if (!failure_.empty()) return;
    try {
        take_it();
    } catch (const std::exception& error) {
        failure_ = error.what();
    }
}

}  // namespace gpu
