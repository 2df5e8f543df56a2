// What one call of Runner::play() hands over: samples, records of the games, and what it counted.
#pragma once

#include <cstdint>
#include <vector>

#include "search/board.hpp"
#include "selfplay/columns.hpp"

namespace zermelo {

// P2: the lowest value that a player sustained in a game which was played out, and its result.
struct AuditEntry {
  double lowest = 0;
  int result = 0;  // for that player
};

// What happened during one call of play().
struct SelfPlayStatistics {
  std::int64_t games = 0;
  std::int64_t moves = 0;
  std::int64_t full_searches = 0;
  std::int64_t fast_searches = 0;
  std::int64_t first_wins = 0;
  std::int64_t draws = 0;
  std::int64_t second_wins = 0;
  std::int64_t resigned = 0;
  std::int64_t adjudicated = 0;
  std::int64_t proven_ends = 0;
  std::int64_t plies = 0;  // of the finished games together
  std::int64_t unique_games = 0;
  std::int64_t restarts = 0;   // P8: finished games that began from a position of high regret ...
  std::int64_t regretted = 0;  // ... finished games whose searches were judged, ...
  double regret = 0;           // ... and the regret of all their searches together
  std::vector<AuditEntry> audit;
  SearchCounters search;
  double seconds = 0;
};

struct PlayedSamples {
  SampleColumns samples;  // of finished games
  GameColumns games;      // all finished games; a sample's number is its game's place here
  SelfPlayStatistics statistics;
};

}  // namespace zermelo
