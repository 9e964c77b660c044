"""Movement that others have written down: BonnMotion's native traces, and the files of ns-2's `setdest`.

`lines` reads a file's lines within limits, `bonnmotion` and `setdest` each know one format, `params` what BonnMotion
says of its trace, `reader` puts them together. All are strict: what is not understood is an error with file and line.
"""

from roambus.bridge.movement.extent import Extent
from roambus.bridge.movement.params import with_params
from roambus.bridge.movement.reader import Ways, read_movement

__all__ = ["Extent", "Ways", "read_movement", "with_params"]
