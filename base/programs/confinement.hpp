// SPDX-License-Identifier: Apache-2.0
// Limits of child processes that read untrusted files, and their end when their parent ends.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

namespace base {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;  // a sanitizer's own memory exceeds any limit
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

// Called in a child process: the kernel kills it when its parent ends. If the parent has ended already, the child
// exits.
void end_with_parent(pid_t parent);

// Lowers the soft limit only; never raises it. Returns the previous limits. Throws std::system_error.
rlimit lower_limit(__rlimit_resource_t resource, rlim_t most);

// Waits for the child. Returns the status as waitpid() reports it. Throws std::system_error.
int wait_status(pid_t child);

}  // namespace base
