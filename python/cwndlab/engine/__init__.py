"""The extension module: what it offers, what came to it in this process, and another in its place."""

from cwndlab.engine.replacement import use

__all__ = ["use"]
