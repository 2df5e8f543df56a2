"""Networks and their runtimes. Training needs torch; playing needs openvino or onnxruntime only.

`NetworkEvaluator(load_network("file.onnx"))` is what a search asks. `trained` is a network
while it learns; it, `resnet`, `sparse.module`, `build_torch` and `runtime_torch` import torch.
"""

import sys

from zermelo.network.architecture import Architecture, NetworkOptions
from zermelo.network.evaluator import NetworkEvaluator
from zermelo.network.files import load_network, save_network
from zermelo.network.kinds import architecture_for
from zermelo.network.weights import Weights, random_weights

__all__ = [
    "Architecture",
    "NetworkEvaluator",
    "NetworkOptions",
    "Weights",
    "architecture_for",
    "load_network",
    "random_weights",
    "save_network",
]

# OpenVINO, imported when it is first needed, would fork this process to report its use.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
