"""`ppy.toml`: defaults, every fault with its place, several faults together."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppybuild.diagnostics import Failure
from ppybuild.manifest import find, load
from ppybuild.manifest.keys import Span, locate_keys


def write(folder: Path, text: str) -> Path:
    path = folder / "ppy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def faults(path: Path) -> list[tuple[str, int, int]]:
    with pytest.raises(Failure) as caught:
        load(path)
    assert caught.value.status == 2
    return [
        (found.code, found.location.line, found.location.column)
        for found in caught.value.diagnostics
        if found.location is not None
    ]


def test_the_smallest_manifest(tmp_path: Path) -> None:
    manifest = load(write(tmp_path, "[entry.train]\n"))
    assert manifest.project.name == tmp_path.name
    assert manifest.sources.roots == (tmp_path,)
    assert manifest.entry["train"].module == "train"
    assert manifest.entry["train"].numerics == "fused"
    assert manifest.build.dir == tmp_path / "build"
    assert manifest.build.cache is None
    assert manifest.device.cpu.cpu == "native"
    assert manifest.convert.promote_buffers


def test_an_empty_manifest_is_a_manifest(tmp_path: Path) -> None:
    assert dict(load(write(tmp_path, "")).entry) == {}


def test_src_is_the_root_where_it_exists(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    assert load(write(tmp_path, "[entry.train]\n")).sources.roots == (tmp_path / "src",)


def test_every_key(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    manifest = load(
        write(
            tmp_path,
            """
            [project]
            name = "training"
            version = "1.2"
            requires-python = ">=3.11,<4"
            [sources]
            roots = ["./code/../code"]
            exclude = ["**/legacy/**"]
            [entry.train]
            module = "app.train"
            args = ["--epochs", "3"]
            numerics = "exact"
            fp = "relaxed"
            [device.cpu]
            cpu = "x86-64-v3"
            [device.cuda]
            arch = ["sm_80", "sm_90a"]
            without-gpu = "error"
            [build]
            dir = "out"
            device = "cuda"
            jobs = 3
            cache = "/shared"
            [convert]
            promote-buffers = false
            """,
        )
    )
    assert manifest.sources.roots == (tmp_path / "code",)
    assert manifest.sources.exclude == ("**/legacy/**",)
    assert manifest.entry["train"].args == ("--epochs", "3")
    assert manifest.device.cuda.without_gpu == "error"
    assert manifest.build.dir == tmp_path / "out"
    assert manifest.build.cache == Path("/shared")
    assert not manifest.convert.promote_buffers


def test_a_manifest_does_not_change(tmp_path: Path) -> None:
    manifest = load(write(tmp_path, "[entry.train]\n"))
    with pytest.raises(ValueError):
        manifest.project.name = "other"
    with pytest.raises(TypeError):
        manifest.entry["other"] = manifest.entry["train"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[projct]\n", [("E2002", 1, 2)]),
        ("[project]\nrequires_python = '>=3.11'\n", [("E2002", 2, 1)]),
        ("[entry.train]\nmodul = 'a'\n", [("E2002", 2, 1)]),
        ("path = 'x'\n", [("E2002", 1, 1)]),
        ("[device.gpu]\n", [("E2002", 1, 9)]),
        ("[entry]\nmodule = 'a'\n", [("E2003", 2, 1)]),
        ("entry = 3\n", [("E2003", 1, 1)]),
        ("[sources]\nroots = 'src'\n", [("E2003", 2, 1)]),
        ("[entry.t]\nargs = ['a', 3]\n", [("E2003", 2, 1)]),
        ("[entry.t]\nnumerics = 'fuse'\n", [("E2003", 2, 1)]),
        ("[entry.t]\nmodule = 'a..b'\n", [("E2003", 2, 1)]),
        ("[entry.t]\nmodule = 'a/b.py'\n", [("E2003", 2, 1)]),
        ("[build]\njobs = true\n", [("E2003", 2, 1)]),
        ("[build]\njobs = -1\n", [("E2003", 2, 1)]),
        ("[build]\ndir = 3\n", [("E2003", 2, 1)]),
        ("build.device = 'gpu'\n", [("E2003", 1, 7)]),
        ("[sources]\nroots = ['missing']\n", [("E2004", 2, 1)]),
        ("[build]\ndir = '.'\n", [("E2004", 2, 1)]),
        ("[build]\ndir = '..'\n", [("E2004", 2, 1)]),
        ("[entry.app]\n", [("E2003", 1, 8)]),
        ("[entry.'a/b']\n", [("E2003", 1, 8)]),
        ("[entry.'a b']\n", [("E2003", 1, 8)]),
        ("[entry.'a..b']\n", [("E2003", 1, 8)]),
        ("[project]\nrequires-python = '3.11'\n", [("E2003", 2, 1)]),
        ("[project]\nrequires-python = '>=3.11.*'\n", [("E2003", 2, 1)]),
        ("[project]\nrequires-python = '<3'\n", [("E2005", 2, 1)]),
        ("[entry.train\n", [("E2001", 1, 13)]),
        ("[entry.train]\n[entry.train]\n", [("E2001", 2, 13)]),
        ("a = '''", [("E2001", 1, 8)]),
    ],
)
def test_a_fault_is_placed(
    tmp_path: Path, text: str, expected: list[tuple[str, int, int]]
) -> None:
    assert faults(write(tmp_path, text)) == expected


def test_faults_are_reported_together_in_order(tmp_path: Path) -> None:
    text = "[projct]\n[build]\njobs = 'x'\ndevice = 'gpu'\n[entry.t]\nfp = 'fast'\n"
    assert [line for _, line, _ in faults(write(tmp_path, text))] == [1, 3, 4, 6]


@pytest.mark.parametrize(
    ("text", "help_"),
    [
        ("[projct]\n", "did you mean `project`?"),
        ("[project]\nrequires_python = ''\n", "did you mean `requires-python`?"),
        ("[entry.t]\nnumerics = 'Fused'\n", 'did you mean `"fused"`?'),
        ("[sources]\nroots = 'src'\n", 'write it as a list: `["src"]`'),
        (
            "[entry.t]\ndata = ['../x']\n",
            'as in `data = ["weights/*.pt"]`: below the folder of the manifest',
        ),
        ("[entry.t\n", "a table's line ends with `]`: `[entry.train]`"),
        ("[entry.t]\nargs = ['a'\n", "a list ends with `]`"),
        ("[entry.t]\n[entry.t]\n", "the table stands twice; put its keys together"),
    ],
)
def test_the_help_says_what_to_do(tmp_path: Path, text: str, help_: str) -> None:
    with pytest.raises(Failure) as caught:
        load(write(tmp_path, text))
    assert [found.help for found in caught.value.diagnostics] == [help_]


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "ppy.toml"
    path.write_bytes(b"\xef\xbb\xbf[entry.train]\n")
    assert list(load(path).entry) == ["train"]


def test_a_root_named_twice_is_one(tmp_path: Path) -> None:
    manifest = load(write(tmp_path, "[sources]\nroots = ['.', './']\n"))
    assert manifest.sources.roots == (tmp_path,)


def test_a_link_to_nothing_is_called_that(tmp_path: Path) -> None:
    path = tmp_path / "ppy.toml"
    path.symlink_to("nowhere")
    with pytest.raises(Failure, match="is a link to a file that is not there"):
        load(path)


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_what_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "ppy.toml"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(Failure) as caught:
        load(path)
    assert [found.code for found in caught.value.diagnostics] == ["E2001"]
    assert caught.value.status == 2


def test_find_looks_upward(tmp_path: Path) -> None:
    path = write(tmp_path, "")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find(inner) == path
    (inner / "ppy.toml").mkdir()  # a folder of that name is not a manifest
    assert find(inner) == path
    link = tmp_path / "a" / "ppy.toml"
    link.symlink_to("nowhere")  # which loading then says
    assert find(inner) == link


def test_find_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Failure) as caught:
        find(tmp_path)
    assert caught.value.diagnostics[0].code == "E2001"
    assert "ppybuild init" in caught.value.diagnostics[0].help


def test_keys_are_located_in_every_form() -> None:
    text = (
        'a.b = {c = 1, "d e" = [{x = 1}, {y = 2}]}  # [not.a.table]\r\n'
        "[[t]]\n"
        'k = """\n[no] = 1\n\\"""" \n'
        "[[t]]\n"
        "f = [\n  1.5, # comment\n  'x = 2',\n]\n"
        "[ t . 'u.v' ]\n"
        "when = 1979-05-27 07:32:00\n"
    )
    spans = locate_keys(text)
    assert spans[("a", "b")] == Span(1, 3, 4)
    assert spans[("a", "b", "d e", 1, "y")] == Span(1, 34, 35)
    assert spans[("t", 0, "k")] == Span(3, 1, 2)
    assert spans[("t", 1, "f")] == Span(7, 1, 2)
    assert spans[("t", 1, "u.v")] == Span(11, 7, 12)
    assert spans[("t", 1, "u.v", "when")] == Span(12, 1, 5)
    assert ("no",) not in spans
    assert ("not", "a") not in spans


def paths(value: object, prefix: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    """Every key of a parsed document."""
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = [(index, item) for index, item in enumerate(value)]
    else:
        return set()
    found = set()
    for key, item in items:
        if isinstance(key, str):
            found.add((*prefix, key))
        found |= paths(item, (*prefix, key))
    return found


_SCALARS = st.one_of(
    st.integers(),
    st.booleans(),
    st.floats(allow_nan=False),
    st.text("a\u00e9 '\"\\\n#=[]", max_size=8),
)
_KEYS = st.text("ab.é \"'[]={}#\n", min_size=1, max_size=4)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)


@settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(_KEYS, _VALUES, max_size=4))
def test_every_key_of_any_document_is_located(document: dict[str, object]) -> None:
    import tomli_w

    text = tomli_w.dumps(document)
    spans = locate_keys(text)
    found = {path for path in spans if isinstance(path[-1], str)}
    assert found == paths(tomllib.loads(text))
    lines = text.split("\n")
    for path, span in spans.items():
        written = lines[span.line - 1][span.column - 1 : span.end_column - 1]
        if isinstance(path[-1], str):
            assert tomllib.loads(f"{written} = 1") == {path[-1]: 1}
