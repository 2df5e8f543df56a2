#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "games/chess/chess.hpp"
#include "games/chess/fen.hpp"
#include "games/chess/movegen.hpp"
#include "games/perft.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

std::uint64_t paths(const char* text, int depth, bool chess960 = false) {
  const Chess game(ChessOptions{.chess960 = chess960});
  return perft(game, game.parse_position(text), depth);
}

std::string refusal(const char* text, bool chess960 = false) {
  const Chess game(ChessOptions{.chess960 = chess960});
  return testing::thrown([&] { (void)game.parse_position(text); });
}

bool mentions(const std::string& message, const char* words) {
  return message.find(words) != std::string::npos;
}

}  // namespace

TEST("chess slider look-ups equal rays walked square by square") {
  chess::prepare_attacks();
  Random random(7);
  for (chess::Square from = 0; from < 64; ++from) {
    for (int i = 0; i < 200; ++i) {
      const chess::Bitboard occupied = random.next() & random.next();
      chess::Bitboard walked[2] = {0, 0};
      for (int line = 0; line < 8; ++line) {
        const auto& step = chess::detail::kLines[line];
        walked[line / 4] |= chess::detail::ray(from, step[0], step[1], 7, occupied);
      }
      CHECK_EQUAL(chess::rook_attacks(from, occupied), walked[0]);
      CHECK_EQUAL(chess::bishop_attacks(from, occupied), walked[1]);
    }
  }
}

