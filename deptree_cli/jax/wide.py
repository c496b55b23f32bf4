"""Positive numbers with an exponent of their own: nothing underflows, whatever the scores, in float32 too.

A number is mantissa * 2**exponent, the mantissa in [1, 2) or 0. They are only added, multiplied and divided, so that
each keeps all digits of its float type. The kernels have the same for the CPU: `deptree_cli/kernels/numbers/wide.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

# The exponent of 0: below that of any product, and twice it is still an int32.
LOWEST = -(2**29)


class Wide(NamedTuple):
    """An array of numbers.

    Attributes:
        mantissa: float32 or float64, in [1, 2); 0 for 0. Sums under way may have larger ones.
        exponent: int32 or int64, as wide as the mantissa.
    """

    mantissa: Array
    exponent: Array

    @property
    def is_positive(self) -> Array:
        """Which are not 0."""
        return self.mantissa > 0


class Layout(NamedTuple):
    """Where a float type keeps its exponent, and ln 2 in two parts, the first short enough for exact multiples."""

    integer: Any
    digits: int
    bias: int
    log_2: tuple[float, float]


LAYOUTS = {
    "float32": Layout(jnp.int32, 23, 127, (0.693359375, -2.12194440054690583e-4)),
    "float64": Layout(jnp.int64, 52, 1023, (6.93147180369123816490e-01, 1.90821492927058770002e-10)),
}


def layout_of(dtype: Any) -> Layout:
    """Return the layout of a float type."""
    return LAYOUTS[jnp.dtype(dtype).name]


def each(function: Callable[[Array], Array], numbers: Wide) -> Wide:
    """Apply to mantissas and exponents what moves numbers about: an index, a slice, a transposition."""
    return Wide(function(numbers.mantissa), function(numbers.exponent))


def constant(value: float, shape: tuple[int, ...], dtype: Any) -> Wide:
    """Return an array full of 0 or 1."""
    exponents = jnp.full(shape, 0 if value else LOWEST, layout_of(dtype).integer)
    return Wide(jnp.full(shape, value, dtype), exponents)


def exponential(high: Array, low: Array) -> Wide:
    """Return exp(high + low), 0 where high is -inf; low has digits that `high` lacks."""
    layout = layout_of(high.dtype)
    given = jnp.isfinite(high)
    high = jnp.where(given, high, 0.0)
    low = jnp.where(given, low, 0.0)
    power = jnp.round((high + low) / sum(layout.log_2))
    rest = high - power * layout.log_2[0] - power * layout.log_2[1] + low
    return normalised(Wide(jnp.where(given, jnp.exp(rest), 0.0), power.astype(layout.integer)))


def normalised(numbers: Wide) -> Wide:
    """Return the same numbers with mantissas in [1, 2)."""
    layout = layout_of(numbers.mantissa.dtype)
    bits = lax.bitcast_convert_type(numbers.mantissa, layout.integer)
    exponent = numbers.exponent + (bits >> layout.digits) - layout.bias
    ones = (bits & ((1 << layout.digits) - 1)) | (layout.bias << layout.digits)
    mantissa = lax.bitcast_convert_type(ones, numbers.mantissa.dtype)
    return where(numbers.is_positive, Wide(mantissa, exponent), zero_like(numbers))


def zero_like(numbers: Wide) -> Wide:
    """Return zeros."""
    return Wide(jnp.zeros_like(numbers.mantissa), jnp.full_like(numbers.exponent, LOWEST))


def where(condition: Array, yes: Wide, no: Wide) -> Wide:
    """Return one or the other."""
    return Wide(
        jnp.where(condition, yes.mantissa, no.mantissa),
        jnp.where(condition, yes.exponent, no.exponent),
    )


def joined(parts: list[Wide], axis: int) -> Wide:
    """Return arrays joined along an axis."""
    return jax.tree.map(lambda *arrays: jnp.concatenate(arrays, axis), *parts)


def multiply(a: Wide, b: Wide) -> Wide:
    """Return products."""
    return normalised(Wide(a.mantissa * b.mantissa, a.exponent + b.exponent))


def divide(a: Wide, b: Wide) -> Wide:
    """Return quotients, 0 where the divisor is 0."""
    divisor = jnp.where(b.is_positive, b.mantissa, 1.0)
    return normalised(Wide(jnp.where(b.is_positive, a.mantissa / divisor, 0.0), a.exponent - b.exponent))


def total(numbers: Wide, axis: int) -> Wide:
    """Return sums along an axis."""
    top = numbers.exponent.max(axis, keepdims=True)
    terms = numbers.mantissa * power_of_2(numbers.exponent - top, numbers.mantissa.dtype)
    return normalised(Wide(terms.sum(axis), jnp.squeeze(top, axis)))


def add_product(sums: Wide, a: Wide, b: Wide) -> Wide:
    """Return sums + a * b, not normalised: a mantissa grows by at most 4 each time."""
    dtype = sums.mantissa.dtype
    exponent = a.exponent + b.exponent
    top = jnp.maximum(sums.exponent, exponent)
    mantissa = sums.mantissa * power_of_2(sums.exponent - top, dtype)
    return Wide(mantissa + a.mantissa * b.mantissa * power_of_2(exponent - top, dtype), top)


def power_of_2(exponent: Array, dtype: Any) -> Array:
    """Return 2**exponent for exponents of 0 and below; 0 where that is too small for the float type."""
    layout = layout_of(dtype)
    return lax.bitcast_convert_type(jnp.maximum(exponent + layout.bias, 0) << layout.digits, dtype)


def log_ratio(a: Wide, b: Wide) -> Array:
    """Return log(a / b), -inf where a is 0; b is positive where a is."""
    dtype = a.mantissa.dtype
    high, low = layout_of(dtype).log_2
    power = (a.exponent - b.exponent).astype(dtype)
    ratio = jnp.where(a.is_positive, a.mantissa, 1.0) / jnp.where(b.is_positive, b.mantissa, 1.0)
    return jnp.where(a.is_positive, power * high + (power * low + jnp.log(ratio)), -jnp.inf)


def logarithm(numbers: Wide) -> Array:
    """Return logarithms, -inf of 0."""
    return log_ratio(numbers, constant(1, (), numbers.mantissa.dtype))
