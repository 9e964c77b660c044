"""The command of the extension `live`."""
