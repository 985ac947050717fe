"""The C runtime of executables without Python: text, formats, streams, failures."""
