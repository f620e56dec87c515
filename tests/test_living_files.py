"""Model files that several processes update: the sums are those of the rows that were acknowledged."""

import os
import stat
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

import sleek
from sleek._runtime.atomic import write_atomically
from sleek._runtime.locks import lock
from sleek.cli import updating
from sleek.cli.exits import InputError
from sleek.closed_form.running_sums import RunningSums

BATCHES = 8


def rows(n, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    return pd.DataFrame({"a": a, "b": b, "y": np.sin(a) + b + 0.1 * rng.normal(size=n)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    first = rows(200, 0)
    estimator = sleek.LowRankLSSVR(4, basis="gaussian_rbf", C=10.0, random_state=0)
    estimator.fit(first[["a", "b"]], first["y"])
    estimator.model_.save(folder / "first.json", {"target": "y"}, moments=True)
    first[:30].to_csv(folder / "part.csv", index=False)
    for number in range(BATCHES):
        rows(20, 1 + number).to_csv(folder / f"{number}.csv", index=False)
    return folder


def update(folder, model, data, **options):
    change = updating.Change(**options)
    return updating.update_file(model, folder / data, model, change, lambda: None)


def sums_of(model, tables):
    """The fit's own sums and those of the tables, in one pass."""
    first = model.memory.sums
    table = pd.concat(tables)
    Phi = model.features(table[["a", "b"]].to_numpy())
    T = (table[["y"]].to_numpy() - model.outputs.mean) / model.outputs.scale
    return (first + RunningSums.of(Phi, T, first.origin)).products


def assert_holds(folder, path, batches):
    """The file has the sums of the first rows and of these batches, each as often as it is named."""
    first, model = sleek.load(folder / "first.json"), sleek.load(path)
    tables = [pd.read_csv(folder / f"{number}.csv") for number in batches]
    expected = sums_of(first, tables) if tables else first.memory.sums.products
    assert model.memory.n_rows == 200 + 20 * len(tables)
    np.testing.assert_allclose(model.memory.sums.products, expected, rtol=0, atol=1e-9)


# -- any order of updates, forgets and merges ---------------------------------------------------------------


def test_any_sequence_ends_in_the_rows_that_were_acknowledged(folder, tmp_path):
    numbers = st.integers(0, BATCHES - 1)

    class Living(RuleBasedStateMachine):
        @initialize()
        def begin(self):
            self.path, self.there, self.left = tmp_path / "m.json", Counter(), set()
            self.path.write_bytes((folder / "first.json").read_bytes())

        @rule(number=numbers, again=st.booleans())
        def comes(self, number, again):
            if self.there[number] and not again:
                with pytest.raises(InputError, match="came into this model before"):
                    update(folder, self.path, f"{number}.csv")
                return
            update(folder, self.path, f"{number}.csv", again=again)
            self.there[number] += 1
            self.left.discard(number)

        @rule(number=numbers)
        def leaves(self, number):
            if self.there[number]:
                update(folder, self.path, f"{number}.csv", forget=True)
                self.there[number] -= 1
                self.left.add(number)
            else:
                why = "left this model before" if number in self.left else "did not come into this model"
                with pytest.raises(InputError, match=why):
                    update(folder, self.path, f"{number}.csv", forget=True)

        @rule(number=numbers)
        def merges(self, number):
            site = tmp_path / "site.json"
            alone = updating.Change(alone=True)
            updating.update_file(folder / "first.json", folder / f"{number}.csv", site, alone, lambda: None)
            both = [sleek.load(self.path), sleek.load(site)]
            if self.there[number]:
                with pytest.raises(ValueError, match="would count twice"):
                    sleek.merge(both)
                return
            sleek.merge(both).save(self.path, moments=True)
            self.there[number] += 1
            self.left.discard(number)

        @invariant()
        def holds(self):
            if hasattr(self, "path"):
                assert_holds(folder, self.path, self.there.elements())
                assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]

    run_state_machine_as_test(
        Living,
        settings=settings(
            max_examples=6, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def test_a_part_of_the_rows_is_forgotten_once(folder, tmp_path):
    path = tmp_path / "m.json"
    path.write_bytes((folder / "first.json").read_bytes())
    with pytest.raises(InputError, match=r"did not come into this model as it is\. --again takes out"):
        update(folder, path, "part.csv", forget=True)
    update(folder, path, "part.csv", forget=True, again=True)
    assert sleek.load(path).memory.n_rows == 170
    with pytest.raises(InputError, match="left this model before"):
        update(folder, path, "part.csv", forget=True)
    update(folder, path, "part.csv")  # may come back, and leave again
    update(folder, path, "part.csv", forget=True)
    assert sleek.load(path).memory.n_rows == 170


# -- several processes --------------------------------------------------------------------------------------

SWARM = """
import os, random, shutil, signal, sys, time
from pathlib import Path
from sleek.cli import updating

folder, out = Path(sys.argv[1]), Path(sys.argv[2])

def update(path, number, place):
    updating.update_file(path, folder / f"{number}.csv", place, updating.Change(), lambda: None)

update(folder / "first.json", 0, out / "warm.json")  # loads and compiles what processes then share
for seed, kills in enumerate(map(int, sys.argv[3:])):
    chance, path = random.Random(seed), out / f"{seed}.json"
    shutil.copy(folder / "first.json", path)
    read, write = os.pipe()
    children = []
    for number in range(8):
        child = os.fork()
        if child == 0:
            update(path, number, path)
            os.write(write, bytes([number]))
            os._exit(0)
        children.append(child)
    for child in chance.sample(children, kills):
        time.sleep(chance.expovariate(1 / 0.03))
        os.kill(child, signal.SIGKILL)
    codes = [os.waitpid(child, 0)[1] for child in children]
    assert all(code in (0, signal.SIGKILL) for code in codes), codes
    os.close(write)
    print(*sorted(os.read(read, 100)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_processes_at_once_lose_no_rows_and_kills_none_that_were_acknowledged(folder, tmp_path):
    kills = [0, 3, 5, 5, 7, 7, 8]
    command = [sys.executable, "-c", SWARM, str(folder), str(tmp_path), *map(str, kills)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for seed, line in enumerate(done.stdout.splitlines()):
        path, acknowledged = tmp_path / f"{seed}.json", {int(number) for number in line.split()}
        assert kills[seed] or len(acknowledged) == BATCHES
        came_in = {number for number in range(BATCHES) if name_of(folder, number) in origins(path)}
        assert acknowledged <= came_in
        assert_holds(folder, path, came_in)
        for number in range(BATCHES):  # whoever was killed tries again, and is told if the rows are in
            with nullcontext() if number not in came_in else pytest.raises(InputError, match="came into"):
                update(folder, path, f"{number}.csv")
        assert_holds(folder, path, range(BATCHES))


def origins(path):
    return sleek.load(path).memory.origins


def name_of(folder, number):
    table = pd.read_csv(folder / f"{number}.csv", float_precision="round_trip")
    empty = sleek.load(folder / "first.json").emptied()
    return empty.partial_fit(table[["a", "b"]], table["y"]).memory.origins[0]


def test_commands_wait_for_each_other(folder, tmp_path):
    path = tmp_path / "m.json"
    path.write_bytes((folder / "first.json").read_bytes())
    command = [sys.executable, "-m", "sleek", "update", str(path)]
    running = [
        subprocess.Popen([*command, str(folder / f"{n}.csv")], stdout=subprocess.PIPE) for n in range(2)
    ]
    said = [process.communicate()[0].decode() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert all("20 added" in text for text in said)
    assert_holds(folder, path, range(2))
    assert [file.name for file in tmp_path.iterdir()] == ["m.json"]


def test_a_file_that_others_write_meanwhile_is_left_alone(folder, tmp_path, monkeypatch):
    path = tmp_path / "m.json"
    path.write_bytes((folder / "first.json").read_bytes())
    whole = updating.update

    def slowly(*arguments):
        found = whole(*arguments)
        path.write_bytes((folder / "first.json").read_bytes() + b"\n")  # without the lock
        return found

    monkeypatch.setattr(updating, "update", slowly)
    with pytest.raises(InputError, match="changed by another program"):
        update(folder, path, "0.csv")
    assert path.read_bytes().endswith(b"\n\n")
    assert [file.name for file in tmp_path.iterdir()] == ["m.json"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to(folder, tmp_path):
    path = tmp_path / "closed" / "m.json"
    path.parent.mkdir()
    path.write_bytes((folder / "first.json").read_bytes())
    path.parent.chmod(0o555)
    with pytest.raises(InputError, match="Permission denied"):
        update(folder, path, "0.csv")
    updating.update_file(path, folder / "0.csv", tmp_path / "m.json", updating.Change(), lambda: None)
    path.parent.chmod(0o755)
    assert sleek.load(tmp_path / "m.json").memory.n_rows == 220


# -- locks and files ----------------------------------------------------------------------------------------


def test_a_lock_is_held_by_one_and_leaves_nothing(tmp_path):
    inside, most, waits = [], [], []

    def work():
        for _ in range(20):
            with lock(tmp_path / "file", lambda: waits.append(1)):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.0005)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 80
    assert set(most) == {1}
    assert waits
    assert not list(tmp_path.iterdir())


def test_a_link_has_the_lock_of_its_file(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")
    with lock(tmp_path / "link"):
        assert [path.name for path in (tmp_path / "folder").iterdir()] == [".file.lock"]


def test_locks_that_cannot_be(tmp_path):
    with lock(tmp_path / "nowhere" / "file", needed=False):
        pass
    with pytest.raises(FileNotFoundError), lock(tmp_path / "nowhere" / "file"):
        pass


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_a_file_keeps_its_permissions(tmp_path, mode):
    path, link = tmp_path / "m", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(mode)
    link.symlink_to(path)
    for name in (path, link):
        write_atomically(name, b"new")
        assert stat.S_IMODE(path.stat().st_mode) == mode
    assert link.is_symlink()


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_a_new_file_has_the_permissions_of_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "m", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["a" * 250, "ä" * 125, "名" * 80])
def test_long_names(tmp_path, name):
    with lock(tmp_path / name):
        write_atomically(tmp_path / name, b"x")
    assert [path.name for path in Path(tmp_path).iterdir()] == [name]
