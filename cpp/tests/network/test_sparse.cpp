#include "network/sparse.hpp"

#include <cmath>
#include <vector>

#include "base/exp.hpp"
#include "base/random.hpp"
#include "games/chess/chess.hpp"
#include "games/connect4.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

template <class T>
std::vector<T> drawn(Random& random, std::size_t count, int most) {
  std::vector<T> out(count);
  for (T& value : out) {
    value = static_cast<T>(static_cast<int>(random.below(2 * most + 1)) - most);
  }
  return out;
}

SparseArrays random_arrays(const FeatureSet& features, std::size_t hidden,
                           std::size_t policy_hidden, std::size_t actions, Random& random,
                           int most_weight = 200) {
  SparseArrays a;
  a.hidden = hidden;
  a.policy_hidden = policy_hidden;
  a.value_hidden = 32;
  a.num_actions = actions;
  const std::size_t tails = policy_hidden + a.value_hidden;
  a.table = drawn<std::int16_t>(random, features.num_rows() * hidden, most_weight);
  a.tail = drawn<std::int8_t>(random, tails * hidden, 127);
  a.tail_bias = drawn<std::int32_t>(random, tails, 4000);
  a.actions = drawn<std::int8_t>(random, actions * (policy_hidden ? policy_hidden : hidden), 127);
  a.action_bias = drawn<std::int32_t>(random, actions, 4000);
  a.value1 = drawn<std::int8_t>(random, kValueLast * a.value_hidden, 127);
  a.value1_bias = drawn<std::int32_t>(random, kValueLast, 4000);
  a.value2 = drawn<std::int8_t>(random, kValueOutputs * kValueLast, 127);
  a.value2_bias = drawn<std::int32_t>(random, kValueOutputs, 4000);
  return a;
}

// Calls `see(words, actions)` for positions of random games.
template <Game G, class See>
void random_positions(const G& game, int count, Random& random, const See& see) {
  std::vector<std::uint64_t> words(static_cast<std::size_t>(game.layout().words()));
  ActionList actions;
  auto state = game.initial();
  for (int i = 0; i < count; ++i) {
    actions.clear();
    if (game.expand(state, actions) != Outcome::kOngoing) {
      state = game.initial();
      continue;
    }
    std::fill(words.begin(), words.end(), 0);
    game.observe(state, words.data());
    see(words.data(), actions.span());
    game.play(state, actions[random.below(actions.size())]);
  }
}

template <Game G>
void check_kernels_agree(const G& game, const FeatureSet& features, std::size_t hidden,
                         std::size_t policy_hidden, int most_weight = 200) {
  Random random(7);
  const auto arrays =
      random_arrays(features, hidden, policy_hidden, static_cast<std::size_t>(game.num_actions()),
                    random, most_weight);
  const SparseNetwork portable(features, arrays, *portable_kernels());
  for (const Kernels* kernels : {avx2_kernels(), avx512_kernels()}) {
    if (!kernels) continue;
    const SparseNetwork other(features, arrays, *kernels);
    SparseScratch scratch;
    random_positions(game, 2000, random, [&](const auto* words, std::span<const Action> actions) {
      std::vector<float> a(actions.size());
      std::vector<float> b(actions.size());
      const SparseAnswer x = portable.evaluate(words, actions, a, scratch);
      const SparseAnswer y = other.evaluate(words, actions, b, scratch);
      CHECK(a == b);
      CHECK(x.wdl == y.wdl);
      CHECK_EQUAL(x.plies_left, y.plies_left);
    });
  }
}

// All lines of four cells across a board of six rows and seven columns.
std::vector<std::vector<int>> lines() {
  std::vector<std::vector<int>> found;
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column + 4 <= 7; ++column) {
      const int cell = row * 7 + column;
      found.push_back({cell, cell + 1, cell + 2, cell + 3});
    }
  }
  return found;
}

}  // namespace

