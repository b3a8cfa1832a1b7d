"""The engine: an extension module as a value, its catalogue, and the algorithms registered in it."""

from cwndlab.engine.extension import Engine
from cwndlab.engine.selection import SHIPPED, in_use, use

__all__ = ["SHIPPED", "Engine", "in_use", "use"]
