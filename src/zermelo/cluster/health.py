"""How soon a cluster notices a dead node or head: settings of Ray that its head is started with."""

from __future__ import annotations

# A node that answers none of three questions, one and a half seconds apart, is dead: at most 4.5 s.
# A process that is gone refuses at once: 1.5 s. Ray's own settings take 22 s.
CHECKS = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 3,
}
# Without its head a cluster is nothing: nodes end soon, and whoever restarts them does so.
HEAD_GONE = {"gcs_rpc_server_reconnect_timeout_s": 10}
# Self-play is what these machines are for; Ray would run it behind everything else.
PRIORITY = {"worker_niceness": 0}
SYSTEM = {**CHECKS, **HEAD_GONE, **PRIORITY}
