// The Python face of the engine: every function here is one call that does a whole batch of work.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace hexdata {
void bind_solver(nb::module_& m);
}

NB_MODULE(_core, m) {
  m.doc() = "hexdata's C++ core";
  hexdata::bind_solver(m);
}
