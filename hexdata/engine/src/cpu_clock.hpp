// Time budgets are of the thread's own processor time, so that a match on a busy machine stays fair.
#pragma once

#include <ctime>

namespace hexdata {

inline double thread_cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace hexdata
