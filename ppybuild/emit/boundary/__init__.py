"""The generated C between Python calls and kernels: argument checks, results, fallback."""
