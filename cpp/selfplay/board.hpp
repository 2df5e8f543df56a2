// One game of self-play under way: its tree, its moves, its samples. Owned by a Runner.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "base/refused.hpp"
#include "games/game.hpp"
#include "search/board.hpp"
#include "selfplay/columns.hpp"
#include "selfplay/regret.hpp"
#include "selfplay/resign.hpp"

namespace zermelo {

struct SavedHeading {
  std::uint64_t columns = 0;  // of the games' samples
  bool regret = false;        // whether there are judgements and regrets (P8)
};

// What saved games begin with: the version and how many they are. Throws Refused if they are not so
// many games of a known version.
template <class Archive>
SavedHeading transfer_heading(Archive& archive, std::uint64_t games) {
  constexpr std::uint64_t kFormat = 0x5A53504C41593033ull;
  constexpr std::uint64_t kSecondFormat = 0x5A53504C41593032ull;  // had no regrets
  constexpr std::uint64_t kFirstFormat = 0x5A53504C41593031ull;   // its samples had kFirstColumns
  constexpr std::uint64_t kFirstColumns = 13;
  std::uint64_t format = kFormat;
  std::uint64_t found = games;
  std::uint64_t columns = SampleColumns::kCount;
  archive.number(format);
  archive.number(found);
  if (format == kFirstFormat) {
    columns = kFirstColumns;
  } else {
    archive.number(columns);
  }
  const bool known = format == kFormat || format == kSecondFormat || format == kFirstFormat;
  const bool sensible = columns >= kFirstColumns && columns <= SampleColumns::kCount;
  if (!known || !sensible || found != games) {
    throw Refused("the saved state is of another version or number of games");
  }
  return {columns, format == kFormat};
}

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
  Judgements judgements;            // P8: what every search of this game said
  std::uint64_t restart_plies = 0;  // P8: moves that were given, not searched

  // For saving, without the tree.
  template <class Archive>
  void transfer(Archive& archive, const SavedHeading& heading) {
    archive.number(random);
    archive.vector(history);
    archive.vector(movers);
    samples.transfer(archive, heading.columns);
    for (ResignWatch& watch : watches) watch.transfer(archive);
    archive.number(audit);
    archive.number(noted);
    archive.number(opening_plies);
    if (!heading.regret) return;
    judgements.transfer(archive);
    archive.number(restart_plies);
  }

  bool in_opening() const { return static_cast<std::int64_t>(history.size()) < opening_plies; }
};

}  // namespace zermelo
