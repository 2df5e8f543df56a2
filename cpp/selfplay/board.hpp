// One game of self-play under way: its tree, its moves, its samples. Owned by a Runner.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "games/game.hpp"
#include "search/board.hpp"
#include "selfplay/columns.hpp"
#include "selfplay/resign.hpp"

namespace zermelo {

template <Game G>
struct PlayingBoard {
  Tree<G> tree;
  bool searching = false;  // the root's table is made
  bool reused = false;     // the root was searched as part of the last tree
  bool full = false;       // kind of the search under way
  Random random;
  std::vector<Action> history;
  std::vector<std::uint8_t> movers;  // of the samples
  SampleColumns samples;             // of this game
  ResignWatch watches[2];
  bool audit = false;  // resignation is only noted
  bool noted = false;  // ... and it has been
  std::int64_t opening_plies = 0;

  // For saving, without the tree. `has_played`: whether the samples know what was played.
  template <class Archive>
  void transfer(Archive& archive, bool has_played) {
    archive.number(random);
    archive.vector(history);
    archive.vector(movers);
    samples.transfer(archive, has_played);
    for (ResignWatch& watch : watches) watch.transfer(archive);
    archive.number(audit);
    archive.number(noted);
    archive.number(opening_plies);
  }

  bool in_opening() const { return static_cast<std::int64_t>(history.size()) < opening_plies; }
};

}  // namespace zermelo
