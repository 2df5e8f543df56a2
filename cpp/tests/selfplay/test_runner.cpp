// Self-play in native code (P1-P7): what the samples of finished games hold.
#include "selfplay/runner.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "games/chess/chess.hpp"
#include "games/connect4.hpp"
#include "games/tictactoe.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

template <Game G>
Runner<G> make_runner(SelfPlayOptions options, SearchOptions search = {}) {
  auto cache = std::make_shared<EvaluationCache>(4, 2048);
  return Runner<G>(G(), std::make_shared<HashEvaluator<G>>(7), search, options, cache);
}

SelfPlayOptions quick() {
  SelfPlayOptions options;
  options.games = 8;
  options.simulations = 24;
  options.seed = 11;
  return options;
}

bool equal(SampleColumns& a, SampleColumns& b) {
  bool same = true;
  a.change_each([&](const auto& mine, const auto& its) { same = same && mine == its; }, b);
  return same;
}

}  // namespace

TEST("the temperature falls in a straight line and ends greedy") {
  SelfPlayOptions options;
  options.temperature_start = 1.3;
  options.temperature_end = 0.1;
  options.temperature_plies = 12;
  CHECK_EQUAL(temperature_at(options, 0), 1.3);
  CHECK(std::abs(temperature_at(options, 6) - 0.7) < 1e-12);
  CHECK(std::abs(temperature_at(options, 11) - 0.2) < 1e-12);
  CHECK_EQUAL(temperature_at(options, 12), 0.0);
  CHECK_EQUAL(temperature_at(options, 500), 0.0);
}

TEST("shares of a policy add up to the whole exactly") {
  Random random(3);
  for (int round = 0; round < 1000; ++round) {
    std::vector<double> policy(1 + random.below(40));
    double sum = 0;
    for (double& p : policy) sum += (p = random.uniform() < 0.3 ? 0.0 : random.uniform());
    if (sum <= 0) continue;
    for (double& p : policy) p /= sum;
    std::vector<std::uint16_t> shares;
    quantise_policy(policy, shares);
    std::uint32_t total = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      total += shares[i];
      CHECK(std::abs(shares[i] - policy[i] * kShareUnit) <= 1.0);
    }
    CHECK_EQUAL(total, kShareUnit);
  }
}

TEST("the columns of self-play agree with each other") {
  auto runner = make_runner<Connect4>(quick());
  runner.iteration = 4;
  const PlayedSamples played = runner.play(300, 0, {});
  const SampleColumns& c = played.samples;
  CHECK(c.size() >= 300);
  CHECK_EQUAL(c.observations.size(), c.size() * 2);
  std::size_t entry = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    std::uint32_t total = 0;
    for (int k = 0; k < c.policy_counts[i]; ++k, ++entry) {
      total += c.policy_shares[entry];
      if (k > 0) CHECK(c.policy_actions[entry] > c.policy_actions[entry - 1]);
    }
    CHECK_EQUAL(total, kShareUnit);
    CHECK(c.flags[i] & kFull);
    CHECK_EQUAL(c.iterations[i], 4u);
  }
  CHECK_EQUAL(entry, c.policy_actions.size());
  CHECK_EQUAL(played.statistics.games, static_cast<std::int64_t>(c.games.back()) + 1);
}

TEST("a game's result is told from each mover's side") {
  auto options = quick();
  options.full_search_probability = 1;
  auto runner = make_runner<TicTacToe>(options);
  const SampleColumns c = runner.play(500, 0, {}).samples;
  int decided = 0;
  for (std::size_t i = 1; i < c.size(); ++i) {
    if (c.games[i] != c.games[i - 1]) continue;
    CHECK_EQUAL(static_cast<int>(c.results[i]), -c.results[i - 1]);
    CHECK_EQUAL(c.plies_left[i] + 1, c.plies_left[i - 1]);
    // The player who moves last has not lost.
    if (c.plies_left[i] == 1) CHECK(c.results[i] >= 0);
    decided += c.results[i] != 0;
  }
  CHECK(decided > 0);
}

TEST("saved games go on as those that were not interrupted") {
  auto first = make_runner<Connect4>(quick());
  first.play(100, 0, {});
  first.drop_trees();
  const std::string bytes = first.save();
  auto second = make_runner<Connect4>(quick());
  second.load(bytes);
  SampleColumns a = first.play(400, 0, {}).samples;
  SampleColumns b = second.play(400, 0, {}).samples;
  CHECK(equal(a, b));
}

