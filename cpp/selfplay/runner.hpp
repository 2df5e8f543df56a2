// Plays many games at once in native code: search, choice of the move, the end of a game, samples.
//
// Every game is a board with a tree; the leaves of all boards share the evaluator's batches (S18).
// A board moves on as soon as its search is complete, so batches stay full. One thread runs it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/archive.hpp"
#include "base/random.hpp"
#include "search/prepare.hpp"
#include "search/result.hpp"
#include "search/reuse.hpp"
#include "search/worker.hpp"
#include "selfplay/board.hpp"
#include "selfplay/options.hpp"
#include "selfplay/played.hpp"
#include "selfplay/resign.hpp"
#include "selfplay/restart.hpp"
#include "selfplay/resume.hpp"
#include "selfplay/sample.hpp"
#include "selfplay/temperature.hpp"

namespace zermelo {

template <Game G>
class Runner {
 public:
  using State = typename G::State;
  using Poll = std::function<void()>;

  Runner(G game, std::shared_ptr<Evaluator<G>> evaluator, SearchOptions search,
         SelfPlayOptions options, std::shared_ptr<EvaluationCache> cache)
      : game_(std::move(game)),
        search_(search.of_self_play()),
        options_(options),
        evaluator_(std::move(evaluator)),
        cache_(std::move(cache)),
        pool_(std::make_unique<NodePool>(search_.annexed())),
        allocator_(*pool_, game_.num_actions()) {
    make_worker();
    while (boards_.size() < static_cast<std::size_t>(options_.games)) {
      boards_.push_back(std::make_unique<Board>());
      boards_.back()->tree.root = allocator_.make_root();
      start_game(*boards_.back());
    }
  }

  // Plays until so many samples of finished games are there, or the seconds (if any) are over, or
  // stop() was called. Games under way stay. `poll` is called about every 20 ms.
  PlayedSamples play(std::int64_t samples, double seconds, const Poll& poll) {
    stop_.reason.store(static_cast<int>(Stop::kNo));
    played_ = {};
    seen_games_.clear();
    const SearchCounters before = counted();
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    double polled = 0;
    while (static_cast<std::int64_t>(played_.samples.size()) < samples && !stop_.set()) {
      if (const double now = elapsed(); now - polled >= 0.02) {
        polled = now;
        if (poll) poll();
        if (seconds > 0 && now >= seconds) break;
      }
      for (std::size_t i = 0; i < boards_.size() && !worker_->batch_full(); ++i) {
        step(*boards_[(first_ + i) % boards_.size()]);
      }
      first_ = (first_ + 1) % boards_.size();
      worker_->evaluate_waiting();
    }
    played_.statistics.seconds = elapsed();
    played_.statistics.unique_games = static_cast<std::int64_t>(seen_games_.size());
    played_.statistics.search = counted().since(before);
    return std::exchange(played_, {});
  }

  // May be called from any thread.
  void stop() { stop_.ask(Stop::kAsked); }

  // The rest only between calls of play(), or from its poll.

  // P7: recorded in every sample from now on.
  std::uint32_t iteration = 0;

  // P7: another network from the next batch on. The old one's answers are forgotten, its trees
  // are kept.
  void set_evaluator(std::shared_ptr<Evaluator<G>> evaluator) {
    evaluator_ = std::move(evaluator);
    if (cache_) cache_->clear();
    make_worker();
  }
  void set_options(const SelfPlayOptions& options) {
    if (options.games != options_.games || options.seed != options_.seed) {
      throw std::invalid_argument("games and seed of self-play cannot be changed under way");
    }
    options_ = options;
  }
  const SelfPlayOptions& options() const { return options_; }

  // Forgets trees and cache, so that what follows depends on the games alone (see save()).
  void drop_trees() {
    pool_->reset();
    allocator_.reset();
    for (auto& board : boards_) {
      board->tree.root = allocator_.make_root();
      board->tree.table.actions.clear();
      board->searching = false;
      board->reused = false;
    }
    if (cache_) cache_->clear();
    first_ = 0;
    make_worker();
  }

