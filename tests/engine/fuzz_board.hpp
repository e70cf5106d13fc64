// Play and undo on the rules' Board, driven by bytes.
#pragma once

#include <cstddef>
#include <cstdint>

// libFuzzer's name for it. Aborts with one line about the first difference.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t length);

// The same without libFuzzer: strings of bytes from a seed, at least `count` of them and for that many seconds.
void play_and_undo(uint64_t seed, uint64_t count, double seconds);
