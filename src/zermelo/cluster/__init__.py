"""The same stages on Ray: where they run, nothing else. `import ray` stands in this room only.

`connection.connect` joins or starts a cluster; `pool.RayPool` plays for a run, `matches` plays the
games of a match, `suites` solves problems. Training, files and figures stay in the process that
was started. Nothing here is imported unless somebody asks for a cluster.
"""
