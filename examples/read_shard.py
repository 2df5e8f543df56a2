"""Reads a shard with NumPy alone: python examples/read_shard.py FILE.zshard"""

import hashlib
import json
import struct
import sys
from pathlib import Path

import numpy as np

data = Path(sys.argv[1]).read_bytes()
magic, version, length = struct.unpack_from("<8sII", data)
assert magic == b"\x89ZSHARD\n", "not a shard"
assert hashlib.sha256(data[:-32]).digest() == data[-32:], "damaged"
header, offset, columns = json.loads(data[24 : 24 + length]), 24 + length, {}
for name, dtype, shape in header["columns"]:
    columns[name] = np.frombuffer(data, dtype, np.prod(shape), offset).reshape(shape)
    offset += -(-columns[name].nbytes // 8) * 8  # every column begins at a multiple of 8
print(header["game"], header["samples"], "samples, iterations", header["iterations"])
print({name: (str(column.dtype), column.shape) for name, column in columns.items()})
