#include "games/connect4_solver.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

const Connect4 kGame;

// Plain negamax over the rules, with nothing of the solver's.
int slow_score(const Connect4::State& s, std::map<std::uint64_t, int>& memo) {
  const auto known = memo.find(s.hash);
  if (known != memo.end()) return known->second;
  ActionList actions;
  const Outcome outcome = kGame.expand(s, actions);
  int best = -100;
  if (outcome == Outcome::kDraw) best = 0;
  if (outcome == Outcome::kFirstWins || outcome == Outcome::kSecondWins) {
    best = -(22 - (kGame.ply(s) + 1) / 2);
  }
  if (outcome == Outcome::kOngoing) {
    for (const Action action : actions) {
      auto next = s;
      kGame.play(next, action);
      best = std::max(best, -slow_score(next, memo));
    }
  }
  return memo[s.hash] = best;
}

// A random position of `plies` plies, finished only if the last ply ended the game.
Connect4::State random_position(Random& random, int plies) {
  ActionList actions;
  for (;;) {
    auto s = kGame.initial();
    while (kGame.ply(s) < plies && kGame.expand(s, actions) == Outcome::kOngoing) {
      kGame.play(s, actions[random.below(actions.size())]);
    }
    if (kGame.ply(s) == plies) return s;
  }
}

std::string temporary_file(const char* name) {
  return (std::filesystem::temp_directory_path() / name).string();
}

}  // namespace

TEST("the connect4 solver agrees with plain negamax on late positions") {
  Random random(1);
  Connect4Solver solver(1);
  for (int plies = 28; plies <= 42; ++plies) {
    for (int i = 0; i < 40; ++i) {
      const auto s = random_position(random, plies);
      std::map<std::uint64_t, int> memo;
      const int expected = slow_score(s, memo);
      CHECK_EQUAL(solver.solve(s), expected);
      CHECK_EQUAL(solver.solve_weak(s), std::clamp(expected, -1, 1));
    }
  }
}

TEST("the connect4 solver gives a position and its mirror image the same score") {
  Random random(2);
  Connect4Solver solver(8);
  for (int i = 0; i < 20; ++i) {
    const auto s = random_position(random, 20);
    CHECK_EQUAL(solver.solve(s), solver.solve(kGame.transform(s, 1)));
  }
}

TEST("analysing a connect4 position scores every column, and the best is its score") {
  Random random(3);
  Connect4Solver solver(8);
  for (int i = 0; i < 20; ++i) {
    const auto s = random_position(random, 22);
    const auto scores = solver.analyse(s);
    const bool over = kGame.outcome(s) != Outcome::kOngoing;
    int best = -100;
    for (int column = 0; column < 7; ++column) {
      const bool open = !over && (Connect4::occupied(s) >> column & 1) == 0;
      CHECK_EQUAL(scores[column].has_value(), open);
      best = std::max(best, scores[column].value_or(-100));
    }
    if (!over) CHECK_EQUAL(best, solver.solve(s));
  }
}

TEST("the connect4 score counts the winner's stones") {
  Connect4Solver solver(1);
  CHECK_EQUAL(solver.solve(kGame.parse_position("121212")), 18);    // wins with the fourth stone
  CHECK_EQUAL(solver.solve(kGame.parse_position("1212121")), -18);  // has just lost so
  CHECK_EQUAL(solver.solve(kGame.parse_position("3141")), 18);  // so, too: three with two open ends
  CHECK_EQUAL(solver.solve(kGame.parse_position("713147")), 17);  // the same, one stone later
  CHECK_EQUAL(solver.solve_weak(kGame.parse_position("1212121")), -1);
}

TEST("claimeven never promises more than the connect4 score") {
  Random random(4);
  Connect4Solver solver(8);
  int promises = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto s = random_position(random, 26 + 2 * static_cast<int>(random.below(7)));
    if (kGame.outcome(s) != Outcome::kOngoing) continue;
    const auto board = connect4::to_board(s);
    const int sure = connect4::claimeven(board.mine, board.theirs());
    if (sure < 0) continue;
    ++promises;
    CHECK(-solver.solve(s) >= sure);
  }
  CHECK(promises > 10);
}

