"""`GameInProgress`: a board on which people and players move, take back and see whose turn it is.

>>> from zermelo.players import player
>>> rules = find_game("tictactoe")
>>> board = GameInProgress(rules, seats=(None, player("minimax", rules)))
>>> board.play(board.parse("b2"))
True
>>> board.mover is None, board.answer() == board.actions[-1], board.mover is None
(False, True, True)
>>> board.undo(), len(board.actions)
(True, 0)

Knows the rules and who sits where; nothing of screens, of requests, or of how a player thinks.
Threads: any may call anything. Nothing waits but `answer`, which lets a player think without
keeping anybody else from the board. Listeners are called in the thread that changed it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

from zermelo.errors import UserError
from zermelo.games import game as find_game
from zermelo.games.notation import action_text, parse_action
from zermelo.games.protocol import Game, Outcome, State
from zermelo.players.protocol import Closes, Player, StartsGames, Stops
from zermelo.search.listeners import Listeners

Seats: TypeAlias = Sequence[Player | None]  # the first player's and the second's; None is a person
STOP_EVERY = 0.02  # seconds


class GameInProgress:
    """One game from its first position on: `actions[i]` leads from `states[i]` to `states[i+1]`."""

    def __init__(
        self, game: Game | str, state: State | None = None, seats: Seats = (None, None)
    ) -> None:
        """Begins at `state`, else where the game begins."""
        self.game: Game = find_game(game)
        self.seats = tuple(seats)  # changed by `restart` only
        # Guarded by the lock. Tuples, so that whoever has read them keeps what they were.
        self._lock = threading.Lock()
        self._states: tuple[State, ...] = (self._first(state),)
        self._actions: tuple[int, ...] = ()
        self._number = 0
        self._thinking = threading.Lock()  # held while a player chooses: one question at a time
        self._asked: tuple[int, Player] | None = None  # by its holder: who thinks, about which
        self._listeners: Listeners[Callable[[], None]] = Listeners()

    # --- what there is to see ---------------------------------------------------------------------

    @property
    def states(self) -> tuple[State, ...]:
        """All positions so far, the one on the board last."""
        return self._states

    @property
    def actions(self) -> tuple[int, ...]:
        """All actions so far."""
        return self._actions

    @property
    def number(self) -> int:
        """Another one after every change: whoever acts on what was seen can say what that was."""
        return self._number

    @property
    def state(self) -> State:
        """The position on the board."""
        return self._states[-1]

    @property
    def outcome(self) -> Outcome | None:
        """How the game has ended; None while it goes on."""
        return self.game.outcome(self.state)

    @property
    def turn(self) -> int:
        """Whose turn it is: 0 or 1, the index of the seat."""
        return self.game.player(self.state)

    @property
    def mover(self) -> Player | None:
        """The player whose turn it is; None for a person."""
        return self.seats[self.turn]

    @property
    def last(self) -> tuple[int, State] | None:
        """The last action and the position in which it was played."""
        with self._lock:
            return (self._actions[-1], self._states[-2]) if self._actions else None

    def choices(self) -> list[tuple[int, str]]:
        """The legal actions with their names, in the order that `#1`, `#2`, ... count in."""
        state = self.state
        return [(a, action_text(self.game, state, a)) for a in self.game.legal_actions(state)]

    def parse(self, text: str) -> int:
        """The action that a person means: the game's own notation first, else its number."""
        choices = self.choices()
        number = text.removeprefix("#")
        numbered = number.isdecimal() and 1 <= int(number) <= len(choices)
        # Where numbers are names, as columns are, only #3 is the third of the list.
        if numbered and (text.startswith("#") or not any(name.isdecimal() for _, name in choices)):
            return choices[int(number) - 1][0]
        return parse_action(self.game, self.state, text)

    # --- what can be done -------------------------------------------------------------------------

    def play(self, action: int, number: int | None = None) -> bool:
        """Plays a legal action; UserError if it is none.

        With `number`, that of the position it was chosen for: False, and nothing happens, if the
        board is another meanwhile.
        """
        with self._lock:
            if number is not None and number != self._number:
                return False
            state = self._states[-1]
            if self.game.outcome(state) is not None:
                raise UserError("the game is over")
            if action not in self.game.legal_actions(state):
                raise UserError(f"action {action} is not legal here")
            self._set((*self._states, self.game.play(state, action)), (*self._actions, action))
        self._tell()
        return True

    def answer(self) -> int | None:
        """Lets the player whose turn it is choose, and plays that; what it chose.

        None if the board has changed meanwhile: the choice is not played then. A player that still
        thinks about an earlier board is stopped if it can be, and waited for. PlayerError and
        whatever else the player raises comes out of here.
        """
        with self._lock:
            number, state = self._number, self._states[-1]
            seats = self.seats
        if self.game.outcome(state) is not None:
            raise UserError("the game is over")
        player = seats[self.game.player(state)]
        if player is None:
            raise UserError("a person is to move")
        while not self._thinking.acquire(timeout=STOP_EVERY):
            self._stop_idle_thoughts()
        try:
            if number != self._number:
                return None
            self._asked = number, player
            action = player.choose(self.game, state)
        finally:
            self._asked = None
            self._thinking.release()
        return action if self.play(action, number) else None

    def undo(self) -> bool:
        """Back to the last decision of a person; False if there is none."""
        with self._lock:
            for ply in range(len(self._actions) - 1, -1, -1):
                if self.seats[self.game.player(self._states[ply])] is None:
                    self._set(self._states[: ply + 1], self._actions[:ply])
                    break
            else:
                return False
        self._tell()
        return True

    def restart(self, state: State | None = None, seats: Seats | None = None) -> None:
        """A new game on the same board, from `state` or from the beginning.

        With `seats` others play from now on; whoever leaves is not closed.
        """
        first = self._first(state)
        with self._lock:
            if seats is not None:
                self.seats = tuple(seats)
            self._set((first,), ())
        for player in self.seats:
            if player is not None and isinstance(player, StartsGames):
                player.start_game()
        self._tell()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls `listener` after every change; the return value ends that."""
        return self._listeners.add(listener)

    def close(self) -> None:
        """Lets go what the players hold, such as processes."""
        for player in self.seats:
            if player is not None and isinstance(player, Closes):
                player.close()

    # --- within -----------------------------------------------------------------------------------

    def _stop_idle_thoughts(self) -> None:
        """Again and again: a player that is only about to think does not hear it."""
        asked = self._asked
        if asked is not None and asked[0] != self._number and isinstance(asked[1], Stops):
            asked[1].stop()

    def _first(self, state: State | None) -> State:
        return self.game.initial() if state is None else state

    def _set(self, states: tuple[State, ...], actions: tuple[int, ...]) -> None:
        """The lock is held."""
        self._states, self._actions = states, actions
        self._number += 1

    def _tell(self) -> None:
        for listener in self._listeners.present().values():
            listener()
