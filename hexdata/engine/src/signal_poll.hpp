// Ctrl-C for long work without the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace hexdata {

// Lets Ctrl-C through ten times a second, as an exception. Only the main thread runs signal handlers, so others never ask
// for the GIL: a thread that does when Python ends would take the process down.
class SignalPoll {
public:
    SignalPoll() : enabled_(on_main_thread()) {}

    void operator()() {
        if (!enabled_) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(100)) return;
        last_ = now;
        const nanobind::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }

    static bool on_main_thread() {
        const nanobind::module_ threading = nanobind::module_::import_("threading");
        return threading.attr("current_thread")().is(threading.attr("main_thread")());
    }

private:
    bool enabled_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace hexdata
