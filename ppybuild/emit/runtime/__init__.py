"""The hand-written C and C++ that generated code includes."""
