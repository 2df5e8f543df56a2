"""A network as an ONNX file, written byte by byte, and read back.

Needs no package. Reading takes only the weights and the description from the file; the graph in it
is for other programs, ours is built anew, so nothing that a file says is ever executed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zermelo.errors import UserError
from zermelo.network.graph import any_ops, evaluate
from zermelo.network.kinds import AnyArchitecture, architecture_from_dict
from zermelo.network.own_search import described_search
from zermelo.network.sparse.architecture import SparseArchitecture
from zermelo.network.sparse.onnx_graph import sparse_graph
from zermelo.network.weights import Weights
from zermelo.network.wire import Message, WireError, bytes_field, float_field, number_field

OPSET = 17
IR_VERSION = 8
METADATA_KEY = "zermelo"
FORMAT = 1  # of our metadata
# ONNX element types.
ELEMENTS = {
    np.dtype(kind): number
    for kind, number in ((np.float32, 1), (np.int8, 3), (np.int16, 5), (np.int32, 6), (np.int64, 7))
}
FLOAT = ELEMENTS[np.dtype(np.float32)]
_NODES = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "selu": "Selu"}


Attribute: TypeAlias = int | float | list[int]


class OnnxOps:
    """`graph.Ops` on names of values; collects nodes and initialisers as encoded messages."""

    def __init__(self, weights: Weights) -> None:
        self.arrays = weights.arrays
        self.nodes: list[bytes] = []
        self.tensors: dict[str, bytes] = {}

    def node(self, kind: str, *inputs: str, **attributes: Attribute) -> str:
        """Adds a node and returns the name of what it makes."""
        output = f"{kind.lower()}_{len(self.nodes)}"
        fields = [bytes_field(1, name) for name in inputs]
        fields += [bytes_field(2, output), bytes_field(3, output), bytes_field(4, kind)]
        fields += [bytes_field(5, _attribute(*item)) for item in attributes.items()]
        self.nodes.append(b"".join(fields))
        return output

    def tensor(self, name: str, values: NDArray[Any]) -> str:
        """Adds an initialiser."""
        if name not in self.tensors:
            self.tensors[name] = _tensor(name, values)
        return name

    def shape(self, *sizes: int) -> str:
        """Whole numbers as an initialiser."""
        return self.tensor("shape_" + "_".join(map(str, sizes)), np.array(sizes, np.int64))

    def _weights(self, layer: str) -> tuple[str, str]:
        names = (f"{layer}.weight", f"{layer}.bias")
        for name in names:
            self.tensor(name, self.arrays[name])
        return names

    def conv(self, x: str, layer: str) -> str:
        """See `graph.Ops`."""
        weight, bias = self._weights(layer)
        kernel = self.arrays[weight].shape[2]
        return self.node("Conv", x, weight, bias, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)

    def dense(self, x: str, layer: str) -> str:
        """See `graph.Ops`."""
        return self.node("Gemm", x, *self._weights(layer), transB=1)

    def activate(self, x: str, kind: str) -> str:
        """See `graph.Ops`."""
        if kind == "softmax":
            return self.node("Softmax", x, axis=-1)
        if kind == "mish":
            return self.node("Mul", x, self.node("Tanh", self.node("Softplus", x)))
        if kind == "swish":
            return self.node("Mul", x, self.node("Sigmoid", x))
        if kind == "relu2":
            y = self.node("Relu", x)
            return self.node("Mul", y, y)
        if kind == "none":
            return x
        return self.node(_NODES[kind], x)

    def cell_mean(self, x: str) -> str:
        """See `graph.Ops`."""
        return self.node("Flatten", self.node("GlobalAveragePool", x), axis=1)

    def gates(self, x: str, start: int, stop: int) -> str:
        """See `graph.Ops`."""
        ends = (self.shape(start), self.shape(stop), self.shape(1))
        return self.node("Reshape", self.node("Slice", x, *ends), self.shape(0, stop - start, 1, 1))

    def flatten(self, x: str) -> str:
        """See `graph.Ops`."""
        return self.node("Flatten", x, axis=1)

    def take(self, x: str, indices: NDArray[np.int64]) -> str:
        """See `graph.Ops`."""
        name = self.tensor(f"indices_{len(self.tensors)}", indices)
        return self.node("Gather", x, name, axis=1)

    def constant(self, values: NDArray[np.float32]) -> str:
        """See `graph.Ops`."""
        return self.tensor(f"constant_{len(self.tensors)}", values)

    def multiply(self, x: str, y: str) -> str:
        """See `graph.Ops`."""
        return self.node("Mul", x, y)

    def add(self, x: str, y: str) -> str:
        """See `graph.Ops`."""
        return self.node("Add", x, y)

    # For attention; see `attention_graph.AttentionOps`.

    def linear(self, x: str, layer: str) -> str:
        """See `AttentionOps`."""
        weight, bias = self._weights(layer)
        turned = self.node("Transpose", weight, perm=[1, 0])
        return self.node("Add", self.node("MatMul", x, turned), bias)

    def layer_norm(self, x: str, layer: str, epsilon: float) -> str:
        """See `AttentionOps`."""
        return self.node("LayerNormalization", x, *self._weights(layer), axis=-1, epsilon=epsilon)

    def gate(self, x: str, layer: str) -> str:
        """See `AttentionOps`."""
        weight, bias = self._weights(layer)
        return self.node("Add", self.node("Mul", x, weight), bias)

    def reshape(self, x: str, *sizes: int) -> str:
        """See `AttentionOps`."""
        return self.node("Reshape", x, self.shape(0, *sizes))

    def transpose(self, x: str, *axes: int) -> str:
        """See `AttentionOps`."""
        return self.node("Transpose", x, perm=list(axes))

    def matmul(self, x: str, y: str) -> str:
        """See `AttentionOps`."""
        return self.node("MatMul", x, y)


def onnx_bytes(weights: Weights, version: str = "") -> bytes:
    """The whole file: any batch size, `observations` in, `policy`, `value` (, `moves_left`) out."""
    a = weights.architecture
    ops = OnnxOps(weights)
    if isinstance(a, SparseArchitecture):
        heads = sparse_graph(a, ops).outputs()
    else:
        heads = evaluate(a, any_ops(ops), "observations").outputs()
    for name, made in heads.items():  # graph outputs get the names that callers know
        ops.nodes.append(
            b"".join((bytes_field(1, made), bytes_field(2, name), bytes_field(4, "Identity")))
        )
    sizes = {"policy": a.num_actions, "value": 3 if a.value == "wdl" else 1, "moves_left": 1}
    graph = [bytes_field(1, node) for node in ops.nodes]
    graph += [bytes_field(2, "zermelo")]
    graph += [bytes_field(5, tensor) for tensor in ops.tensors.values()]
    graph += [bytes_field(11, _value_info("observations", a.observation_shape))]
    graph += [bytes_field(12, _value_info(name, (sizes[name],))) for name in heads]
    metadata = {
        METADATA_KEY: description(a, weights.search, version),
        "game": a.game,
        "version": version,
    }
    model = [number_field(1, IR_VERSION), bytes_field(2, "zermelo"), bytes_field(3, version)]
    model += [bytes_field(7, graph), bytes_field(8, (bytes_field(1, ""), number_field(2, OPSET)))]
    model += [bytes_field(14, (bytes_field(1, k), bytes_field(2, v))) for k, v in metadata.items()]
    return b"".join(model)


def read_onnx(data: bytes | memoryview, name: str) -> Weights:
    """The weights of a file that `onnx_bytes` made; any other file is refused."""
    try:
        model = Message(memoryview(data))
        metadata = {entry.text(1): entry.text(2) for entry in model.messages(14)}
        tensors = model.message(7).messages(5)
        if METADATA_KEY not in metadata:
            raise UserError(f"{name}: it is not an ONNX network made by `zermelo export`")
        architecture, search = read_description(metadata[METADATA_KEY], name)
        shapes, kinds = architecture.shapes(), architecture.dtypes()
        named = [(tensor.text(8), tensor) for tensor in tensors]
        arrays = {
            key: _read_tensor(tensor, key, shapes[key], kinds[key], name)
            for key, tensor in named
            if key in shapes
        }
    except WireError as error:
        raise UserError(f"{name}: it is damaged or not an ONNX file ({error})") from None
    return Weights(architecture, arrays, name, search).check()


def description(architecture: AnyArchitecture, search: Mapping[str, Any], version: str) -> str:
    """The metadata of a network file."""
    described = {"format": FORMAT, "version": version, "architecture": architecture.to_dict()}
    if search:
        described["search"] = dict(search)
    return json.dumps(described)


def read_description(text: str, name: str) -> tuple[AnyArchitecture, dict[str, Any]]:
    """The architecture and the search in the metadata of a network file."""
    try:
        described = json.loads(text)
        if described["format"] != FORMAT:
            raise UserError(f"its format is not {FORMAT}")
        architecture = architecture_from_dict(described["architecture"])
        search = described.get("search", {})
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UserError(f"{name}: its description cannot be read") from None
    return architecture, described_search(search, name)


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return bytes_field(1, name) + float_field(2, value) + number_field(20, 1)
    if isinstance(value, int):
        return bytes_field(1, name) + number_field(3, value) + number_field(20, 2)
    numbers = b"".join(number_field(8, n) for n in value)
    return bytes_field(1, name) + numbers + number_field(20, 7)


def _tensor(name: str, values: NDArray[Any]) -> bytes:
    element = ELEMENTS[values.dtype]
    little = values.astype(values.dtype.newbyteorder("<"))
    dims = b"".join(number_field(1, n) for n in values.shape)
    return dims + number_field(2, element) + bytes_field(8, name) + bytes_field(9, little.tobytes())


def _value_info(name: str, shape: tuple[int, ...]) -> bytes:
    dims = [bytes_field(1, bytes_field(2, "batch"))]
    dims += [bytes_field(1, number_field(1, n)) for n in shape]
    tensor_type = number_field(1, FLOAT) + bytes_field(2, dims)
    return bytes_field(1, name) + bytes_field(2, bytes_field(1, tensor_type))


def _read_tensor(
    tensor: Message, key: str, shape: tuple[int, ...], kind: np.dtype[Any], name: str
) -> NDArray[Any]:
    raw = tensor.view(9)
    if tensor.integers(1) != list(shape):
        raise UserError(f"{name}: the weights '{key}' do not have the shape {shape}")
    if tensor.integer(2) != ELEMENTS[kind] or len(raw) != kind.itemsize * math.prod(shape):
        raise UserError(f"{name}: the weights '{key}' are not {kind} of their shape")
    return np.frombuffer(raw, kind.newbyteorder("<")).reshape(shape).astype(kind)
