#include "position_solver.hpp"

template class hexdata::PositionSolver<2>;
