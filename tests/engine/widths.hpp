// Every part of the engine on every board size, one after the other: what the sanitizers watch.
#pragma once

// The number of sizes. Throws std::logic_error with one sentence if two parts disagree.
int run_every_width();
