#include "games/chess/chess.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "base/random.hpp"
#include "games/chess/fen.hpp"
#include "games/chess/movegen.hpp"
#include "games/text.hpp"

namespace zermelo {

using namespace chess;

namespace {

struct ActionSink {
  ActionList& actions;
  int turned;  // 56 for Black, whose actions are seen from his side

  void single(Move move) { actions.push(plain_action(move.from ^ turned, move.to ^ turned)); }
  void piece_moves(Piece, Square from, Bitboard targets) {
    const auto& row = chess::detail::kActions.plain[from ^ turned];
    while (targets != 0) actions.push(row[pop_lowest(targets) ^ turned]);
  }
  void pawn_moves(Bitboard targets, int step, MoveKind) {
    while (targets != 0) {
      const Square to = pop_lowest(targets);
      actions.push(plain_action((to - step) ^ turned, to ^ turned));
    }
  }
  void promotions(Bitboard targets, int step) {
    while (targets != 0) {
      const Square to = pop_lowest(targets);
      const Action queen = queen_promotion((to - step) ^ turned, to ^ turned);
      for (const int below : {0, 1, 2}) actions.push(static_cast<Action>(queen + below));
      actions.push(plain_action((to - step) ^ turned, to ^ turned));  // knight
    }
  }
};

// A pawn that has passed `passed` is put back to where it came from.
Position before_double_push(Position p, Square passed) {
  const Bitboard both = bit(passed ^ 8) | bit(passed ^ 24);
  p.pieces[kPawn] ^= both;
  p.sides[1 - p.side] ^= both;
  return p;
}

std::string promotion_letter(MoveKind kind) {
  return is_promotion(kind) ? std::string(1, "pnbrq"[kind]) : "";
}

ObservationLayout layout_of(Encoder encoder) {
  if (encoder == Encoder::kCompact) return compact_layout();
  return is_turned(encoder) ? turned_layout(encoder) : lc0_layout();
}

// The square behind a pawn that has just gone two steps, if an enemy pawn stands beside it.
Square passed_by(const Position& p, Move move) {
  if (move.kind != kDoublePush) return kNoSquare;
  const Square behind = (move.from + move.to) / 2;
  return kPawnAttacks[1 - p.side][behind] & p.of(p.side, kPawn) ? behind : Square{kNoSquare};
}

}  // namespace

Chess::Chess(ChessOptions options) : options_(options), layout_(layout_of(options.encoder)) {
  prepare_attacks();
  initial_.position = parse_fen(kStartFen, options_.chess960).position;
}

std::string Chess::name() const {
  std::string name = "chess";
  const auto add = [&](bool set, const std::string& text) {
    if (set) name += (name == "chess" ? '?' : '&') + text;
  };
  const Encoder encoder = options_.encoder;
  add(encoder != Encoder::kCompact, "encoder=" + std::string(encoder_name(encoder)));
  add(options_.chess960, "chess960=on");
  add(options_.mirror, "mirror=on");
  return name;
}

// Draws that no mate can contradict, told without generating moves.
bool Chess::drawn_at_sight(const State& s) const {
  return s.history.repetitions() >= 2 || insufficient_material(s.position);
}

Outcome Chess::outcome_of(const State& s, bool has_moves) const {
  if (has_moves) return s.position.rule50 >= 100 ? Outcome::kDraw : Outcome::kOngoing;
  return in_check(s.position) ? win_for(other(player(s))) : Outcome::kDraw;
}

Outcome Chess::expand(const State& s, ActionList& actions) const {
  if (drawn_at_sight(s)) return Outcome::kDraw;
  legal_moves(s, actions);
  return outcome_of(s, !actions.empty());
}

Outcome Chess::outcome(const State& s) const {
  if (drawn_at_sight(s)) return Outcome::kDraw;
  return outcome_of(s, count_moves(s.position) != 0);
}

void Chess::legal_moves(const State& s, ActionList& actions) const {
  actions.clear();
  ActionSink sink{actions, s.position.side == kWhite ? 0 : 56};
  generate_into(s.position, sink);
}

void Chess::play(State& s, Action action) const {
  Position& p = s.position;
  const Move move = move_of(p, action);
  const std::uint64_t left = p.key;
  const Bitboard rights = p.castling;
  const bool turned = is_turned(options_.encoder);
  const bool shows_board = shows_repeats_only(options_.encoder) ? s.history.repetitions() > 0
                           : turned                             ? s.history.passed() == kNoSquare
                                                                : options_.encoder == Encoder::kLc0;
  if (shows_board) s.history.add_board(pack(p));
  chess::play(p, move);
  const bool irreversible = p.rule50 == 0 || p.castling != rights;
  s.history.advance(left, p.key, irreversible);
  if (turned) {
    if (irreversible) s.history.clear_boards();
    s.history.set_passed(passed_by(p, move));
  }
}

namespace {

std::uint64_t hash_with_clock(const Chess::State& s, int quiet_plies) {
  const auto clock = static_cast<std::uint64_t>(quiet_plies);
  const auto repetitions = static_cast<std::uint64_t>(std::min(s.history.repetitions(), 2));
  return s.position.key ^ mix64(clock << 2 | repetitions);
}

}  // namespace

std::uint64_t Chess::hash(const State& s) const { return hash_with_clock(s, s.position.rule50); }

std::uint64_t Chess::clockless_hash(const State& s) const {
  constexpr int kFewQuiet = 40;
  return hash_with_clock(s, s.position.rule50 < kFewQuiet ? 0 : s.position.rule50);
}

std::uint64_t Chess::history_hash(const State& s) const {
  std::uint64_t hash = 0;
  if (options_.encoder == Encoder::kCompact) return hash;
  for (int back = 0; back < s.history.num_boards(); ++back) {
    for (const Bitboard word : s.history.board(back).words) hash = mix64(hash ^ word) + 1;
    hash += s.history.board_repeated(back);
  }
  return mix64(hash ^ (s.history.fills_missing() ? 1u : 0u) ^ (64u - s.history.passed()) << 1);
}

void Chess::observe(const State& s, std::uint64_t* words) const {
  if (options_.encoder == Encoder::kCompact) {
    encode_compact(s.position, s.history, words);
  } else if (options_.encoder == Encoder::kLc0) {
    encode_lc0(s.position, s.history, words);
  } else {
    encode_turned(options_.encoder, s.position, s.history, words);
  }
}

Chess::State Chess::transform(const State& s, int symmetry) const {
  State t = s;
  if (symmetry != 0) {
    t.position = mirrored(s.position);
    t.history.mirror();
  }
  return t;
}

std::string Chess::action_text(const State& s, Action action) const {
  const Move move = move_of(s.position, action);
  const Square to = move.kind == kCastle && !options_.chess960 ? castled_king(move.from, move.to)
                                                               : Square{move.to};
  return square_text(move.from) + square_text(to) + promotion_letter(move.kind);
}

Action Chess::find_action(const State& s, std::string_view text) const {
  const auto is_square = [&](std::size_t i) {
    return text[i] >= 'a' && text[i] <= 'h' && text[i + 1] >= '1' && text[i + 1] <= '8';
  };
  if (text.size() < 4 || text.size() > 5 || !is_square(0) || !is_square(2)) {
    fail("'", text, "' is not a move such as e2e4 or e7e8q");
  }
  const Square from = square_at(text[0] - 'a', text[1] - '1');
  const Square to = square_at(text[2] - 'a', text[3] - '1');
  const std::string_view promotion = text.substr(4);
  MoveList list;
  generate(s.position, list);
  for (const Move move : list) {
    if (move.from == from && move.to == to && promotion_letter(move.kind) == promotion) {
      return action_of(move, s.position.side);
    }
  }
  for (const Move move : list) {
    if (move.kind == kCastle && move.from == from && promotion.empty() && from != to &&
        castled_king(move.from, move.to) == to) {
      return action_of(move, s.position.side);
    }
  }
  fail("'", text, "' is not a legal move in ", position_text(s));
}

Action Chess::parse_action(const State& s, std::string_view text) const {
  const Action action = find_action(s, text);
  if (outcome(s) != Outcome::kOngoing) fail("the game is over, so '", text, "' cannot be played");
  return action;
}

std::string Chess::position_text(const State& s) const { return fen_text(s.position); }

Chess::State Chess::from_fen(std::string_view text) const {
  const ParsedFen parsed = parse_fen(text, options_.chess960);
  State s;
  s.position = parsed.position;
  const bool turned = is_turned(options_.encoder);
  s.history.set_fills_missing(
      s.position.key != initial_.position.key &&
      (!turned || (s.position.rule50 != 0 && parsed.pushed_past == kNoSquare &&
                   !shows_repeats_only(options_.encoder))));
  if (turned) s.history.set_passed(parsed.pushed_past);
  if (parsed.pushed_past != kNoSquare && options_.encoder == Encoder::kLc0) {
    s.history.add_board(pack(before_double_push(s.position, parsed.pushed_past)));
  }
  return s;
}

Chess::State Chess::parse_position(std::string_view text) const {
  const auto parts = fields(text);
  const auto moves = std::find(parts.begin(), parts.end(), "moves");
  std::string_view start = text;
  if (moves != parts.end()) start = text.substr(0, moves->data() - text.data());
  const bool from_initial = moves != parts.begin() && !parts.empty() && parts[0] == "startpos" &&
                            moves - parts.begin() == 1;
  State s = from_initial ? initial() : from_fen(start);
  for (auto move = moves; move != parts.end(); ++move) {
    if (move != moves) play(s, find_action(s, *move));
  }
  return s;
}

std::string Chess::cells(const State& s) const { return board_letters(s.position); }

Chess::State Chess::chess960_start(int number) const {
  return from_fen(chess::chess960_start(number));
}

Outcome Chess::adjudicate(const State& s) const {
  constexpr int kEnough = 3;
  constexpr std::pair<Piece, int> kWorth[] = {
      {kPawn, 1}, {kKnight, 3}, {kBishop, 3}, {kRook, 5}, {kQueen, 9}};
  int ahead = 0;
  for (const auto& [piece, worth] : kWorth) {
    ahead +=
        worth * (std::popcount(s.position.of(0, piece)) - std::popcount(s.position.of(1, piece)));
  }
  if (std::abs(ahead) < kEnough) return Outcome::kDraw;
  return win_for(ahead > 0 ? Player::kFirst : Player::kSecond);
}

std::uint64_t Chess::perft(const State& s, int depth) const {
  return count_paths(s.position, depth);
}

std::string Chess::state_bytes(const State& s) const {
  return position_text(s) + '\n' + s.history.bytes();
}

Chess::State Chess::state_from_bytes(std::string_view bytes) const {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) fail("these bytes are not a chess state");
  State s;
  s.position = parse_fen(bytes.substr(0, end), options_.chess960).position;
  s.history.assign(bytes.substr(end + 1));
  return s;
}

}  // namespace zermelo
