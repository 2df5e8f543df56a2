"""What a cluster needs beside Ray: token, versions, addresses, options, the manifest, the model."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from zermelo.cli import main
from zermelo.cluster import connection, token
from zermelo.cluster.addresses import split_address
from zermelo.cluster.health import CHECKS, SYSTEM
from zermelo.cluster.loopback import is_loopback
from zermelo.cluster.node_command import forget_dead_heads, head_arguments, join_arguments
from zermelo.cluster.nodes import Node
from zermelo.cluster.temporary import own_directory
from zermelo.cluster.versions import difference, versions_here
from zermelo.errors import UserError

ROOT = Path(__file__).parents[2]

# The part of KubeRay's RayCluster (ray.io/v1) that our manifest uses, by its reference.
TEMPLATE: dict[str, Any] = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "required": ["containers"],
            "properties": {
                "containers": {
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": "object", "required": ["name", "image"]},
                }
            },
        }
    },
}
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "ray.io/v1"},
        "kind": {"const": "RayCluster"},
        "spec": {
            "type": "object",
            "required": ["headGroupSpec"],
            "additionalProperties": False,
            "properties": {
                "rayVersion": {"type": "string"},
                "headGroupSpec": {
                    "type": "object",
                    "required": ["template"],
                    "additionalProperties": False,
                    "properties": {
                        "serviceType": {"enum": ["ClusterIP", "NodePort", "LoadBalancer"]},
                        "rayStartParams": TEXTS,
                        "template": TEMPLATE,
                    },
                },
                "workerGroupSpecs": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["groupName", "maxReplicas", "minReplicas", "template"],
                        "additionalProperties": False,
                        "properties": {
                            "groupName": {"type": "string"},
                            "replicas": {"type": "integer"},
                            "minReplicas": {"type": "integer"},
                            "maxReplicas": {"type": "integer"},
                            "rayStartParams": TEXTS,
                            "template": TEMPLATE,
                        },
                    },
                },
            },
        },
    },
}


def test_the_manifest_for_kubernetes_has_the_fields_of_a_ray_cluster() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="'jsonschema' comes with ray")
    manifest = yaml.safe_load((ROOT / "examples" / "kuberay.yaml").read_text())
    jsonschema.validate(manifest, SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(manifest | {"kind": "RayJob"}, SCHEMA)
    groups = [manifest["spec"]["headGroupSpec"], *manifest["spec"]["workerGroupSpecs"]]
    for group in groups:
        for container in group["template"]["spec"]["containers"]:
            names = {variable["name"]: variable for variable in container["env"]}
            assert names["RAY_AUTH_MODE"]["value"] == "token" and "RAY_AUTH_TOKEN" in names
            for probe in ("livenessProbe", "readinessProbe"):  # the operator's need ray[default]
                assert container[probe]["tcpSocket"]["port"] in (6379, 6380)
    parameters = manifest["spec"]["headGroupSpec"]["rayStartParams"]
    assert json.loads(through_a_shell(parameters["system-config"])) == SYSTEM
    pinned = (ROOT / "constraints.txt").read_text()
    assert f"ray=={manifest['spec']['rayVersion']}\n" in pinned


def through_a_shell(value: str) -> str:
    """A parameter of `ray start` as it arrives: the operator writes it into `bash -c` unquoted."""
    words = ["bash", "-c", f"printf '%s\\n' --name={value}"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return told.removeprefix("--name=").removesuffix("\n")


def test_no_later_ray_than_the_one_that_was_tried_is_installed() -> None:
    """Private modules of it are used."""
    (pinned,) = re.findall(r"^ray==(\d+)\.(\d+)\.", (ROOT / "constraints.txt").read_text(), re.M)
    major, minor = map(int, pinned)
    wanted = set(re.findall(r'"ray([<>=][^"]*)"', (ROOT / "pyproject.toml").read_text()))
    assert wanted == {f">={major}.{minor},<{major}.{minor + 1}"}


def test_the_manifest_for_kubernetes_fits_the_published_schema() -> None:
    """ZERMELO_KUBERAY_CRD is ray.io_rayclusters.yaml of KubeRay's repository."""
    jsonschema = pytest.importorskip("jsonschema", reason="'jsonschema' comes with ray")
    place = os.environ.get("ZERMELO_KUBERAY_CRD")
    if not place:
        pytest.skip("ZERMELO_KUBERAY_CRD does not name the schema's file")
    versions = yaml.safe_load(Path(place).read_text())["spec"]["versions"]
    (schema,) = (each["schema"]["openAPIV3Schema"] for each in versions if each["name"] == "v1")
    refuse_unknown(schema)
    schema["properties"]["metadata"] = {"type": "object"}
    manifest = yaml.safe_load((ROOT / "examples" / "kuberay.yaml").read_text())
    jsonschema.validate(manifest, schema)
    manifest["spec"]["headGroupSpec"]["rayStartParam"] = {}
    with pytest.raises(jsonschema.ValidationError, match="rayStartParam"):
        jsonschema.validate(manifest, schema)


