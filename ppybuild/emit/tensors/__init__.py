"""The tensor IR: regions as graphs of ATen operators, and the code written for them."""
