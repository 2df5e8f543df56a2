#include "games/checkers.hpp"

#include <map>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "games/perft.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

Checkers::State after(const Checkers& game, Checkers::State s,
                      const std::vector<std::string>& steps) {
  for (const std::string& step : steps) game.play(s, game.parse_action(s, step));
  return s;
}

std::string legal_texts(const Checkers& game, const Checkers::State& s) {
  ActionList actions;
  std::string texts;
  if (game.expand(s, actions) != Outcome::kOngoing) return "over";
  for (const Action action : actions)
    texts += (texts.empty() ? "" : " ") + game.action_text(s, action);
  return texts;
}

}  // namespace

TEST("checkers has the known number of whole moves") {
  const Checkers game;
  const std::uint64_t known[] = {1, 7, 49, 302, 1469, 7361, 36768, 179740, 845931, 3963680};
  for (int depth = 0; depth <= 9; ++depth) {
    CHECK_EQUAL(perft(game, game.initial(), depth), known[depth]);
  }
}

TEST("checkers squares agree: neighbours, shifts, turning and spreading") {
  using namespace checkers;
  for (int square = 0; square < 32; ++square) {
    const Bits bit = Bits{1} << square;
    const auto bit_of = [](int s) { return s < 0 ? Bits{0} : Bits{1} << s; };
    CHECK_EQUAL(shifted<0>(bit), bit_of(kNeighbour[square][0]));
    CHECK_EQUAL(shifted<1>(bit), bit_of(kNeighbour[square][1]));
    CHECK_EQUAL(shifted<2>(bit), bit_of(kNeighbour[square][2]));
    CHECK_EQUAL(shifted<3>(bit), bit_of(kNeighbour[square][3]));
    CHECK_EQUAL(turned(bit), bit_of(31 - square));
    CHECK_EQUAL(spread(bit), std::uint64_t{1} << (row_of(square) * 8 + column_of(square)));
    for (int direction = 0; direction < kDirections; ++direction) {
      const int next = kNeighbour[square][direction];
      if (next < 0) continue;
      CHECK_EQUAL(int{kNeighbour[next][opposite(direction)]}, square);
      CHECK_EQUAL(int{kNeighbour[31 - square][3 - direction]}, 31 - next);
    }
  }
}

TEST("checkers lets the same player go on with a multi-jump and nothing else") {
  const Checkers game;
  auto s = game.parse_position("B:W18,26,32:B14,1");
  CHECK_EQUAL(legal_texts(game, s), "14x23");
  s = after(game, s, {"14x23"});
  CHECK(game.player(s) == Player::kFirst);
  CHECK_EQUAL(game.position_text(s), "B:W26,32:B1,23:J23");
  CHECK_EQUAL(legal_texts(game, s), "23x30");
  s = after(game, s, {"23x30"});
  CHECK(game.player(s) == Player::kSecond);
  CHECK_EQUAL(game.position_text(s), "W:W32:B1,K30");
}

TEST("checkers ends the move of a man that is crowned by a jump") {
  const Checkers game;
  // From 30 a king could jump on over 25; the man that arrives there may not.
  const auto s = after(game, game.parse_position("B:W26,25,8:B23,4"), {"23x30"});
  CHECK(game.player(s) == Player::kSecond);
  CHECK_EQUAL(game.position_text(s), "W:W8,25:B4,K30");
}

TEST("checkers lets a king jump round in a circle back to its square") {
  const Checkers game;
  const auto s = game.parse_position("B:W9,10,17,18,32:BK6");
  CHECK_EQUAL(legal_texts(game, s), "6x13 6x15");
  const auto round = after(game, s, {"6x15", "15x22", "22x13", "13x6"});
  CHECK_EQUAL(game.position_text(round), "W:W32:BK6");
  CHECK(round == after(game, s, {"6x13", "13x22", "22x15", "15x6"}));
  CHECK_EQUAL(perft(game, s, 1), 2u);
}

TEST("checkers is lost for the player who cannot move, even by the last quiet ply") {
  const Checkers game({.quiet_plies = 1});
  CHECK(game.outcome(game.parse_position("W:W:B1")) == Outcome::kFirstWins);
  CHECK(game.outcome(game.parse_position("B:W32:B")) == Outcome::kSecondWins);
  CHECK(game.outcome(game.parse_position("B:WK6,K10,K14:BK1:H1")) == Outcome::kDraw);
  CHECK(game.outcome(game.parse_position("B:WK5,K6,K9,K10:BK1:H1")) == Outcome::kSecondWins);
}

TEST("checkers is drawn by threefold repetition") {
  const Checkers game;
  auto s = game.parse_position("B:WK32:BK1");
  const std::vector<std::string> there_and_back = {"1-6", "32-27", "6-1", "27-32"};
  CHECK(!game.repeated_within(s, 100));
  s = after(game, s, there_and_back);
  CHECK_EQUAL(int{s.repetitions}, 1);
  CHECK(game.outcome(s) == Outcome::kOngoing);
  CHECK(game.repeated_within(s, 4));
  CHECK(!game.repeated_within(s, 3));
  CHECK_EQUAL(game.position_text(s), "B:WK32:BK1:H4:R1");
  const auto parsed = game.parse_position("B:WK32:BK1:H4:R1");
  CHECK(parsed == s);
  CHECK(game.outcome(after(game, s, there_and_back)) == Outcome::kDraw);
  CHECK(game.outcome(after(game, parsed, there_and_back)) == Outcome::kDraw);
}