def refuse_unknown(schema: object) -> None:
    """Fields that a resource does not have, as `kubectl` does."""
    if isinstance(schema, dict):
        if "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            refuse_unknown(part)
    elif isinstance(schema, list):
        for part in schema:
            refuse_unknown(part)


def test_a_dead_node_is_noticed_within_five_seconds_by_the_settings() -> None:
    wait = CHECKS["health_check_period_ms"] + CHECKS["health_check_timeout_ms"]
    assert CHECKS["health_check_failure_threshold"] * wait <= 5000


def test_a_cluster_without_a_token_is_not_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(token.TOKEN, raising=False)
    monkeypatch.setenv(token.TOKEN_FILE, str(tmp_path / "token"))
    with pytest.raises(UserError, match="token is not known here"):
        token.known_token()
    made, written = token.known_or_new_token()
    assert written == tmp_path / "token" and written.stat().st_mode & 0o777 == 0o600
    assert token.known_token() == made and len(made) == 64
    assert token.known_or_new_token() == (made, None)
    monkeypatch.setenv(token.TOKEN, "another")
    assert token.known_token() == "another"


def test_versions_that_differ_are_told_in_a_few_words() -> None:
    here = versions_here()
    assert difference(here, here) == ""
    assert difference(here, here | {"zermelo": "0.0.9"}) == (
        f"it has zermelo 0.0.9, not {here['zermelo']}"
    )
    assert difference(here, here | {"zermelo": ""}) == "it has no zermelo"
    assert "python 3.9.1" in difference(here, here | {"python": "3.9.1"})


@pytest.mark.parametrize(
    "text",
    ["", "head", "head:", ":6379", "head:port", "head:70000", "..:6379", f"{'a' * 64}.net:6379"],
)
def test_an_address_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="HOST:PORT"):
        split_address(text)


def test_an_address_of_ipv6_may_stand_in_brackets() -> None:
    assert split_address("[::1]:6379") == split_address("::1:6379") == ("::1", 6379)


def test_a_head_has_room_for_the_port_after_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "head", "--port", "65535"]) == 2
    assert "65534" in capsys.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="'ray' is not installed")
def test_a_second_head_at_a_port_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(token.TOKEN, "any")
    monkeypatch.setattr("zermelo.cli.cluster._become", lambda words, token: None)
    with socket.socket() as head:
        head.bind(("127.0.0.1", 0))
        head.listen()
        assert main(["cluster", "head", "--port", str(head.getsockname()[1])]) == 2
    assert "is taken, perhaps by a head" in capsys.readouterr().err


def test_loopback_addresses_are_known() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "localhost", "::1", "[::1]", "127.8.0.1")))
    assert not any(map(is_loopback, ("10.0.0.1", "head", "0.0.0.0", "")))


def test_a_node_holds_as_many_workers_as_fit() -> None:
    node = Node("k", "a", "h", 8.0, 1.0)
    assert (node.room(1, 0), node.room(3, 0), node.room(0.1, 0.25)) == (8, 2, 4)
    assert Node("k", "a", "h", 8.0, 0.0).room(1, 0.5) == 0


@dataclass
class Services:
    """As Ray's module of that name."""

    find_gcs_addresses: Callable[[], set[str]]


