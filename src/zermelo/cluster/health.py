"""How soon a cluster notices a dead node or head: settings of Ray that its head is started with."""

from __future__ import annotations

# A node that answers none of four questions is dead: four times the pause and the time to answer,
# 3.6 s. A process that is gone refuses at once: 0.8 s. Ray's own settings take 22 s.
CHECKS = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 200,
    "health_check_timeout_ms": 700,
    "health_check_failure_threshold": 4,
}
# Without its head a cluster is nothing: nodes end soon, and whoever restarts them does so.
HEAD_GONE = {"gcs_rpc_server_reconnect_timeout_s": 10}
# Self-play is what these machines are for; Ray would run it behind everything else.
PRIORITY = {"worker_niceness": 0}
SYSTEM = {**CHECKS, **HEAD_GONE, **PRIORITY}