TEST("chess perft counts are the known ones") {
  CHECK_EQUAL(paths("startpos", 4), 197281u);
  CHECK_EQUAL(paths("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -", 3), 97862u);
  CHECK_EQUAL(paths("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - -", 4), 43238u);
  CHECK_EQUAL(paths("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq -", 3), 9467u);
  CHECK_EQUAL(paths("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 3), 62379u);
  CHECK_EQUAL(paths("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - -", 3),
              89890u);
}

TEST("chess positions with fifteen queens have room for their moves") {
  CHECK_EQUAL(paths("knQ2Q2/pp5Q/1Q4Q1/3QQ3/Q6Q/Q6Q/3QQ3/1Q4QK w - - 0 1", 1), 235u);
  CHECK(paths("knQ2Q2/pp5Q/1Q4Q1/3QQ3/Q6Q/Q6Q/3QQ3/1Q4QK w - - 0 1", 2) > 0);
}

TEST("chess random games keep key, text, actions and history consistent") {
  for (const bool chess960 : {false, true}) {
    const Chess game(ChessOptions{.chess960 = chess960, .encoder = chess::Encoder::kLc0});
    Random random(chess960 ? 960 : 518);
    for (int round = 0; round < 40; ++round) {
      Chess::State s = game.initial();
      if (chess960) {
        s = game.parse_position(chess::chess960_start(static_cast<int>(random.below(960))));
      }
      ActionList actions;
      while (game.expand(s, actions) == Outcome::kOngoing) {
        CHECK_EQUAL(s.position.key, chess::compute_key(s.position));
        const Action action = actions[random.below(actions.size())];
        CHECK_EQUAL(game.parse_action(s, game.action_text(s, action)), action);
        CHECK_EQUAL(chess::action_of(chess::move_of(s.position, action), s.position.side), action);
        const Chess::State again = game.state_from_bytes(game.state_bytes(s));
        CHECK(again == s);
        std::vector<std::uint64_t> seen(game.layout().words()), seen_again(game.layout().words());
        game.observe(s, seen.data());
        game.observe(again, seen_again.data());
        CHECK(seen == seen_again);
        const Chess::State read = game.parse_position(game.position_text(s));
        CHECK(read.position == s.position);
        game.play(s, action);
      }
    }
  }
}

TEST("chess mirror images have mirrored keys, moves and observations") {
  const Chess game(ChessOptions{.mirror = true});
  Random random(3);
  int compared = 0;
  for (int round = 0; round < 20; ++round) {
    Chess::State s = game.initial();
    ActionList actions, mirrored_actions;
    while (game.expand(s, actions) == Outcome::kOngoing) {
      if (game.num_symmetries(s) == 2) {
        const Chess::State t = game.transform(s, 1);
        CHECK_EQUAL(t.position.key, chess::compute_key(t.position));
        CHECK(game.transform(t, 1) == s);
        CHECK(game.expand(t, mirrored_actions) == Outcome::kOngoing);
        CHECK_EQUAL(actions.size(), mirrored_actions.size());
        for (const Action a : actions) {
          CHECK(mirrored_actions.contains(game.transform_action(a, 1)));
        }
        std::vector<std::uint64_t> seen(game.layout().words()), mirrored(game.layout().words());
        game.observe(s, seen.data());
        game.observe(t, mirrored.data());
        for (int i = 0; i < game.layout().binary_words(); ++i) {
          CHECK_EQUAL(mirrored[i], chess::mirror_files(seen[i]));
        }
        CHECK_EQUAL(mirrored.back(), seen.back());
        const Action action = actions[random.below(actions.size())];
        Chess::State next = s, mirrored_next = t;
        game.play(next, action);
        game.play(mirrored_next, game.transform_action(action, 1));
        CHECK(game.transform(next, 1) == mirrored_next);
        ++compared;
      }
      game.play(s, actions[random.below(actions.size())]);
    }
  }
  CHECK(compared > 100);
}

TEST("chess repetition is seen, counted and remembered through copies") {
  const Chess game;
  Chess::State s = game.parse_position("startpos moves g1f3 g8f6 f3g1");
  CHECK(!game.repeated_within(s, 100));
  const Chess::State copy = s;
  s = copy;
  game.play(s, game.parse_action(s, "f6g8"));
  CHECK(game.repeated_within(s, 4));
  CHECK(!game.repeated_within(s, 3));
  CHECK(game.hash(s) != game.hash(game.initial()));
  CHECK_EQUAL(s.position.key, game.initial().position.key);
  s = game.parse_position("startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8");
  CHECK(game.outcome(s) == Outcome::kDraw);
  CHECK(mentions(testing::thrown([&] { (void)game.parse_action(s, "e2e4"); }), "the game is over"));
  ActionList actions;
  game.legal_moves(s, actions);
  CHECK_EQUAL(actions.size(), 20u);
}

TEST("chess moves may be read on beyond the length of the remembered history") {
  const Chess game;
  std::string text = "startpos moves";
  for (int i = 0; i < 40; ++i) text += " g1f3 g8f6 f3g1 f6g8";
  const Chess::State s = game.parse_position(text);
  CHECK_EQUAL(s.position.rule50, 160);
  CHECK(game.outcome(s) == Outcome::kDraw);
}

TEST("chess960 starts are numbered as usual and all different") {
  const Chess game(ChessOptions{.chess960 = true});
  CHECK_EQUAL(game.cells(game.chess960_start(0)).substr(56), std::string("BBQNNRKR"));
  CHECK_EQUAL(game.cells(game.chess960_start(959)).substr(56), std::string("RKRNNQBB"));
  CHECK(game.chess960_start(518) == game.initial());
  std::set<std::string> starts;
  for (int number = 0; number < 960; ++number) starts.insert(chess::chess960_start(number));
  CHECK_EQUAL(starts.size(), 960u);
}

TEST("chess castling is understood in both spellings") {
  const Chess game;
  const Chess::State s = game.parse_position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
  CHECK_EQUAL(game.parse_action(s, "e1g1"), game.parse_action(s, "e1h1"));
  CHECK_EQUAL(game.action_text(s, game.parse_action(s, "e1a1")), std::string("e1c1"));
  const Chess game960(ChessOptions{.chess960 = true});
  const Chess::State t = game960.parse_position("8/8/4k3/8/8/8/8/5K1R w K - 0 1");
  // f1g1 is a king move there, so castling is only f1h1.
  CHECK(game960.parse_action(t, "f1g1") != game960.parse_action(t, "f1h1"));
  CHECK_EQUAL(game960.action_text(t, game960.parse_action(t, "f1h1")), std::string("f1h1"));
}

TEST("chess positions that cannot be are refused with the reason") {
  CHECK(mentions(refusal(""), "empty"));
  CHECK(mentions(refusal("8/8/8/8/8/8/8 w - - 0 1"), "7 rows"));
  CHECK(mentions(refusal("8/8/8/8/8/8/8/8/8 w - - 0 1"), "more than 8 rows"));
  CHECK(mentions(refusal("k7/9/8/8/8/8/8/K7 w - - 0 1"), "'9' is no piece"));
  CHECK(mentions(refusal("k7/44p/8/8/8/8/8/K7 w - - 0 1"), "two digits"));
  CHECK(mentions(refusal("kppppppppppp/8/8/8/8/8/8/K7 w - - 0 1"), "12 squares"));
  CHECK(mentions(refusal("8/8/8/8/8/8/8/K7 w - - 0 1"), "black has 0 kings"));
  CHECK(mentions(refusal("k7/8/8/8/8/8/8/KK6 w - - 0 1"), "white has 2 kings"));
  CHECK(mentions(refusal("k6P/8/8/8/8/8/8/K7 w - - 0 1"), "a pawn stands"));
  CHECK(mentions(refusal("k7/8/8/8/8/8/8/K6R w Q - 0 1"), "castling right"));
  CHECK(mentions(refusal("k7/8/8/8/8/8/8/1K5R w K - 0 1"), "Chess960"));
  CHECK_EQUAL(refusal("k7/8/8/8/8/8/8/1K5R w K - 0 1", true), std::string());
  CHECK(mentions(refusal("k7/8/8/8/8/8/8/K7 w x - 0 1"), "'x' in the castling rights"));
  CHECK(mentions(refusal("k7/8/8/8/8/8/8/K7 w - e6 0 1"), "en passant square e6"));
  CHECK(mentions(refusal("k7/8/8/8/8/8/8/K7 w - j9 0 1"), "neither a square nor"));
  CHECK(mentions(refusal("k7/8/8/8/8/8/8/K6r b - - 0 1"), "white is in check"));
  CHECK(mentions(refusal("k7/8/8/8/8/8/8/K7 w - - -1 1"), "negative"));
  CHECK(mentions(refusal("k7/8/8/8/8/8/8/K7 w - - 0 1e3"), "is not a number"));
  CHECK(mentions(refusal("k7/8/8/8/8/8/8/K7 w - - 0 1 2"), "7 fields"));
  CHECK(mentions(refusal("startpos moves e2e5"), "'e2e5' is not a legal move"));
  CHECK(mentions(refusal("startpos moves e2"), "'e2' is not a move"));
  CHECK(mentions(refusal("moves e2e4"), "empty"));
}

TEST("chess text and bytes damaged at random are read or refused, never more") {
  const Chess game(ChessOptions{.chess960 = true, .encoder = chess::Encoder::kLc0});
  const Chess::State s =
      game.parse_position("startpos moves e2e4 e7e5 g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f1c4 f8c5");
  const std::string texts[] = {
      "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3 moves e5f6 e8d7 e1e2",
      game.position_text(s),
      "startpos moves e2e4 c7c5",
      game.state_bytes(s),
      "e7e8q",
  };
  Random random(19);
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = texts[random.below(std::size(texts))];
    for (std::uint64_t changes = random.below(4); changes > 0 && !text.empty(); --changes) {
      const std::size_t at = random.below(text.size());
      switch (random.below(3)) {
        case 0:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text.erase(at, 1 + random.below(3));
          break;
        default:
          text.insert(at, 1, "kK/8 -w1"[random.below(8)]);
      }
    }
    read += testing::thrown([&] { (void)game.perft(game.parse_position(text), 2); }).empty();
    read += testing::thrown([&] { (void)game.parse_action(s, text); }).empty();
    read += testing::thrown([&] {
              const Chess::State restored = game.state_from_bytes(text);
              std::vector<std::uint64_t> words(game.layout().words());
              game.observe(restored, words.data());
            }).empty();
  }
  CHECK(read > 2000);
}