TEST("a connect4 solver can be stopped and used again") {
  Connect4Solver solver(1);
  int asked = 0;
  const auto stop = [&] { return ++asked == 3; };
  CHECK_EQUAL(testing::thrown([&] { (void)solver.solve(kGame.initial(), stop); }),
              std::string("the solver was stopped"));
  CHECK_EQUAL(asked, 3);
  CHECK_EQUAL(solver.nodes(), 3 * Connect4Solver::kNodesBetweenChecks);
  CHECK_EQUAL(solver.solve(kGame.parse_position("121212")), 18);
  solver.reset();
  CHECK_EQUAL(solver.nodes(), 0u);
}

TEST("a connect4 solver at work refuses a second call") {
  Connect4Solver solver(1);
  std::string refusal;
  const auto stop = [&] {
    refusal = testing::thrown([&] { (void)solver.solve(kGame.parse_position("121212")); });
    return true;
  };
  CHECK_EQUAL(testing::thrown([&] { (void)solver.solve(kGame.initial(), stop); }),
              std::string("the solver was stopped"));
  CHECK_EQUAL(refusal, std::string("the solver is at work in another thread"));
}

TEST("a connect4 key tells its position") {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const auto board =
        connect4::to_board(random_position(random, static_cast<int>(random.below(43))));
    const auto key = connect4::position_key(board.mine, board.occupied);
    const auto again = connect4::board_of_key(key);
    CHECK_EQUAL(again.mine, board.mine);
    CHECK_EQUAL(again.occupied, board.occupied);
    CHECK_EQUAL(connect4::mirrored_key(connect4::mirrored_key(key)), key);
  }
}

TEST("connect4 openings are counted once per mirrored pair") {
  std::vector<connect4::Bits> keys = {0};
  for (const std::size_t count : {4u, 25u, 121u, 568u}) {
    keys = connect4::next_positions(keys);
    CHECK_EQUAL(keys.size(), count);
  }
}

TEST("a connect4 book is found again in its file, and a damaged file is refused") {
  const std::string path = temporary_file("zermelo_test_connect4.book");
  const auto first = kGame.parse_position("4453");
  const auto key = connect4::Book::canonical_key(connect4::to_board(first));
  connect4::Book(4, {{key, -7}, {0, 1}}).save(path);

  Connect4Solver solver(1);
  solver.load_book(path);
  CHECK_EQUAL(solver.book().size(), 2u);
  CHECK_EQUAL(solver.book().max_plies(), 4);
  CHECK_EQUAL(solver.solve(first), -7);
  CHECK_EQUAL(solver.solve(kGame.transform(first, 1)), -7);
  CHECK_EQUAL(solver.solve_weak(first), -1);
  CHECK_EQUAL(solver.solve(kGame.initial()), 1);

  std::ifstream file(path, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    return testing::thrown([&] { solver.load_book(path); }).starts_with("'" + path + "' is no");
  };
  for (std::size_t length = 0; length < good.size(); ++length)
    CHECK(refused(good.substr(0, length)));
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    CHECK(refused(bytes));
  }
  CHECK(refused(good + "x"));
  CHECK(!refused(good));
  CHECK_EQUAL(solver.solve(first), -7);  // a refused file leaves the loaded book alone
  std::filesystem::remove(path);
  CHECK_EQUAL(testing::thrown([&] { solver.load_book(path); }), "there is no file '" + path + "'");
  CHECK_EQUAL(testing::thrown([&] { solver.build_book(13, path); }),
              std::string("a book must have from 0 to 12 plies, not 13"));
}

TEST("the connect4 solver's table has a sensible size") {
  CHECK_EQUAL(testing::thrown([] { (void)Connect4Solver(0); }),
              std::string("the solver's table must have from 1 to 65536 MiB, not 0"));
}
