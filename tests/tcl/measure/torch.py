# SPDX-License-Identifier: GPL-3.0-or-later
"""torch.py - a stand-in for PyTorch, for measure.test: tensors have shapes and types but no numbers, every interval
takes a millisecond, and kernels check their operands as PyTorch documents them. What TORCH_LACKS names is not there."""
import contextlib
import itertools
import os
import sys
from types import SimpleNamespace as Space

LACKS = os.environ.get("TORCH_LACKS", "").split()
float32, float16, bfloat16, uint8, int32, float8_e4m3fn, float8_e8m0fnu, float4_e2m1fn_x2 = (
    "float32", "float16", "bfloat16", "uint8", "int32", "float8_e4m3fn", "float8_e8m0fnu", "float4_e2m1fn_x2")
if "fp4" in LACKS:
    del float4_e2m1fn_x2


class Tensor:
    def __init__(self, shape, dtype=None, values=None):
        self.shape, self.dtype, self.values, self.grad, self.needs = tuple(shape), dtype or float32, values, False, ()
        self.by_columns = False

    def requires_grad_(self, grad=True):
        self.grad = grad
        return self

    def to(self, dtype=None, device=None):
        return Tensor(self.shape, dtype or self.dtype)

    def t(self):
        return Tensor(self.shape[::-1], self.dtype)

    def transpose(self, _first, _second):
        out = Tensor((*self.shape[:-2], self.shape[-1], self.shape[-2]), self.dtype)
        out.by_columns = not self.by_columns
        return out

    def contiguous(self):
        return Tensor(self.shape, self.dtype)

    view = to

    def cpu(self):
        return self
    cuda = detach = float = cpu

    def backward(self, gradient):
        must(self.needs and gradient.shape == self.shape, "element 0 of tensors does not require grad")


def must(holds, what):
    if not holds:
        raise RuntimeError(what + "\nmore lines of it")


def result(shape, dtype, *operands):
    out = Tensor(shape, dtype)
    out.needs = [x for x in operands if x.grad]
    return out


def made(*shape, device=None, dtype=None):
    return Tensor(shape[0] if shape and isinstance(shape[0], tuple) else shape, dtype)


randn = ones = made


def randint(_low, _high, shape, device=None, dtype=None):
    return Tensor(shape, dtype)


def tensor(values, dtype=None, device=None):
    return Tensor((len(values),), dtype, values)


def ones_like(x):
    return Tensor(x.shape, x.dtype)


def bmm(a, b):
    must(a.shape[0] == b.shape[0] and a.shape[2] == b.shape[1] and a.dtype == b.dtype, "bmm")
    return result((*a.shape[:2], b.shape[2]), a.dtype, a, b)


def _grouped_mm(a, b, offs):
    """(rows, k) by (groups, k, n), rows divided at offs; of bf16, with strides of multiples of 16 bytes."""
    must(a.dtype == b.dtype == bfloat16 and offs.dtype == int32, "types of _grouped_mm")
    must(a.shape[1] == b.shape[1] and offs.shape == b.shape[:1] and offs.values[-1] == a.shape[0], "_grouped_mm")
    must(a.shape[1] % 8 == 0 and b.shape[2] % 8 == 0, "strides should be multiple of 16 bytes")
    return result((a.shape[0], b.shape[2]), bfloat16, a, b)


def _scaled_grouped_mm(a, b, scale_a, scale_b, offs, out_dtype):
    """Of fp8, b column by column; a scale for each row of a and each column of b."""
    must(a.dtype == b.dtype == float8_e4m3fn and offs.dtype == int32, "types of _scaled_grouped_mm")
    must(b.by_columns, "Expected mat2 to have transposed strides")
    must(scale_a.shape == a.shape[:1] and scale_b.shape == (b.shape[0], b.shape[2]), "scales of _scaled_grouped_mm")
    must(a.shape[1] == b.shape[1] and offs.shape == b.shape[:1] and offs.values[-1] == a.shape[0], "sizes")
    must(a.shape[1] % 16 == 0 and b.shape[2] % 16 == 0, "strides should be multiple of 16 bytes")
    return result((a.shape[0], b.shape[2]), out_dtype)