TEST("checkers is drawn by quiet plies, counted from the last capture or man's move") {
  const Checkers game({.quiet_plies = 3});
  CHECK_EQUAL(game.name(), "checkers?quiet_plies=3");
  auto s = after(game, game.parse_position("B:WK32,21:BK1:H1"), {"1-6", "21-17"});
  CHECK_EQUAL(int{s.quiet}, 0);
  s = after(game, s, {"6-1", "32-27", "1-6"});
  CHECK(game.outcome(s) == Outcome::kDraw);
}

TEST("checkers numbers actions and observes from the mover's side") {
  const Checkers game;
  const auto black = game.parse_position("B:WK30,21:BK3,12:H8:R1");
  const auto white = game.parse_position("W:WK30,21:BK3,12:H8:R1");
  std::uint64_t words[2][6];
  game.observe(black, words[0]);
  game.observe(white, words[1]);
  for (int i = 0; i < 6; ++i) CHECK_EQUAL(words[0][i], words[1][i]);
  CHECK_EQUAL(words[0][5], 8u + (1u << 8));
  CHECK(game.parse_action(black, "12-16") == game.parse_action(white, "21-17"));
  CHECK_EQUAL(game.parse_action(black, "12-16"), 11 * 4 + 0);
}

TEST("checkers hashes are equal exactly when positions are, in random games") {
  const Checkers game;
  Random random(3);
  ActionList actions;
  std::map<std::uint64_t, std::string> texts;
  for (int round = 0; round < 60; ++round) {
    auto s = game.initial();
    while (game.expand(s, actions) == Outcome::kOngoing) {
      game.play(s, actions[random.below(actions.size())]);
      const std::string text = game.position_text(s);
      const auto parsed = game.parse_position(text);
      CHECK(parsed == s);
      CHECK_EQUAL(game.hash(parsed), game.hash(s));
      CHECK_EQUAL(texts.emplace(game.hash(s), text).first->second, text);
    }
  }
}

TEST("checkers copies the used history of a state") {
  const Checkers game;
  auto s = after(game, game.parse_position("B:WK32:BK1"), {"1-6", "32-27", "6-1"});
  auto assigned = game.initial();
  assigned = s;
  const auto copy = std::make_unique<Checkers::State>(s);
  for (const auto& t : {assigned, *copy}) {
    CHECK(game.repeated_within(after(game, t, {"27-32"}), 4));
  }
}

TEST("checkers text names what is wrong") {
  const Checkers game;
  const auto position = [&](const char* text) {
    return testing::thrown([&] { (void)game.parse_position(text); });
  };
  CHECK_EQUAL(position("X:W1:B2"),
              "position 'X:W1:B2': 'X' is neither B nor W, the player to move");
  CHECK_EQUAL(position("B:W21"), "position 'B:W21': the pieces of B are missing");
  CHECK_EQUAL(position("B:W33:B1"), "position 'B:W33:B1': '33' is not a square from 1 to 32");
  CHECK_EQUAL(position("B:W9:B9"), "position 'B:W9:B9': two pieces on square 9");
  CHECK_EQUAL(position("B:W4:B9"), "position 'B:W4:B9': the man on square 4 should be a king");
  CHECK_EQUAL(position("B:W9:B1:Q7"),
              "position 'B:W9:B1:Q7': 'Q7' begins with none of W, B, H, R and J");
  CHECK_EQUAL(position("B:W9:B1:H1:H2"), "position 'B:W9:B1:H1:H2': field H comes twice");
  CHECK_EQUAL(position("B:W9:B1:H81"), "position 'B:W9:B1:H81': 'H81' is not H0 to H80");
  CHECK_EQUAL(position("B:W9:B1:H3:R1"), "position 'B:W9:B1:H3:R1': R1 needs H4 or more");
  CHECK_EQUAL(position("B:W9:B1:J1"),
              "position 'B:W9:B1:J1': square 1 holds no piece of the mover that can jump");
  CHECK_EQUAL(position("B:W10:B6:H1:J6"),
              "position 'B:W10:B6:H1:J6': a jump ends the quiet plies of H");
  CHECK_EQUAL(
      position("B:WK1,K2,K3,K4,K5,K6,K7,K8,K9,10,11,12,13:B14"),
      "position 'B:WK1,K2,K3,K4,K5,K6,K7,K8,K9,10,11,12,13:B14': White has more than 12 pieces");
  const auto action = [&](const char* fen, const char* text) {
    return testing::thrown([&] { (void)game.parse_action(game.parse_position(fen), text); });
  };
  CHECK_EQUAL(action("B:W32:B1", "e4"), "'e4' is not a step such as 11-15 or 22x15");
  CHECK_EQUAL(action("B:W32:B1", "1-6-10"), "'1-6-10' must be played one jump at a time");
  CHECK_EQUAL(action("B:W32:B1", "1-7"), "'1-7' is not legal");
  CHECK_EQUAL(action("B:W10:B6,1", "1-5"),
              "'1-5' is not legal: a jump is possible and must be made");
  CHECK_EQUAL(action("B:W10:B6,1:J6", "1-5"), "'1-5' is not legal: 6 must go on jumping");
  CHECK_EQUAL(action("B:W10:B", "1-5"), "the game is over, so '1-5' cannot be played");
  CHECK_EQUAL(testing::thrown([] { Checkers({.quiet_plies = 0}); }),
              "checkers: quiet_plies 0 is not from 1 to 200");
}
