// What finished games leave behind, as columns: a row for each sample, and a record of each game.
//
// Every column is declared here, once: memory, order, appending, saving and the array in Python
// follow from it. For a new one: a line in the table, where it is filled (`add_sample` in
// sample.hpp, `end_game` in runner.hpp), and its declaration for files and training in
// `zermelo/replay/samples.py` or `records.py`; a test holds the two tables against each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
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

// X(type, name, absent), in the order of the file. N samples with E policy entries together; a
// sample's entries are its legal actions, ascending. A new column goes last: samples of games that
// were saved before it have `absent` there.
#define ZERMELO_SAMPLE_COLUMNS(X)                                                   \
  X(std::uint64_t, observations, 0)   /* [N * words] */                             \
  X(std::uint16_t, policy_counts, 0)  /* [N] */                                     \
  X(std::uint16_t, policy_actions, 0) /* [E] */                                     \
  X(std::uint16_t, policy_shares, 0)  /* [E], of kShareUnit; all 0 without kFull */ \
  X(std::int8_t, results, 0)          /* -1, 0, 1 */                                \
  X(std::int16_t, values, 0)          /* root value, of kValueUnit */               \
  X(std::uint16_t, draws, 0)          /* root draw probability, of kShareUnit */    \
  X(std::uint16_t, plies, 0)          /* played before */                           \
  X(std::uint16_t, plies_left, 0)     /* until the end */                           \
  X(std::uint32_t, iterations, 0)     /* of the network that searched */            \
  X(std::uint32_t, games, 0)          /* number of the game's record */             \
  X(std::uint8_t, symmetries, 0)      /* how many the position has */               \
  X(std::uint8_t, flags, 0)           /* SampleFlag */                              \
  X(Action, played, kNoAction)        /* in the policy's frame; kNoAction: the game ended */

// X(type, name): G games with A actions together, from the initial position, as they were played.
#define ZERMELO_GAME_COLUMNS(X)                                                     \
  X(std::uint32_t, game_lengths) /* [G] plies that were played */                   \
  X(std::uint8_t, game_outcomes) /* [G] Outcome */                                  \
  X(std::uint8_t, game_flags)    /* [G] kResigned, kAdjudicated, kAudit, kProven */ \
  X(Action, game_actions)        /* [A], game after game */

#define ZERMELO_DECLARE(type, name, ...) std::vector<type> name;
#define ZERMELO_SHOW(type, name, ...) f(#name, name);
#define ZERMELO_CHANGE(type, name, ...) f(name, others.name...);
#define ZERMELO_NAME(type, name, ...) #name,
#define ZERMELO_TRANSFER(type, name, absent) f(name, absent);

struct SampleColumns {
  ZERMELO_SAMPLE_COLUMNS(ZERMELO_DECLARE)

  std::size_t size() const { return results.size(); }

  // Every column in turn: f(name, column), to look or to fill, and f(column, the same column of
  // another...).
  template <class F>
  void each(F f) const {
    ZERMELO_SAMPLE_COLUMNS(ZERMELO_SHOW)
  }
  template <class F>
  void fill_each(F f) {
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

  static constexpr const char* kNames[] = {ZERMELO_SAMPLE_COLUMNS(ZERMELO_NAME)};
  static constexpr std::uint64_t kCount = std::size(kNames);
  // The first `columns` of them are saved or read; the others are absent.
  template <class Archive>
  void transfer(Archive& archive, std::uint64_t columns) {
    std::uint64_t index = 0;
    const auto f = [&]<class T>(std::vector<T>& column, auto absent) {
      if (index++ < columns) {
        archive.vector(column);
      } else {
        column.assign(size(), static_cast<T>(absent));
      }
    };
    ZERMELO_SAMPLE_COLUMNS(ZERMELO_TRANSFER)
  }
};

struct GameColumns {
  ZERMELO_GAME_COLUMNS(ZERMELO_DECLARE)

  std::size_t size() const { return game_lengths.size(); }

  template <class F>
  void each(F f) const {
    ZERMELO_GAME_COLUMNS(ZERMELO_SHOW)
  }
  template <class F>
  void fill_each(F f) {
    ZERMELO_GAME_COLUMNS(ZERMELO_SHOW)
  }
};

#undef ZERMELO_DECLARE
#undef ZERMELO_SHOW
#undef ZERMELO_CHANGE
#undef ZERMELO_NAME
#undef ZERMELO_TRANSFER
#undef ZERMELO_SAMPLE_COLUMNS
#undef ZERMELO_GAME_COLUMNS

}  // namespace zermelo
