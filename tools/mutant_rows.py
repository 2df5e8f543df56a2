"""Small changes that break a technique each: the hand-kept table of tools/mutants.py.

`before` stands exactly once in `file`; with `after` in its place some test that is marked with the
technique must fail. Rows of the core (cpp/) need a build, the others none.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One change. `says` is what is broken, for the table."""

    technique: str
    says: str
    file: str
    before: str
    after: str

    @property
    def native(self) -> bool:
        """Whether it takes a build."""
        return self.file.startswith("cpp/")


WORKER, BACKUP, SELECT = "cpp/search/worker.hpp", "cpp/search/backup.hpp", "cpp/search/select.hpp"
SCORE, ROOT, SEARCH = "cpp/search/score.hpp", "cpp/search/root.hpp", "cpp/search/search.hpp"
RESULT, PREPARE = "cpp/search/result.hpp", "cpp/search/prepare.hpp"
RUNNER, RESIGN = "cpp/selfplay/runner.hpp", "src/zermelo/selfplay/resign.py"
REPLAY, TRAIN = "src/zermelo/replay/", "src/zermelo/train/"

MUTANTS = (
    Mutant(
        "S1", "the priors are not sorted", BACKUP,
        "  std::sort(keys.begin(), keys.end(), std::greater<>());",
        "  std::sort(keys.begin(), keys.end());",
    ),
    Mutant("S2", "the root of the visits is forgotten", SCORE,
           "    return c * std::sqrt(total);", "    return c * total;"),
    Mutant("S3", "what was never tried is worth nothing whatever the rule", SELECT,
           "  return best_score_index(scratch, children, scale,\n"
           "                          first_play_urgency(constants, root, true, true, mass, "
           "table.sums),",
           "  return best_score_index(scratch, children, scale,\n"
           "                          FirstPlay{0.0 * mass},"),
    Mutant("S4", "virtual loss stays after backup", BACKUP,
           "    Access<Shared>::add(node.in_flight, -1);\n    value *=", "    value *="),
    Mutant("S5", "a kept tree is thrown away", SEARCH,
           "    if (!reused) reset(state);", "    reset(state);"),
    Mutant("S6", "a reused root gets no new noise", PREPARE,
           "(!request.reused || options.renoise)", "!request.reused"),
    Mutant("S7", "noise replaces the priors", ROOT,
           "    a.prior = (1.0 - options.dirichlet_epsilon) * a.network_prior;",
           "    a.prior = 0.0;"),
    Mutant("S8", "old evidence counts in full", SEARCH,
           "    if (reused && full && options_.keep_fraction < 1.0) {", "    if (false) {"),
    Mutant("S9", "no root action is owed a visit", SELECT,
           "table.full ? static_cast<double>(options.min_root_visits) : 0.0", "0.0"),
    Mutant("S10", "the discount is forgotten", BACKUP, "    value *= options.turn_discount;\n", ""),
    Mutant("S10", "longer wins are preferred by plies left", "cpp/search/ending.hpp",
           "  return q > 0 ? -effect : effect;", "  return q > 0 ? effect : -effect;"),
    Mutant("S11", "a longer win is preferred", "cpp/search/node.hpp",
           "? a.distance < b.distance : a.distance > b.distance",
           "? a.distance > b.distance : a.distance < b.distance"),
    Mutant("S12", "single actions are evaluated", WORKER,
           "options_.auto_extend && d.actions.size() == 1", "false && d.actions.size() == 1"),
    Mutant("S13", "a repetition is searched on", WORKER,
           "options_.repetition_draw && game_.repeated_within(state, plies)",
           "false && game_.repeated_within(state, plies)"),
    Mutant("S14", "nothing is found in the cache", WORKER,
           "      if (d.key.find(*cache_, d.priors, found) ||\n          (images && d.key",
           "      if (false && d.key.find(*cache_, d.priors, found) ||\n          (false && d.key"),
    Mutant("S15", "no playout is forced", SELECT,
           "visits < std::sqrt(options.forced_playouts * a.prior * total)",
           "visits < std::sqrt(0.0 * a.prior * total)"),
    Mutant("S16", "values do not count in sequential halving", ROOT,
           "  return (options.gumbel_visit + max_visits) * options.gumbel_scale * q;",
           "  return 0.0 * (options.gumbel_visit + max_visits) * options.gumbel_scale * q;"),
    Mutant("S17", "averaging is the usual one", BACKUP, "  if (gamma >= 1.0) {",
           "  if (gamma >= 0.0) {"),
    Mutant("S18", "all boards have the noise of the first", SEARCH,
           "mix64(static_cast<std::uint64_t>(options_.seed)) + first + i",
           "mix64(static_cast<std::uint64_t>(options_.seed)) + first + 0 * i"),
    Mutant("S19", "threads forget what they found for the root", "cpp/search/tally.hpp",
           "Access<true>::add(root.visits, visits_);", "Access<true>::add(root.visits, 0u);"),
    Mutant("S20", "the fewest visits are played", RESULT, "    return a.visits > b.visits;",
           "    return a.visits < b.visits;"),
    Mutant("S21", "cleared searches go on with their noise", SEARCH,
           "    random_ = Random(static_cast<std::uint64_t>(options_.seed));\n", ""),
    Mutant("S22", "the first collision ends a gathering", WORKER,
           "          if (collided_.size() < most) break;\n", "          (void)most;\n"),
    Mutant("S23", "the bound is the mean", RESULT,
           "return a.q - options.lcb_z * a.deviation;", "return a.q - 0.0 * a.deviation;"),
    Mutant("S24", "values that differ ask for less exploration", SCORE,
           "(sigma / options.spread_prior - 1.0)", "(1.0 - sigma / options.spread_prior)"),
    Mutant("S25", "the policy is the prior", "cpp/search/regularise.hpp",
           "    const double pi = lambda * a.prior / std::max(alpha - a.q, kSmall);",
           "    const double pi = a.prior + 0.0 * kSmall;"),
    Mutant("S26", "a likely action is worth less", SCORE,
           "value + slope * (log_prior(prior) - middle)",
           "value - slope * (log_prior(prior) - middle)"),
    Mutant("S27", "the root has the constants of all nodes", SCORE,
           "    if (is_root) {  // S27", "    if (false && is_root) {  // S27"),
    Mutant("S28", "a sure prior asks for less exploration", SCORE,
           "options.impurity_base - options.impurity_slope * std::log(",
           "options.impurity_base + options.impurity_slope * std::log("),
    Mutant("S29", "the action farthest from a proof gains most", "cpp/search/ending.hpp",
           "      nearest = std::min(nearest, proof_number(child, at.mover, at.mover));",
           "      nearest = std::max(nearest == kNever ? 1 : nearest,\n"
           "                         proof_number(child, at.mover, at.mover));"),
    Mutant("S29", "one answer of the other player is enough for a proof", "cpp/search/ending.hpp",
           "    sum += others;", "    sum = std::max<std::uint64_t>(sum, others);"),
    Mutant("P1", "every search is full", RUNNER,
           "    board.full = !board.noted && (drawn || ply < options_.always_full_plies);",
           "    board.full = !board.noted || drawn || ply < options_.always_full_plies;"),
    Mutant("P2", "the threshold ignores wrong resignations", RESIGN,
           "        & (shares <= options.resign_false_share)\n", ""),
    Mutant("P3", "the temperature of the first ply stays", RUNNER,
           "temperature_at(options_, static_cast<int>(board.history.size()))",
           "temperature_at(options_, 0)"),
    Mutant("P4", "searches begin with all simulations", "src/zermelo/selfplay/progressive.py",
           "(0.5 + 0.5 * done)", "(1.0 + 0.0 * done)"),
    Mutant("P5", "opening moves ignore their temperature", RUNNER,
           "sample_index(priors, options_.opening_temperature, board.random)",
           "sample_index(priors, 1.0, board.random)"),
    Mutant("P6", "a game that is too long goes on", RUNNER,
           "static_cast<std::int64_t>(board.history.size()) >= options_.max_plies",
           "static_cast<std::int64_t>(board.history.size()) > options_.max_plies + 1"),
    Mutant("P7", "a new network is not taken", RUNNER,
           "    evaluator_ = std::move(evaluator);\n", "    (void)evaluator;\n"),
    Mutant("P8", "regret counts the searches before a position", "cpp/selfplay/regret.hpp",
           "      found[i] = sum / static_cast<double>(values.size() - i);",
           "      found[i] = sum / static_cast<double>(values.size());"),
    Mutant("P8", "a position that is played again keeps its regret", "cpp/selfplay/regret.hpp",
           "      position.regret += rules.rate * (regret - position.regret);\n", ""),
    Mutant("P9", "the divergence is not per simulation", "cpp/search/settle.hpp",
           "comparable ? divergence / (total_ - old_total) : 1.0", "comparable ? divergence : 1.0"),
    Mutant("P9", "the minimum is forgotten", "cpp/search/settle.hpp",
           "if (enough && gain < options.stop_gain)", "if (gain < options.stop_gain)"),
    Mutant("T1", "each scalar plane takes a word of its own", REPLAY + "schema.py",
           "        return (len(self.scalar_scales) + 7) // 8",
           "        return len(self.scalar_scales)"),
    Mutant("T2", "a damaged shard is taken for whole", REPLAY + "shard.py",
           "        if hashlib.sha256(memoryview(data)[:-DIGEST]).digest() != data[-DIGEST:]:",
           "        if not data[-DIGEST:]:"),
    Mutant("T3", "the blend is turned round", TRAIN + "targets.py",
           "(1.0 - blend) * result_wdl + blend * root_wdl",
           "blend * result_wdl + (1.0 - blend) * root_wdl"),
    Mutant("T4", "equal positions stay apart", REPLAY + "dedup.py",
           "    if deduplicate and len(chosen):", "    if False and len(chosen):"),
    Mutant("T5", "actions are not turned with their board", REPLAY + "sampler.py",
           "            actions = self._maps[symmetry[:, None], actions]\n", "            pass\n"),
    Mutant("T6", "the window does not grow", REPLAY + "options.py",
           "    return options.window_start + grown // options.window_growth",
           "    return options.window_start + 0 * grown // options.window_growth"),
    Mutant("T7", "the newest samples are dropped late", REPLAY + "window.py",
           "        self._drop_rows(len(self) - self.options.max_samples)\n", ""),
    Mutant("T8", "samples of every iteration count", REPLAY + "store.py",
           " for s in shards if s.header.iteration == iteration)", " for s in shards)"),
    Mutant("T9", "batches come in the order of the games", REPLAY + "sampler.py",
           "        order = rng.permutation(len(self.merged))",
           "        order = np.arange(len(self.merged))"),
    Mutant("T10", "the learning rate does not rise", TRAIN + "schedule.py",
           "        return low + (highest - low) * step / peak", "        return highest"),
    Mutant("T11", "every iteration trains twice", TRAIN + "trainer.py",
           "    for _ in range(passes):", "    for _ in range(2 * passes):"),
    Mutant("T12", "training computes in 32 bits always", TRAIN + "arithmetic.py",
           '    if precision == "f32":\n        return nullcontext()',
           "    if precision:\n        return nullcontext()"),
    Mutant("T13", "the network for playing forgets the mean of a norm",
           "src/zermelo/network/weights.py",
           "shift = beta - mean * scale[", "shift = beta - 0 * mean * scale["),
    Mutant("T14", "random numbers begin anew after a resume", TRAIN + "trainer.py",
           "        torch.random.set_rng_state(generator)\n", ""),
    Mutant("T16", "the change of an iteration is not measured", TRAIN + "norms.py",
           "            updates[layer_of(name)].append(parameter - self._before[name])",
           "            updates[layer_of(name)].append(parameter - parameter)"),
    Mutant("T16", "the doctor looks at the newest iteration alone", "src/zermelo/doctor/norms.py",
           "lengths[max(0, end - RECENT) : end + 1]", "lengths[end : end + 1]"),
    Mutant("T17", "the hidden layer rounds otherwise than the core",
           "src/zermelo/network/sparse/module.py",
           "    return floored((sums / one).clamp(0, ACTIVATION_ONE - 1))",
           "    return floored((sums / one + 0.5).clamp(0, ACTIVATION_ONE - 1))"),
    Mutant("E1", "the Elo scale is half as long", "src/zermelo/statistics/elo.py",
           "400.0 * math.log10(score / (1.0 - score))",
           "200.0 * math.log10(score / (1.0 - score))"),
    Mutant("E2", "an action that keeps the result does not solve", "src/zermelo/suites/solve.py",
           "_sign(score_of(action)) >= _sign(score)", "_sign(score_of(action)) > _sign(score)"),
    Mutant("E3", "a checkpoint meets the oldest ones", "src/zermelo/yardsticks/ladder_file.py",
           "max(0, len(earlier) - distance)", "min(distance - 1, len(earlier) - 1)"),
    Mutant("E4", "a pawn is worth a third", "src/zermelo/search/result.py",
           "cp = 290.680623072 * math.tan", "cp = 90.680623072 * math.tan"),
    Mutant("E5", "castling rooks of lc0's inputs stand wrong", "src/zermelo/network/graph.py",
           "    moved[0, 104, 7, 0] = moved[0, 105, 7, 7] = 1",
           "    moved[0, 104, 7, 7] = moved[0, 105, 7, 0] = 1"),
    Mutant("E6", "a game may lack its methods", "src/zermelo/testing/checks.py",
           "    if missing:\n        raise UnsoundError(f\"the game lacks",
           "    if not missing:\n        raise UnsoundError(f\"the game lacks"),
)  # fmt: skip