TEST("every set bit is a row, the bias comes first and a window's content selects its row") {
  const Connect4 game;
  const FeatureSet features(game.layout(), {0, 1}, {{0, 1}, {7, 8}});
  const std::uint32_t bits = 2 * 42;
  CHECK_EQUAL(features.num_rows(), bits + 2 + 8 + 8 + 1);
  // Own stones on cells 0 and 8, the opponent's on 1.
  const std::uint64_t words[2] = {1ull | 1ull << 8, 1ull << 1};
  Features found;
  features.read(words, found);
  const std::uint32_t windows = features.first_window_row();
  // Contents: 1 + 2 * 3 = 7 and 0 + 1 * 3 = 3; the empty content has no row.
  const std::vector<std::uint32_t> expected = {features.bias_row(), 0, 8, 42 + 1, windows + 6,
                                               windows + 8 + 2};
  CHECK(found.rows == expected);
  CHECK(found.scaled.empty());
}

TEST("a full plane is one row, and a scalar plane a row with a factor") {
  const ObservationLayout layout{
      .rows = 2, .columns = 2, .binary_planes = 2, .scalar_scales = {1.0f, 0.01f}};
  const FeatureSet features(layout, {}, {});
  const std::uint64_t words[3] = {0b1111, 0b0100, 1 | 50 << 8};
  Features found;
  features.read(words, found);
  const std::vector<std::uint32_t> expected = {features.bias_row(), 8, 4 + 2, 10};
  CHECK(found.rows == expected);
  CHECK_EQUAL(found.scaled.size(), 1u);
  CHECK_EQUAL(found.scaled[0].row, 11u);
  CHECK_EQUAL(found.scaled[0].factor, 64);
}

TEST("the three kinds of arithmetic give the same bits") {
  const Connect4 connect4;
  check_kernels_agree(connect4, FeatureSet(connect4.layout(), {}, {}), 256, 64);
  check_kernels_agree(connect4, FeatureSet(connect4.layout(), {0, 1}, lines()), 320, 0);
  const Chess chess;
  check_kernels_agree(chess, FeatureSet(chess.layout(), {}, {}), 512, 32);
  // Of the largest weights no more than 32 rows are added in 16 bits; positions have more.
  check_kernels_agree(chess, FeatureSet(chess.layout(), {}, {}), 320, 32, kMostRowWeight);
}

TEST("sums of any number of the largest rows do not overflow") {
  const ObservationLayout layout{.rows = 16, .columns = 16, .binary_planes = 1};
  const FeatureSet features(layout, {}, {});
  Random random(3);
  SparseArrays arrays = random_arrays(features, 64, 32, 4, random);
  std::fill(arrays.table.begin(), arrays.table.end(), std::int16_t{kMostRowWeight});
  const std::uint64_t words[4] = {~0ull, ~0ull, ~0ull, ~0ull >> 1};
  const Action actions[] = {0, 1, 2, 3};
  SparseScratch scratch;
  for (const Kernels* kernels : {portable_kernels(), avx2_kernels(), avx512_kernels()}) {
    if (!kernels) continue;
    const SparseNetwork network(features, arrays, *kernels);
    float logits[4];
    network.evaluate(words, actions, logits, scratch);
    for (const std::uint8_t activation : scratch.hidden) CHECK_EQUAL(int{activation}, 127);
  }
}

TEST("the exponential is right to the last digits") {
  for (double x = -30; x <= 30; x += 0.37) {
    CHECK(std::abs(portable_exp(x) / std::exp(x) - 1) < 1e-14);
  }
}

TEST("arrays of the wrong size or range are refused with their name") {
  const Connect4 game;
  const FeatureSet features(game.layout(), {}, {});
  Random random(1);
  SparseArrays arrays = random_arrays(features, 64, 32, 7, random);
  arrays.action_bias.pop_back();
  CHECK_EQUAL(testing::thrown([&] { const SparseNetwork network(features, arrays); }),
              "the sparse network's 'action_bias' has 6 numbers, not 7");
  arrays = random_arrays(features, 64, 32, 7, random);
  arrays.table[5] = kMostRowWeight + 1;
  CHECK_EQUAL(testing::thrown([&] { const SparseNetwork network(features, arrays); }),
              "the sparse network's 'table' has weights beyond 1023");
}
