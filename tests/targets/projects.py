"""Tiny projects, and emissions made by hand, for the tests of `targets`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from ppybuild.emit.emission import Emission, Extension, SourceFile
from ppybuild.manifest import Manifest, load

EXTENSION = """
#include <Python.h>
#include "value.h"

static PyObject *stand_in(PyObject *module, PyObject *function)
{
    (void)module;
    (void)function;
    return PyLong_FromLong(VALUE);
}

static PyMethodDef methods[] = {{"main_f", stand_in, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "NAME", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_NAME(void)
{
    return PyModule_Create(&module);
}
"""


def extension(name: str = "loops", value: str = "41", text: str = EXTENSION) -> Extension:
    """An extension of one C file and one header."""
    return Extension(
        name,
        (
            SourceFile(PurePosixPath("value.h"), f"#define VALUE {value}\n"),
            SourceFile(PurePosixPath(f"{name}.c"), text.replace("NAME", name)),
        ),
        uses_torch=False,
    )


def emission(*extensions: Extension) -> Emission:
    bindings = {"main.f": ("loops", "main_f")} if extensions else {}
    return Emission(extensions, bindings, ())


def project(folder: Path, files: Mapping[str, str], text: str = "[entry.main]\n") -> Manifest:
    """Write a project and load its manifest."""
    for name, content in {**files, "ppy.toml": text}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return load(folder / "ppy.toml")