  // The games under way, without trees: after drop_trees() this runner and one that loads the bytes
  // go on alike.
  std::string save() const {
    WriteArchive archive;
    auto& self = const_cast<Runner&>(*this);  // writing changes nothing
    transfer(archive, self.next_game_, self.boards_, self.regrets_);
    return sealed(std::move(archive));
  }
  // Throws Refused, and then the runner is as it was.
  void load(std::string_view bytes) {
    ReadArchive archive(unsealed(bytes));
    std::uint64_t next_game = 0;
    Boards loaded;
    while (loaded.size() < boards_.size()) loaded.push_back(std::make_unique<Board>());
    RegretBuffer regrets;
    transfer(archive, next_game, loaded, regrets);
    archive.end();
    for (auto& board : loaded) replay_saved(game_, *board);
    check_regrets(game_, regrets);
    next_game_ = next_game;
    regrets_ = std::move(regrets);
    boards_.swap(loaded);
    drop_trees();  // while the worker's boards are still there
  }

  const RegretBuffer& regrets() const { return regrets_; }
  // Of all boards since `play` began; only its `poll` may ask.
  std::int64_t moves() const { return played_.statistics.moves; }
  std::int64_t nodes_in_use() const { return allocator_.nodes_in_use(); }
  std::int64_t bytes_reserved() const {
    return static_cast<std::int64_t>(pool_->nodes.reserved_bytes() + pool_->edges.reserved_bytes());
  }

 private:
  using Board = PlayingBoard<G>;
  using Boards = std::vector<std::unique_ptr<Board>>;

  template <class Archive>
  static void transfer(Archive& archive, std::uint64_t& next_game, Boards& boards,
                       RegretBuffer& regrets) {
    const SavedHeading heading = transfer_heading(archive, boards.size());
    archive.number(next_game);
    for (auto& board : boards) board->transfer(archive, heading);
    if (heading.regret) regrets.transfer(archive);
  }

  void make_worker() {
    if (worker_) past_.add(worker_->counted());
    worker_ = std::make_unique<Worker<G, false>>(game_, search_, *evaluator_, cache_.get(),
                                                 allocator_, stop_);
  }

  SearchCounters counted() const {
    SearchCounters sum = past_;
    sum.add(worker_->counted());
    return sum;
  }
  void start_game(Board& board) {
    board.random = Random(mix64(static_cast<std::uint64_t>(options_.seed)) + mix64(++next_game_));
    board.tree.state = game_.initial();
    board.history.clear();
    board.movers.clear();
    board.samples.clear();
    board.watches[0] = board.watches[1] = {};
    board.audit = board.random.uniform() < options_.resign_playthrough;
    board.noted = false;
    const bool opening = board.random.uniform() < options_.opening_share;
    board.opening_plies = opening && options_.opening_plies > 0
                              ? 1 + static_cast<std::int64_t>(board.random.below(
                                        static_cast<std::uint64_t>(options_.opening_plies)))
                              : 0;
    begin_from_regret(game_, regrets_, options_, board);
  }

  const Node& root(const Board& board) const { return *pool_->node(board.tree.root); }
  bool search_complete(const Board& board) const {
    return board.tree.budget.load() <= 0 ||
           (search_.solver && root_certain(*pool_, root(board), board.tree.table));
  }

  // Takes the board on until one of its leaves waits for the evaluator. None waits at the start.
  void step(Board& board) {
    constexpr int kRounds = 16;  // then the others have their turn
    const std::size_t before = worker_->waiting();
    for (int round = 0; round < kRounds && worker_->waiting() == before; ++round) {
      if (board.searching && search_complete(board)) make_move(board);
      if (!root(board).expanded()) {
        worker_->request_root(board.tree);
        continue;
      }
      if (!board.searching) begin_search(board);
      worker_->gather(board.tree, search_.leaves_per_tree);
    }
  }

