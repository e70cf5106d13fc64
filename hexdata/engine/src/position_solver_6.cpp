#include "position_solver.hpp"

template class hexdata::proof::PositionSolver<6>;