def test_a_head_that_died_is_not_taken_for_alive_because_its_nodes_name_it() -> None:
    with socket.socket() as alive:
        alive.bind(("127.0.0.1", 0))
        alive.listen()
        here = f"127.0.0.1:{alive.getsockname()[1]}"
        with socket.socket() as gone:
            gone.bind(("127.0.0.1", 0))
            dead = f"127.0.0.1:{gone.getsockname()[1]}"
        services = Services(lambda: {here, dead})
        forget_dead_heads(services)
        assert services.find_gcs_addresses() == {here}


def test_a_head_that_does_not_answer_is_waited_for_a_moment_and_then_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as head:
        head.bind(("127.0.0.1", 0))
        head.listen()
        cluster = connection.Cluster("auto", False, head.getsockname())
        assert cluster.check_head()
    assert not cluster.check_head()
    assert not cluster.check_head()
    monkeypatch.setattr(connection, "HEAD_SECONDS", -1.0)
    with pytest.raises(UserError, match="has gone: start it again"):
        cluster.check_head()


def test_a_head_that_was_not_asked_for_long_has_not_gone_after_one_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, there = [100.0], [True]
    monkeypatch.setattr(connection, "answers", lambda place, seconds: there[0])
    monkeypatch.setattr(connection, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    cluster = connection.Cluster("auto", False, ("h", 1))
    assert cluster.check_head()
    clock[0], there[0] = 200.0, False  # the driver trained meanwhile
    assert not cluster.check_head()
    clock[0] = 202.0
    assert not cluster.check_head()
    clock[0] = 204.0
    with pytest.raises(UserError, match="has gone"):
        cluster.check_head()


def test_nodes_are_started_with_all_that_they_need() -> None:
    words = head_arguments("127.0.0.1", 7000, 2, 100)
    assert {"--head", "--port=7000", "--num-cpus=2", "--disable-usage-stats"} <= set(words)
    assert "--include-dashboard=false" in words and "--node-ip-address=127.0.0.1" in words
    assert "--include-dashboard=true" in head_arguments("", 7000, 2, 100, dashboard=True)
    assert "--address=h:1" in join_arguments("h:1", "", None, 100)


def test_a_dashboard_that_plain_ray_does_not_have_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    there = {"ray": True, "aiohttp_cors": False}
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: (there[name] or None) if name in there else find(name),
    )
    assert main(["cluster", "head", "--dashboard"]) == 2
    assert "install ray[default]" in capsys.readouterr().err


def test_files_of_clusters_whose_owner_was_killed_go_away_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left, coming = tmp_path / "zermelo-ray-left", tmp_path / "zermelo-ray-coming"
    for place in (left, coming):
        place.mkdir()
    (left / "owner").touch()
    with own_directory() as first, own_directory() as second:
        assert Path(first).is_dir() and Path(second).is_dir() and coming.is_dir()
        assert not left.exists()
    assert [place.name for place in tmp_path.iterdir()] == ["zermelo-ray-coming"]


def test_without_ray_a_sentence_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "ray" else find(name)
    )
    for words in (
        ["train", "tictactoe", "--cluster", "local"],
        ["match", "random", "random", "--game", "tictactoe", "--cluster", "local"],
        ["cluster", "head"],
    ):
        assert main(words) == 2
        assert "install zermelo[cluster]" in capsys.readouterr().err


def test_the_model_saturates_where_the_driver_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    model: Any = importlib.import_module("cluster_model")
    constants = {
        "samples_per_second": 1000.0, "shard_samples": 2000.0, "parcel_bytes": 0.0,
        "sample_bytes": 50.0, "write_seconds": 0.01, "sample_seconds": 0.0,
        "ray_call_seconds": 0.001, "call_seconds": 1.0,
    }  # fmt: skip
    one, many, most = (model.simulate(constants, n, 300.0, 10.0) for n in (1, 50, 1000))
    assert one["of_ideal"] > 0.95 and many["of_ideal"] > 0.95
    assert most["driver_busy"] > 0.99 and most["of_ideal"] < 0.25
    assert abs(most["samples_per_second"] - 2000 / 0.01108) < 5000
    assert 175 < model.saturation(constants, 10.0) < 185  # 2 s by 0.01108 s
    short = constants | {"samples_per_iteration": 50_000}  # 100 samples for each of 500 workers
    assert model.call_of(short, 500, 10.0).samples == 100
    assert 60 < model.saturation(short, 10.0) < 70
    sys.modules.pop("cluster_model")
