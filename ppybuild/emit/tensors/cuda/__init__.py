"""The fused form for CUDA: the same plan as the CPU's, as kernels over blocks of rows."""

from ppybuild.emit.tensors.cuda.layout import Launch, Layout
from ppybuild.emit.tensors.cuda.printer import CudaRegion, emit_cuda, emit_image, emit_kernels

__all__ = ["CudaRegion", "Launch", "Layout", "emit_cuda", "emit_image", "emit_kernels"]
