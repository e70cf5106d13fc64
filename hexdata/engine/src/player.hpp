// Players by name: `random`, `uct:playouts=200-400,exploration=0.3`, `mohex:seconds=0.5`. A new player is one class and one
// line of the list in player.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "board.hpp"
#include "rng.hpp"

namespace hexdata {

struct Visits {
    Cell cell;
    std::uint32_t count;
};

// What a player thinks of a position. Reused from move to move to keep its memory.
struct Thought {
    Cell best = 0;
    std::uint32_t budget = 0;    // playouts, or positions looked at; 0 if the move needed no search
    float value = 0;             // -1..1 for the side to move
    std::vector<Visits> visits;  // by cell, those that were visited; empty if the player does not search
};

// Called about once a millisecond or less; throws to stop the search. It may read a clock, the search may not.
using Poll = std::function<void()>;

class Player {
public:
    virtual ~Player() = default;
    // Called before the first thought of each game: what a player remembers never goes from one game to the next.
    virtual void new_game() {}
    // The board is not decided. All chance comes from rng, so that the thought is a function of the arguments and of the
    // thoughts before it in the same game.
    virtual void think(const Board& board, Rng& rng, const Poll& poll, Thought& thought) = 0;
};

// Throws std::invalid_argument with one sentence that names the player or the parameter that is wrong.
std::unique_ptr<Player> make_player(std::string_view text);

// A parameter of a player as it is set: `rave` `on`.
struct Setting {
    std::string key;
    std::string value;
    bool is_switch;
};

// The parameters that a player has, those that its text does not name at their standard values. Throws as make_player.
std::vector<Setting> player_settings(std::string_view text);

// `name:key=value,key=value`, taken apart. Each take_ removes a parameter; finish() refuses what is left.
class PlayerSpec {
public:
    explicit PlayerSpec(std::string_view text);

    struct Range {
        std::uint32_t low;
        std::uint32_t high;
    };

    struct Budget {
        Range playouts;  // the most there can be if time is the limit
        double seconds;  // 0 if playouts are counted
    };

    const std::string& name() const { return name_; }
    std::uint32_t take_count(std::string_view key, std::uint32_t standard, std::uint32_t least, std::uint32_t most);
    // `playouts`, a number or a range like 200-400, or `seconds`; one of them must be there.
    Budget take_budget(std::uint32_t most_playouts);
    double take_number(std::string_view key, double standard, double least, double most);
    // `on` or `off`.
    bool take_switch(std::string_view key, bool standard);
    bool has(std::string_view key);
    // What was taken so far.
    const std::vector<Setting>& settings() const { return settings_; }
    // Throws std::invalid_argument: the player's text and why it is wrong.
    [[noreturn]] void refuse(const std::string& why) const;
    void finish() const;

private:
    void know(std::string_view key);
    bool take(std::string_view key, std::string& value);
    Range take_range(std::string_view key, std::uint32_t least, std::uint32_t most);

    std::string text_;
    std::string name_;
    std::vector<std::pair<std::string, std::string>> parameters_;
    std::vector<std::string> known_;
    std::vector<Setting> settings_;
};

}  // namespace hexdata
