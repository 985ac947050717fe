"""A bundle runs as `python train.ppy` does, natively."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ppy

Lay = Callable[..., Path]
Run = Callable[..., subprocess.CompletedProcess[str]]

ADD = '''from __future__ import annotations
import ppy

def add(a: int, b: int = 4) -> int:
    """Adds."""
    return a + b

'''


def python(folder: Path, *args: str, **options: object) -> subprocess.CompletedProcess[str]:
    """The same program under plain Python."""
    variables = os.environ | {"PYTHONPATH": str(Path(ppy.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, *args],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        **options,  # type: ignore[call-overload]
    )


def output(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_native_as_soon_as_the_def_has_run(lay: Lay, run: Run) -> None:
    source = ADD + "print(ppy.native.compiled(add), add(1), add(2**62, 2**62), add(1.5, b=1))\n"
    assert output(run(lay({"train.ppy": source}))) == f"True 5 {2**63} 2.5\n"


def test_the_function_is_what_it_was(lay: Lay, run: Run) -> None:
    source = ADD + (
        "import inspect, pickle\n"
        "print(add.__name__, add.__doc__, add.__module__, inspect.signature(add))\n"
        "print(add.__code__.co_firstlineno, [*add.__code__.co_lines()])\n"
        "print(inspect.getsource(add), pickle.loads(pickle.dumps(add)) is add)\n"
        "print(__name__, __doc__, __cached__, __annotations__, sorted(globals()))\n"
    )
    launcher = lay({"train.ppy": source})
    assert output(run(launcher)) == output(python(launcher.parent / "app", "train.ppy"))


def test_methods_nested_functions_and_decorators(lay: Lay, run: Run) -> None:
    source = """import functools
import ppy

def seen(f):
    print(f.__qualname__, ppy.native.compiled(f), f.__code__.co_firstlineno)
    return f

class Number:
    @staticmethod
    @seen
    def plus(a, b):
        return a + b

    def other(self):
        return 1

def make():
    if True:
        try:
            pass
        finally:
            @functools.wraps(print)
            @seen
            def add(a, b=2):
                return a + b
    return add