  // P1. A move of the opening (P5) needs no more than the root's evaluation.
  void begin_search(Board& board) {
    const auto ply = static_cast<std::int64_t>(board.history.size());
    const bool drawn = board.random.uniform() < options_.full_search_probability;
    board.full = !board.noted && (drawn || ply < options_.always_full_plies);
    const std::int64_t simulations = board.in_opening() ? 0
                                     : board.full       ? options_.simulations
                                                        : options_.fast_simulations();
    if (board.reused && board.full && search_.keep_fraction < 1.0) {
      discount_tree(allocator_, board.tree.root, search_.keep_fraction);
    }
    prepare_root(allocator_, board.tree, search_, {simulations, board.full, board.reused, {}},
                 board.random);
    board.searching = true;
  }

  void make_move(Board& board) {
    const SearchResult result = read_result(*pool_, board.tree, search_);
    ++played_.statistics.moves;
    const Player mover = game_.player(board.tree.state);
    const bool opening = board.in_opening();
    std::optional<int> symmetry;  // of this move's sample
    if (!opening) {
      board.judgements.add(board.history.size(),
                           mover == Player::kFirst ? result.value : -result.value);
      ++(board.full ? played_.statistics.full_searches : played_.statistics.fast_searches);
      if (board.full || options_.fast_samples) {
        symmetry = add_sample(game_, board.tree.state, result, board.full, options_.exact_targets,
                              iteration, board.samples);
        board.movers.push_back(static_cast<std::uint8_t>(mover));
      }
      if (options_.end_when_proven && result.certain) {
        ++played_.statistics.proven_ends;
        return end_game(board, outcome_for(mover, result.certain.result()), kProven,
                        result.certain.distance);
      }
      if (resigns(board, mover, result)) {
        ++played_.statistics.resigned;
        return end_game(board, win_for(other(mover)), kResigned, 0);
      }
    }
    const Action action = result.actions[choose(board, result, opening)].action;
    if (symmetry) board.samples.played.back() = game_.transform_action(action, *symmetry);
    play_action(board, action);
    const Outcome outcome = game_.outcome(board.tree.state);
    if (outcome != Outcome::kOngoing) return end_game(board, outcome, 0, 0);
    if (static_cast<std::int64_t>(board.history.size()) >= options_.max_plies) {
      ++played_.statistics.adjudicated;
      end_game(board, adjudicated(board.tree.state), kAdjudicated, 0);
    }
  }

  // P2. Notes the value and tells whether the game ends by it.
  bool resigns(Board& board, Player mover, const SearchResult& result) {
    ResignWatch& watch = board.watches[static_cast<int>(mover)];
    watch.add(std::max(result.value, result.actions[result.best].q), options_.resign_plies);
    if (!options_.resigns() || watch.sustained() >= options_.resign_threshold) return false;
    board.noted = true;
    return !board.audit;
  }

  // P3, P5.
  std::size_t choose(Board& board, const SearchResult& result, bool opening) {
    if (opening) {
      std::vector<double> priors;
      for (const ActionResult& a : result.actions) priors.push_back(a.network_prior);
      return sample_index(priors, options_.opening_temperature, board.random);
    }
    if (result.actions[result.best].certain.proof == Proof::kWin) return result.best;
    const double temperature = temperature_at(options_, static_cast<int>(board.history.size()));
    const bool halved = search_.gumbel && board.full;  // its best action is a sample already
    if (halved ? temperature > 0 : temperature <= 0) return result.best;
    const std::vector<double> policy = policy_target(result, true);
    if (!halved) return sample_index(policy, temperature, board.random);
    return static_cast<std::size_t>(std::max_element(policy.begin(), policy.end()) -
                                    policy.begin());
  }

