// What finished games leave behind, as columns: a row for each sample, and a record of each game.
//
// Every column is declared here, once: memory, order, appending, saving and the array in Python
// follow from it. For a new one: a line in the table, where it is filled (`add_sample` in
// sample.hpp, `end_game` in runner.hpp), and its declaration for files and training in
// `zermelo/replay/samples.py` or `records.py`; a test holds the two tables against each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace zermelo {

inline constexpr std::uint32_t kShareUnit = 65535;  // a whole policy
inline constexpr double kValueUnit = 32767;         // a value of 1
inline constexpr Action kNoAction = 0xFFFF;         // no action is: kMaxActions

enum SampleFlag : std::uint8_t {
  kFull = 1,         // the policy is a target
  kResigned = 2,     // the game ended by resignation
  kAdjudicated = 4,  // the game was cut off
  kAudit = 8,        // resignation was only noted in this game
  kProven = 16,      // the search had proved the position's result; of a game: it ended by that
};

// X(type, name), in the order of the file. N samples with E policy entries together; a sample's
// entries are its legal actions, ascending. New columns go last: see transfer().
#define ZERMELO_SAMPLE_COLUMNS(X)                                                \
  X(std::uint64_t, observations)   /* [N * words] */                             \
  X(std::uint16_t, policy_counts)  /* [N] */                                     \
  X(std::uint16_t, policy_actions) /* [E] */                                     \
  X(std::uint16_t, policy_shares)  /* [E], of kShareUnit; all 0 without kFull */ \
  X(std::int8_t, results)          /* -1, 0, 1 */                                \
  X(std::int16_t, values)          /* root value, of kValueUnit */               \
  X(std::uint16_t, draws)          /* root draw probability, of kShareUnit */    \
  X(std::uint16_t, plies)          /* played before */                           \
  X(std::uint16_t, plies_left)     /* until the end */                           \
  X(std::uint32_t, iterations)     /* of the network that searched */            \
  X(std::uint32_t, games)          /* number of the game's record */             \
  X(std::uint8_t, symmetries)      /* how many the position has */               \
  X(std::uint8_t, flags)           /* SampleFlag */                              \
  X(Action, played)                /* in the policy's frame; kNoAction: the game ended */

// G games with A actions together, from the initial position, as they were played.
#define ZERMELO_GAME_COLUMNS(X)                                                     \
  X(std::uint32_t, game_lengths) /* [G] plies that were played */                   \
  X(std::uint8_t, game_outcomes) /* [G] Outcome */                                  \
  X(std::uint8_t, game_flags)    /* [G] kResigned, kAdjudicated, kAudit, kProven */ \
  X(Action, game_actions)        /* [A], game after game */

#define ZERMELO_DECLARE(type, name) std::vector<type> name;
#define ZERMELO_SHOW(type, name) f(#name, name);
#define ZERMELO_CHANGE(type, name) f(name, others.name...);

struct SampleColumns {
  ZERMELO_SAMPLE_COLUMNS(ZERMELO_DECLARE)

  std::size_t size() const { return results.size(); }

  // Every column in turn: f(name, column), and f(column, the same column of another...).
  template <class F>
  void each(F f) const {
    ZERMELO_SAMPLE_COLUMNS(ZERMELO_SHOW)
  }
  template <class F, class... Others>
  void change_each(F f, const Others&... others) {
    ZERMELO_SAMPLE_COLUMNS(ZERMELO_CHANGE)
  }

  void append(const SampleColumns& more) {
    change_each(
        [](auto& mine, const auto& its) { mine.insert(mine.end(), its.begin(), its.end()); }, more);
  }
  void clear() {
    change_each([](auto& column) { column.clear(); });
  }
  // `played` is not in what was saved before it was a column.
  template <class Archive>
  void transfer(Archive& archive, bool has_played) {
    change_each([&](auto& column) {
      if (has_played || static_cast<const void*>(&column) != &played) archive.vector(column);
    });
    if (!has_played) played.assign(size(), kNoAction);
  }
};

struct GameColumns {
  ZERMELO_GAME_COLUMNS(ZERMELO_DECLARE)

  std::size_t size() const { return game_lengths.size(); }

  template <class F>
  void each(F f) const {
    ZERMELO_GAME_COLUMNS(ZERMELO_SHOW)
  }
};

#undef ZERMELO_DECLARE
#undef ZERMELO_SHOW
#undef ZERMELO_CHANGE
#undef ZERMELO_SAMPLE_COLUMNS
#undef ZERMELO_GAME_COLUMNS

}  // namespace zermelo