print(Number.plus(1, 2), Number().plus(1, 2), ppy.native.compiled(Number.other))
print(make()(1), make()(1, b=3), ppy.native.compiled(make))
"""
    launcher = lay({"train.ppy": source}, bound=["Number.plus", "make.<locals>.add"])
    native = output(run(launcher)).splitlines()
    assert [line for line in native if "True" in line] == [
        "Number.plus True 9",
        "make.<locals>.add True 22",
        "make.<locals>.add True 22",
    ]
    plain = output(python(launcher.parent / "app", "train.ppy"))
    assert [line.replace("True", "False") for line in native] == plain.splitlines()


def test_a_name_defined_twice_stays_python(lay: Lay, run: Run) -> None:
    source = (
        ADD + "def add(a, b):\n    return a - b\n\nprint(add(3, 2), ppy.native.compiled(add))\n"
    )
    assert output(run(lay({"train.ppy": source}))) == "1 False\n"


def test_modules_of_the_program(lay: Lay, run: Run) -> None:
    sources = {
        "main.py": "import train, json\nfrom pkg.deep import low\nimport space.inner\n"
        "print(train.ppy.native.compiled(train.add), train.__name__, train.add.__module__)\n"
        "print(low.X, space.inner.X, json.X, train.__spec__.name)\n",
        "train.ppy": ADD,
        "pkg/__init__.ppy": "Y = 1\n",
        "pkg/deep/__init__.py": "",
        "pkg/deep/low.ppy": "from .. import Y\nfrom . import side\nX = Y + side.X\n",
        "pkg/deep/side.py": "X = 5\n",
        "space/inner.ppy": "X = 7\n",
        "json.py": "X = 'own'\n",
    }
    expected = "True train train\n6 7 own train\n"
    assert output(run(lay(sources, "main"))) == expected


def test_an_entry_inside_a_package(lay: Lay, run: Run) -> None:
    sources = {
        "app/__init__.ppy": "print('package')\n",
        "app/main.ppy": "from . import m\nprint(__name__, __package__, __spec__.name, m.X)\n",
        "app/m.py": "X = 1\n",
    }
    assert output(run(lay(sources, "app.main"))) == "package\n__main__ app app.main 1\n"


def test_arguments_input_and_environment(lay: Lay, run: Run) -> None:
    source = (
        "import os, sys\n"
        "print(sys.argv[1:], sys.stdin.read(), os.environ['HERE'], os.getcwd())\n"
    )
    launcher = lay({"train.ppy": source}, bound=[], args=["--epochs", "3"])
    env = {"HERE": "x"}
    args = ("a b", "", "*", "--", "é")
    assert output(run(launcher, *args, input="text", env=env)) == f"{[*args]} text x /\n"
    assert output(run(launcher, input="", env=env)) == "['--epochs', '3']  x /\n"


@pytest.mark.parametrize(
    "end",
    [
        "sys.exit()",
        "sys.exit(3)",
        "sys.exit('a message')",
        "raise SystemExit(True)",
        "1 / 0",
        "import lower",
        "import missing_module",
        "add(1)(2)",
        "add('x')",
        "add()",
        "raise KeyboardInterrupt",
        "raise ExceptionGroup('several', [ValueError(1)])",
        "sys.excepthook = lambda *error: print('own', error[0], error[2].tb_lineno); 1 / 0",
        "import atexit; atexit.register(print, 'last'); 1 / 0",
        "import os; os._exit(7)",
        "import threading; threading.Thread(target=lambda: 1 / 0).start()",
        "sys.stdout.write('no newline')",
        "exec('def f(:')",
    ],
)
def test_ends_as_python_does(lay: Lay, run: Run, end: str) -> None:
    source = f"{ADD}import sys\n\ndef main():\n    {end}\n\nmain()\n"
    sources = {"train.ppy": source, "lower.py": "def f():\n    raise OSError(2, 'x')\nf()\n"}
    launcher = lay(sources)
    app = launcher.parent / "app"
    native, plain = run(launcher), python(app, str(app / "train.ppy"))
    assert (native.returncode, native.stdout) == (plain.returncode, plain.stdout)
    native_lines, plain_lines = native.stderr.splitlines(), plain.stderr.splitlines()
    assert [line for line in native_lines if "Thread-" not in line] == [
        line for line in plain_lines if "Thread-" not in line
    ]
    assert native.returncode == -signal.SIGINT or "Keyboard" not in end


def test_a_signal_reaches_the_program(lay: Lay) -> None:
    source = "print('ready', flush=True)\nwhile True:\n    pass\n"
    launcher = lay({"train.ppy": source}, bound=[])
    process = subprocess.Popen(
        [launcher],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PPY_PYTHON": sys.executable},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    try:
        _, shown = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == -signal.SIGINT
    assert b"KeyboardInterrupt" in shown
    assert b"launch.py" not in shown


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_several_processes(lay: Lay, run: Run, method: str) -> None:
    source = ADD + (
        "import multiprocessing, lower\n"
        "def ask(x): return x, ppy.native.compiled(add), lower.X\n"
        "if __name__ == '__main__':\n"
        f"    with multiprocessing.get_context({method!r}).Pool(2) as pool:\n"
        "        print(pool.map(ask, [1]), pool.map(add, [3]))\n"
    )
    launcher = lay({"train.ppy": source, "lower.ppy": "X = 5\n"})
    assert output(run(launcher)) == "[(1, True, 5)] [7]\n"


def test_nothing_is_written_inside(lay: Lay, run: Run) -> None:
    source = ADD + (
        "import multiprocessing, pkg.m, sys\n"
        "if __name__ == '__main__':\n"
        "    multiprocessing.get_context('spawn').Process(target=print, args=(1,)).run()\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool: pool.map(add, [3])\n"
        "    print(sys.dont_write_bytecode)\n"
    )
    launcher = lay({"train.ppy": source, "pkg/__init__.ppy": "", "pkg/m.py": ""})
    before = sorted(launcher.parent.rglob("*"))
    assert output(run(launcher)) == "1\nFalse\n"
    assert sorted(launcher.parent.rglob("*")) == before


@pytest.mark.parametrize("name", ["with space", "naïve-привет", "quote'\"$(x)"])
def test_any_path(lay: Lay, run: Run, tmp_path: Path, name: str) -> None:
    source = ADD + "import os, sys\nprint(ppy.native.compiled(add), os.path.isfile(__file__))\n"
    launcher = lay({"train.ppy": source}, root=tmp_path / name)
    assert output(run(launcher)) == "True True\n"
    link = tmp_path / "link"
    link.symlink_to(launcher)
    second = tmp_path / "second"
    second.symlink_to("link")
    assert output(run(second)) == "True True\n"
    assert output(run("./link", cwd=tmp_path)) == "True True\n"
    assert output(run(f"./{name}/start", cwd=tmp_path)) == "True True\n"


def test_read_only(lay: Lay, run: Run) -> None:
    launcher = lay({"train.ppy": ADD + "print(add(1))\n"})
    folders = [launcher.parent, *(path for path in launcher.parent.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        assert output(run(launcher)) == "5\n"
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_moved(lay: Lay, run: Run, tmp_path: Path) -> None:
    launcher = lay({"train.ppy": ADD + "print(add(1), __file__)\n"})
    moved = launcher.parent.rename(tmp_path / "elsewhere")
    assert output(run(moved / "start")) == f"5 {moved}/app/train.ppy\n"


def test_its_own_runtime_is_used(lay: Lay, run: Run, tmp_path: Path) -> None:
    other = tmp_path / "other" / "ppy"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("raise ImportError('another ppy')\n", encoding="utf-8")
    launcher = lay({"train.ppy": ADD + "print(ppy.__file__)\n"})
    shown = output(run(launcher, env={"PYTHONPATH": str(other.parent)}))
    assert shown == f"{launcher.parent}/ppy/__init__.py\n"


def test_the_launcher_is_a_script_of_python_too(lay: Lay) -> None:
    """As `torchrun` starts it."""
    launcher = lay({"train.ppy": ADD + "import sys\nprint(add(1), sys.argv, sys.path[0])\n"})
    app = launcher.parent / "app"
    assert (
        output(python(Path("/"), str(launcher), "a")) == f"5 ['{app}/train.ppy', 'a'] {app}\n"
    )


def test_data_files(lay: Lay, run: Run) -> None:
    source = (
        "import ppy\n"
        "for path in ('w/a.txt', 'w', 'none', 'train.ppy', '../app', '/etc'):\n"
        "    try:\n"
        "        at = ppy.resource(path)\n"
        "        print(at.name, at.is_absolute(), at.is_file() and at.read_text())\n"
        "    except (FileNotFoundError, ValueError) as error:\n"
        "        print(type(error).__name__)\n"
    )
    launcher = lay({"train.ppy": source, "../data/w/a.txt": "weights"}, bound=[])
    expected = ["a.txt True weights", "w True False", *["FileNotFoundError"] * 2]
    expected += ["ValueError"] * 2
    assert output(run(launcher)).splitlines() == expected


def test_data_files_under_plain_python(tmp_path: Path) -> None:
    source = "import ppy\nprint(ppy.resource('w/./a.txt'))\n"
    for path, text in {"ppy.toml": "", "w/a.txt": "", "src/p/train.ppy": source}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    main = str(tmp_path / "src/p/train.ppy")
    assert output(python(Path("/"), main)) == f"{tmp_path}/w/a.txt\n"