TEST("a damaged saved state is refused and changes nothing") {
  auto runner = make_runner<TicTacToe>(quick());
  auto twin = make_runner<TicTacToe>(quick());
  const std::string bytes = runner.save();
  Random random(5);
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::string damaged = bytes;
    if (round % 2 == 0) {
      damaged.resize(random.below(bytes.size()));
    } else {
      damaged[random.below(bytes.size())] ^= static_cast<char>(1 << random.below(8));
    }
    try {
      runner.load(damaged);
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  }
  CHECK_EQUAL(refused, 200);
  SampleColumns a = runner.play(100, 0, {}).samples;
  SampleColumns b = twin.play(100, 0, {}).samples;
  CHECK(equal(a, b));
}

// Bytes of saved games are changed under a right checksum, as nobody but an attacker does.
template <Game G>
int refused_of(int rounds, int games) {
  SelfPlayOptions options = quick();
  options.games = games;
  auto runner = make_runner<G>(options);
  runner.play(30, 0, {});
  runner.drop_trees();
  const std::string bytes = runner.save();
  Random random(5);
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    WriteArchive changed{bytes.substr(0, bytes.size() - sizeof(std::uint64_t))};
    const std::size_t place = random.below(changed.bytes.size());
    changed.bytes[place] ^= static_cast<char>(1 + random.below(255));
    try {
      runner.load(sealed(changed));
      runner.play(3, 0, {});  // what was accepted can be played
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  }
  runner.load(bytes);
  return refused;
}

TEST("saved games that cannot have been are refused, whatever byte is changed") {
  // Accepted are other random numbers, shares and values of samples, and counters.
  CHECK(refused_of<TicTacToe>(300, 4) > 100);
  CHECK(refused_of<Chess>(300, 4) > 100);
}

TEST("saved games with bytes behind them are refused") {
  auto runner = make_runner<TicTacToe>(quick());
  const std::string bytes = runner.save();
  WriteArchive more{bytes.substr(0, bytes.size() - sizeof(std::uint64_t)) + "x"};
  bool refused = false;
  try {
    runner.load(sealed(more));
  } catch (const Refused&) {
    refused = true;
  }
  CHECK(refused);
}

TEST("equal positions under symmetry have equal observations in samples") {
  const TicTacToe game;
  for (const char* text : {"X../.O./...", "XO./.../..X"}) {
    const auto state = game.parse_position(text);
    std::vector<std::uint64_t> words;
    std::set<std::vector<std::uint64_t>> seen;
    for (int symmetry = 0; symmetry < game.num_symmetries(state); ++symmetry) {
      canonical_symmetry(game, game.transform(state, symmetry), words);
      seen.insert(words);
    }
    CHECK_EQUAL(seen.size(), 1u);
  }
}

TEST("decoding under a symmetry shows the transformed position") {
  const TicTacToe game;
  const auto state = game.parse_position("X../.O./..X");
  std::vector<std::uint64_t> words(2);
  game.observe(state, words.data());
  for (int symmetry = 0; symmetry < game.num_symmetries(state); ++symmetry) {
    std::vector<int> cells;
    for (int cell = 0; cell < 9; ++cell) cells.push_back(game.transform_cell(cell, symmetry));
    std::vector<float> decoded(18);
    decode_observation(game.layout(), words.data(), cells, decoded.data());
    std::vector<std::uint64_t> other(2);
    game.observe(game.transform(state, symmetry), other.data());
    std::vector<float> expected(18);
    expand_observation(game.layout(), other.data(), expected.data());
    CHECK(decoded == expected);
  }
}

TEST("a chess game cut off is judged by material when asked") {
  const Chess game;
  const auto judge = [&](const char* fen) { return game.adjudicate(game.parse_position(fen)); };
  CHECK(judge("4k3/8/8/8/8/8/8/R3K3 w - - 0 1") == Outcome::kFirstWins);
  CHECK(judge("4k2r/8/8/8/8/8/8/4K3 w - - 0 1") == Outcome::kSecondWins);
  CHECK(judge("4k3/8/8/8/8/8/PP6/4K3 b - - 0 1") == Outcome::kDraw);
}

TEST("self-play whose evaluator fails goes on with the next one") {
  struct Failing final : Evaluator<TicTacToe> {
    void evaluate(std::span<Position<TicTacToe>>) override { throw std::runtime_error("no"); }
  };
  Runner<TicTacToe> runner(TicTacToe(), std::make_shared<Failing>(), {}, quick(), nullptr);
  bool failed = false;
  try {
    runner.play(10, 0, {});
  } catch (const std::runtime_error&) {
    failed = true;
  }
  CHECK(failed);
  runner.set_evaluator(std::make_shared<UniformEvaluator<TicTacToe>>());
  CHECK(runner.play(10, 0, {}).samples.size() >= 10);
}
