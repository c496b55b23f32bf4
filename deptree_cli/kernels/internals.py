"""All that we use of numba's inner life: its releases may move it, so numba has an upper bound."""

from numba.core.codegen import JITCodeLibrary as JITCodeLibrary
from numba.core.compiler import Compiler as Compiler
from numba.core.compiler import CompileResult as CompileResult
from numba.core.compiler import DefaultPassBuilder as DefaultPassBuilder
from numba.core.compiler_machinery import PassManager as PassManager
from numba.core.compiler_machinery import register_pass as register_pass
from numba.core.event import Listener as Listener
from numba.core.event import register as register
from numba.core.registry import CPUDispatcher as CPUDispatcher
from numba.core.serialize import dumps as dumps
from numba.core.targetconfig import ConfigStack as ConfigStack
from numba.core.typed_passes import NopythonTypeInference as NopythonTypeInference
from numba.core.types import NumberClass as NumberClass
from numba.core.types import uint64 as uint64
from numba.core.types import unliteral as unliteral
