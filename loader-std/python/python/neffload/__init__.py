"""Read, check and measure NEFF model files without the vendor's runtime."""

from ._neffload import NeffInfo, Refused, __version__, inspect, memory, verify

__all__ = ["NeffInfo", "Refused", "__version__", "inspect", "memory", "verify"]
