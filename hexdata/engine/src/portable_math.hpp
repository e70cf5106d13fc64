// log and exp from + - * / alone. The C library's differ in the last bit between machines, and one bit changes a game.
#pragma once

namespace hexdata {

// Natural logarithm of a positive normal number; relative error about 1e-15.
double portable_log(double x);

// e to the x for x in -700..700; relative error about 1e-14.
double portable_exp(double x);

}  // namespace hexdata
