"""What each technique is, in a sentence: the hand-kept part of docs/techniques.md.

Values are in [-1, 1] for the player to move. `home` is where to look first if no comment names the
id; `evidence` is what was measured, as a link from docs/.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Technique:
    """One row of the table."""

    name: str
    definition: str
    home: str = ""
    evidence: str = ""


CHESS = "[chess](evidence.md#which-option-of-the-search-matters-chess)"
BOTH = CHESS + ", [Connect Four](evidence.md#which-option-of-the-search-matters-connect-four)"
OWN = "[chess](evidence.md#newer-options-of-the-search-chess-with-our-own-network)"
LEARNING = "[log](log.md#2026-11-16-what-makes-connect-four-learn-in-three-minutes)"

GROUPS = {"S": "Search", "P": "Self-play", "T": "Replay and training", "E": "Evaluation and play"}

TECHNIQUES = {
    "S1": Technique(
        "Edge statistics",
        "Each legal action of an expanded node keeps its visits N, sum of values W, mean Q = W/N "
        "and prior P. The first visit expands a leaf. One network gives P and the value.",
    ),
    "S2": Technique(
        "PUCT selection",
        "The search follows the action with the highest Q + c P sqrt(sum of N) / (1 + N); "
        "c may grow with the logarithm of the visits.",
    ),
    "S3": Technique(
        "First-play urgency",
        "An action without visits counts as a draw, as its parent, as its parent minus a "
        "reduction, or as a loss. The root can have a rule of its own.",
        evidence=BOTH,
    ),
    "S4": Technique(
        "Virtual loss",
        "While a leaf waits for its evaluation, every edge on its path counts extra visits that "
        "look lost. Backup takes exactly these away again.",
    ),
    "S5": Technique(
        "Tree reuse",
        "The played child becomes the root and keeps its statistics; the memory of its siblings "
        "returns to the pool.",
        evidence=BOTH,
    ),
    "S6": Technique(
        "Fresh noise on a reused root",
        "A reused root mixes new noise into the network's priors, never into noisy ones, and each "
        "action gets its minimum visits first.",
    ),
    "S7": Technique(
        "Dirichlet noise",
        "Full searches of self-play mix Dirichlet noise into the priors of the root.",
    ),
    "S8": Technique(
        "Node discounting",
        "A full search that begins with a reused tree scales its N and W by a fraction. "
        "Old evidence counts less; Q does not change.",
    ),
    "S9": Technique(
        "Minimum root visits",
        "Root actions below a minimum of visits come first, in order. The policy target leaves "
        "these forced visits out.",
    ),
    "S10": Technique(
        "Turn discount",
        "A value shrinks a little at each ply of backup, so quicker wins and slower losses are "
        "preferred. A draw stays 0. Or the network's plies left change Q in selection instead.",
        evidence=BOTH,
    ),
    "S11": Technique(
        "Certainty propagation",
        "Ends of the game are certain, and certainty moves up: one winning action proves a win, "
        "all actions known prove the best of them. Proven values replace means; the shortest win "
        "and the longest loss are preferred.",
        evidence=BOTH + ", [suites](evidence.md#suites)",
    ),
    "S12": Technique(
        "Auto-extension",
        "A position with one legal action is not evaluated; the search goes on to the end of the "
        "chain, and the whole chain shares that value.",
        evidence=BOTH,
    ),
    "S13": Technique(
        "Repetition as a draw",
        "A position that repeats one on the path since the root is a draw at once. "
        "Positions before the root count for the rule of the game only.",
    ),
    "S14": Technique(
        "Evaluation cache",
        "Evaluations are kept by position within bounded memory and shared by all games, threads, "
        "move orders and symmetries. The key covers everything that the encoder shows.",
    ),
    "S15": Technique(
        "Forced playouts",
        "Each root action gets at least sqrt(k P N) visits; the policy target subtracts those "
        "that did not improve the choice.",
    ),
    "S16": Technique(
        "Gumbel root",
        "Sequential halving over the best actions by Gumbel noise, logit and value. The target is "
        "the improved policy. For 2 to 64 simulations.",
        evidence=LEARNING,
    ),
    "S17": Technique(
        "Search lab",
        "Published ideas whose effect is disputed: flatter priors, slower averaging, balance by "
        "branching. All are off.",
    ),
    "S18": Technique(
        "Many boards",
        "Many games are searched together and their leaves evaluated as one batch. "
        "Each board gets the visits that it would get alone.",
    ),
    "S19": Technique(
        "One board, many threads",
        "Threads share one tree; virtual loss keeps them apart. One thread with one leaf per "
        "batch gives exactly the result of `reference/`.",
    ),
    "S20": Technique(
        "Root result",
        "Visits, Q, prior, win-draw-loss, proof and line of each action. The policy is "
        "N^(1/temperature); ties go to the first action.",
    ),
    "S21": Technique(
        "Determinism",
        "The same seed with one thread gives the same visits, bit for bit.",
        home="cpp/base",
    ),
    "S22": Technique(
        "Virtual visits",
        "A leaf that waits counts on its path as visits that do not change Q, instead of losses. "
        "Some descents may collide with waiting leaves before a batch is sent.",
    ),
    "S23": Technique(
        "Final choice by lower bound",
        "In play the action with the best Q - z deviations of its mean, among those with enough "
        "visits; proven results first. Not in self-play.",
        evidence=OWN,
    ),
    "S24": Technique(
        "Exploration by spread",
        "U is scaled by 1 + w (sigma / sigma0 - 1), sigma the deviation of the values backed up "
        "at the node with a prior of a few visits.",
        evidence=OWN,
    ),
    "S25": Technique(
        "Regularised backup",
        "A node's value is that of the policy lambda p / (alpha - q) between prior and values, "
        "not the mean of its visits; values are drawn towards imputed ones.",
    ),
    "S26": Technique(
        "Imputed first-play value",
        "An action without visits is worth its parent's Q + tau (ln p - sum of p ln p): more than "
        "the parent if its prior is better than usual.",
    ),
    "S27": Technique(
        "The root's own constants",
        "c_puct, its growth and the policy temperature can differ at the root.",
    ),
    "S28": Technique(
        "Exploration by impurity",
        "In play U grows where the prior is sure of itself: by min(gmax, g0 - g1 ln(G + 0.001)), "
        "G = 1 - sum of p^2.",
        evidence=OWN,
    ),
    "S29": Technique(
        "Proof-number bias",
        "In play, where the player to move is winning, an action gains by how near it is to a "
        "proof: the smallest proof number divided by its own.",
    ),
    "P1": Technique(
        "Playout-cap randomisation",
        "A move gets a full search with some probability, else a fast one without noise or "
        "discounting. Only full searches give policy targets.",
    ),
    "P2": Technique(
        "Resignation",
        "A player resigns when root and best action stay below a threshold for some moves. "
        "Some games play on and only note it; they calibrate the threshold.",
    ),
    "P3": Technique(
        "Temperature",
        "The temperature of the choice falls linearly over the first plies; then it is greedy.",
    ),
    "P4": Technique(
        "Progressive search",
        "The simulations grow from half to all over the first part of a run.",
    ),
    "P5": Technique(
        "Random openings",
        "Some games begin with moves sampled from the raw policy. These give no samples.",
        evidence="[log](log.md#2026-11-18-openings-and-the-perfect-defenders-lines)",
    ),
    "P6": Technique(
        "Caps and adjudication",
        "A game that is too long ends as a draw or by material, and its samples say so.",
    ),
    "P7": Technique(
        "Change of network",
        "Workers take a new checkpoint between two moves and play on. Each sample records the "
        "iteration that made it.",
    ),
    "P8": Technique(
        "Restarts from regret",
        "Some games begin from positions where the searches of earlier games were far from the "
        "result, drawn in proportion to a power of this regret; when one is played again, its "
        "regret is a moving average.",
    ),
    "P9": Technique(
        "Stop when nothing changes",
        "A search ends when the shares of its visits changed by less than a bound per simulation "
        "since the last look, but not before a minimum. What it saved is counted.",
    ),
    "T1": Technique(
        "Packed samples",
        "Planes are bits in 64-bit words, policies are sparse. A chess sample takes less than "
        "300 bytes on average.",
    ),
    "T2": Technique(
        "Shards",
        "Samples are written in checksummed files that appear whole or not at all. "
        "A damaged one is named and set aside.",
        home="src/zermelo/replay",
    ),
    "T3": Technique(
        "Value target",
        "The value target mixes the result of the game with the value of the search; the share of "
        "the search rises over the first iterations.",
        evidence="[log](log.md#2026-11-17-how-true-the-value-targets-of-connect-four-are)",
    ),
    "T4": Technique(
        "Deduplication",
        "Equal positions of the window, also under symmetries, become one with averaged targets.",
    ),
    "T5": Technique(
        "Symmetries",
        "Training shows each sample in a random one of its game's exact symmetries.",
    ),
    "T6": Technique(
        "Sliding window",
        "Training uses the last iterations; their number grows, so the first games leave early.",
    ),
    "T7": Technique(
        "Rolling buffer",
        "Only the newest samples of the window are in memory, up to a bound.",
    ),
    "T8": Technique(
        "Waiting for data",
        "An iteration trains once there are enough new samples. Progress says what it waits for.",
    ),
    "T9": Technique(
        "Shuffling",
        "Batches are drawn uniformly from all samples, never in the order of the games, by a seed.",
    ),
    "T10": Technique(
        "One-cycle learning rate",
        "In each iteration the learning rate rises linearly to its highest and falls to its "
        "lowest value.",
    ),
    "T11": Technique(
        "Few passes",
        "An iteration trains on each sample of its window once, or twice at most.",
        home="src/zermelo/train",
        evidence=LEARNING,
    ),
    "T12": Technique(
        "Mixed precision",
        "Training computes in bfloat16 where the hardware has it; parameters stay in 32 bits.",
    ),
    "T13": Technique(
        "Network",
        "A residual tower with squeeze-and-excitation and heads for policy, win-draw-loss and, if "
        "asked, plies left.",
        home="src/zermelo/network",
    ),
    "T14": Technique(
        "Checkpoints and resume",
        "Weights, optimiser, random numbers and schedule are saved atomically. A killed run "
        "continues and ends like one that was not killed.",
        home="src/zermelo/checkpoint",
        evidence="[log](log.md#2026-11-16-a-loop-that-is-killed)",
    ),
    "T15": Technique(
        "Training-only heads",
        "While it learns, a network also predicts the opponent's reply, the policy softened by "
        "temperature 4, and the searches' values 6, 16 and 50 plies later. Files for playing "
        "leave these heads out.",
    ),
    "T16": Technique(
        "Norms watched",
        "The metrics say how long the weights of each layer are and how far an iteration moved "
        "them; the doctor warns when they run away.",
    ),
    "T17": Technique(
        "Processor network",
        "The first layer adds up rows of a table, one for each set bit and for patterns of cells; "
        "small tails follow, and a policy of legal actions only; integers in the core.",
        home="cpp/network",
    ),
    "E1": Technique(
        "Match",
        "Two players meet in pairs of games with the same opening and colours swapped: score, "
        "Elo with interval, likelihood of superiority, sequential test.",
        home="src/zermelo/matches",
        evidence="[a match](evidence.md#a-match-is-what-it-says)",
    ),
    "E2": Technique(
        "Exact yardsticks",
        "Networks are judged by what is known exactly: a solver in Connect Four, every line in "
        "tic-tac-toe, suites and engines in chess.",
        home="src/zermelo/yardsticks",
        evidence="[suites](evidence.md#suites)",
    ),
    "E3": Technique(
        "Ladder",
        "Each new checkpoint meets earlier ones; the ladder gives ratings with errors.",
    ),
    "E4": Technique(
        "UCI engine",
        "Chess programs can use the search: every form of `go`, options, time management; always "
        "one answer, never an illegal move.",
        home="src/zermelo/uci",
        evidence="[Stockfish](evidence.md#chess-against-stockfish-at-a-set-elo)",
    ),
    "E5": Technique(
        "lc0 networks",
        "Classical and squeeze-and-excitation networks of lc0 are read and played with.",
        home="src/zermelo/network",
    ),
    "E6": Technique(
        "Games",
        "Tic-tac-toe, Connect Four, Othello, Hex, checkers and chess. A game in Python with six "
        "methods uses the same search and training.",
        home="src/zermelo/games",
    ),
}