def _scaled_mm(a, b, scale_a, scale_b, out_dtype):
    pack = 2 if a.dtype == "float4_e2m1fn_x2" else 1
    must(a.dtype == b.dtype and a.shape[1] == b.shape[0] and out_dtype == bfloat16, "_scaled_mm")
    if pack == 1:
        must(a.dtype == float8_e4m3fn and scale_a.shape == scale_b.shape == (), "_scaled_mm of fp8")
    else:
        size = {float8_e4m3fn: 16, float8_e8m0fnu: 32}[scale_a.dtype]
        for rows, scale in ((a.shape[0], scale_a), (b.shape[1], scale_b)):
            blocks = -(-a.shape[1] * 2 // size)
            must(scale.shape == (-(-rows // 128) * 128 * (-(-blocks // 4) * 4),), "scales of _scaled_mm")
    must(a.shape[1] * pack % 16 == 0 and b.shape[1] % 16 == 0, "trailing dimension must be divisible by 16")
    return result((a.shape[0], b.shape[1]), out_dtype)


def _flash_attention_forward(q, k, v, cum_q, cum_k, max_q, max_k, dropout, is_causal, debug, *, scale=None,
                             window_size_left=None, window_size_right=None):
    sizes = [y - x for x, y in itertools.pairwise(cum_k.values)]
    must(q.dtype in (float16, bfloat16), "FlashAttention only support fp16 and bf16 data type")
    must(cum_q.values[-1] == q.shape[0] and cum_k.values[-1] == k.shape[0] and max(sizes) == max_k, "lengths")
    must(len(cum_q.values) == len(cum_k.values) and cum_q.values[0] == cum_k.values[0] == 0, "cu_seqlens")
    must(k.shape == v.shape and q.shape[2] == k.shape[2] and q.shape[1] % k.shape[1] == 0, "heads")
    must(not is_causal or min(sizes) >= max_q, "causal")
    return result(q.shape, q.dtype, q, k, v), None, None, None, None


class Module:
    def __init__(self, *sizes, bias=True):
        self.sizes, self.weight = sizes, Tensor(sizes[::-1])

    def to(self, device, dtype):
        return self

    def requires_grad_(self, grad):
        self.weight.requires_grad_(grad)
        return self

    def parameters(self):
        return [self.weight]

    def __call__(self, x):
        return result((*x.shape[:-1], self.sizes[-1]), x.dtype, x, self.weight)


def attend(q, k, v, attn_mask=None, is_causal=False, enable_gqa=False):
    return result((*q.shape[:-1], v.shape[-1]), q.dtype, q, k, v)


@contextlib.contextmanager
def no_grad():
    yield


@contextlib.contextmanager
def within(*_args, stream=None):
    yield


def grad(y, operands, gradient, retain_graph, allow_unused):
    must(retain_graph and allow_unused and all(x.grad for x in operands) and
         len(y.needs) == len(operands) and gradient.shape == y.shape, "autograd.grad")


class Event:
    def __init__(self, enable_timing):
        pass

    def record(self):
        pass

    def elapsed_time(self, _other):
        return 1.0


class OutOfMemoryError(RuntimeError):
    pass


if "grouped_mm" in LACKS:
    del _grouped_mm
CAPABILITY = (8, 0) if "hopper" in LACKS else (10, 0)
nothing = lambda *_args, **_named: None  # noqa: E731
nn = Space(Module=Module, Linear=Module, functional=Space(relu=lambda x: x, scaled_dot_product_attention=attend))
compile = tanh = sigmoid = nn.functional.relu
sys.modules["torch.nn.attention"] = sys.modules["torch.nn"] = Space()
sys.modules["torch.nn.attention.bias"] = Space(causal_lower_right=nothing)
sys.modules["torch.nn.attention.flex_attention"] = Space(
    create_block_mask=nothing, flex_attention=lambda q, k, v, block_mask, **more: attend(q, k, v, **more))
ops = Space(aten=Space(_flash_attention_forward=_flash_attention_forward))
if "flash" in LACKS:
    del ops.aten._flash_attention_forward
autograd = Space(grad=grad)
backends = Space(cuda=Space(matmul=Space()), cudnn=Space())
cuda = Space(is_available=lambda: True, set_device=nothing, synchronize=nothing, _sleep=nothing, empty_cache=nothing,
             Event=Event, Stream=lambda: Space(wait_stream=nothing), stream=within, graph=within, current_stream=nothing,
             CUDAGraph=lambda: Space(replay=nothing), OutOfMemoryError=OutOfMemoryError,
             get_device_capability=lambda _index: CAPABILITY,
             get_device_properties=lambda _index: Space(
                 name="NVIDIA B200", major=CAPABILITY[0], minor=CAPABILITY[1], multi_processor_count=100,
                 memory_bus_width=8192, L2_cache_size=2**20, total_memory=2**34))