  void play_action(Board& board, Action action) {
    Tree<G>& tree = board.tree;
    const Player before = game_.player(tree.state);
    board.history.push_back(action);
    game_.play(tree.state, action);
    std::size_t index = ~std::size_t{0};
    for (std::size_t i = 0; search_.tree_reuse && i < tree.table.actions.size(); ++i) {
      if (tree.table.actions[i].action == action) index = i;
    }
    const bool flips = game_.player(tree.state) != before;
    tree.root = advance_root(allocator_, tree.root, index, flips);
    tree.table.actions.clear();
    board.searching = false;
    board.reused = root(board).expanded();
  }

  // P6.
  Outcome adjudicated(const State& state) const {
    if constexpr (requires { game_.adjudicate(state); }) {
      if (options_.adjudicate == static_cast<std::int64_t>(Adjudicate::kMaterial)) {
        return game_.adjudicate(state);
      }
    } else {
      (void)state;
    }
    return Outcome::kDraw;
  }

  // Labels the game's samples, hands them and its record over and begins the next game. `reason` is
  // a flag or 0: the game was played out; `more_plies` is how far away the end would have been.
  void end_game(Board& board, Outcome outcome, std::uint8_t reason, int more_plies) {
    SelfPlayStatistics& statistics = played_.statistics;
    const auto total = static_cast<int>(board.history.size()) + more_plies;
    const auto number = static_cast<std::uint32_t>(statistics.games++);
    const bool audited = board.audit || !options_.resigns();
    if (options_.resigns() && board.audit) reason |= kAudit;
    // A sample is proven or not by its own search.
    const auto flags = static_cast<std::uint8_t>(reason & ~kProven);
    SampleColumns& samples = board.samples;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto mover = static_cast<Player>(board.movers[i]);
      samples.results[i] = static_cast<std::int8_t>(outcome_value(outcome, mover));
      samples.plies_left[i] =
          static_cast<std::uint16_t>(std::clamp(total - samples.plies[i], 0, 65535));
      samples.games[i] = number;
      samples.flags[i] |= flags;
    }
    played_.samples.append(samples);
    GameColumns& games = played_.games;
    games.game_lengths.push_back(static_cast<std::uint32_t>(board.history.size()));
    games.game_outcomes.push_back(static_cast<std::uint8_t>(outcome));
    games.game_flags.push_back(reason);
    games.game_actions.insert(games.game_actions.end(), board.history.begin(), board.history.end());
    for (const Player player : {Player::kFirst, Player::kSecond}) {
      const ResignWatch& watch = board.watches[static_cast<int>(player)];
      if (audited && watch.known() && !(flags & kResigned)) {
        statistics.audit.push_back({watch.lowest(), outcome_value(outcome, player)});
      }
    }
    std::uint64_t line = 0;
    for (const Action action : board.history) line = mix64(line + action + 1);
    seen_games_.insert(line);
    note_regret(board, outcome, reason, options_, regrets_, statistics);
    statistics.plies += static_cast<std::int64_t>(board.history.size());
    statistics.first_wins += outcome == Outcome::kFirstWins;
    statistics.second_wins += outcome == Outcome::kSecondWins;
    statistics.draws += outcome == Outcome::kDraw;

    allocator_.free_root(board.tree.root);
    board.tree.root = allocator_.make_root();
    board.tree.table.actions.clear();
    board.searching = board.reused = false;
    start_game(board);
  }

  // Constant, or changed between moves.
  G game_;
  SearchOptions search_;
  SelfPlayOptions options_;
  std::shared_ptr<Evaluator<G>> evaluator_;
  std::shared_ptr<EvaluationCache> cache_;

  std::unique_ptr<NodePool> pool_;
  NodeAllocator allocator_;
  std::unique_ptr<Worker<G, false>> worker_;
  SearchCounters past_;  // of former workers
  Boards boards_;
  std::size_t first_ = 0;  // board that has the first turn
  std::uint64_t next_game_ = 0;
  RegretBuffer regrets_;  // P8

  // Of the call of play() under way.
  PlayedSamples played_;
  std::unordered_set<std::uint64_t> seen_games_;

  StopFlag stop_;  // atomic
};

}  // namespace zermelo
