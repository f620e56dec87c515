"""Threads for blocks of rows: the only parallel layer, with BLAS held to one thread beneath it."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from itertools import islice
from queue import SimpleQueue
from threading import Event, Lock, Semaphore, Thread
from threading import enumerate as enumerate_threads
from types import TracebackType
from typing import Any, Self, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")
WAITING_PER_WORKER = 4
STARTING = 1.0  # seconds that a thread takes to start at most


def can_start_threads() -> bool:
    """Whether there are threads: in a browser there are none."""
    return sys.platform != "emscripten"


class Workers:
    """A number of threads, which live as long as its with-block, or else as long as one `map`.

    Where threads cannot be started it is 1, whatever is asked for.

    >>> with Workers(2) as workers:
    ...     list(workers.map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def __init__(self, n_jobs: int = 1) -> None:
        self.n_jobs = n_jobs if can_start_threads() else 1
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        if self.n_jobs > 1:
            self._pool = ThreadPoolExecutor(self.n_jobs, thread_name_prefix="sleek")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            pool, self._pool = self._pool, None
            try:
                pool.shutdown(cancel_futures=True)
            except BaseException:  # an interrupt comes through when the threads have ended
                pool.shutdown(cancel_futures=True)
                raise

    def map_list(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """``list(map(function, items))``, where this thread works too and none waits for another.

        For a moderate number of items whose results may all be held. An error or an interrupt lets every
        thread finish the item it is at, then comes through. Not to be called from inside `function`.
        """
        if self.n_jobs == 1 or len(items) < 2:
            return [function(item) for item in items]
        if self._pool is None:
            with Workers(self.n_jobs) as workers:
                return workers.map_list(function, items)
        results: dict[int, Result] = {}
        todo, failed = iter(range(len(items))), Event()

        def work() -> None:
            for i in todo:
                if failed.is_set():
                    return
                try:
                    results[i] = function(items[i])
                except BaseException:
                    failed.set()
                    raise

        others: list[Future[None]] = []
        try:
            for _ in range(min(self.n_jobs, len(items)) - 1):
                others.append(self._pool.submit(work))
            work()
        except BaseException:  # an interrupt between two items, too
            failed.set()
            raise
        finally:
            wait(others)
        for other in others:
            other.result()
        return [results[i] for i in range(len(items))]

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
        """``map`` on the threads, results in order, never more than a few of them waiting.

        Items are taken in the caller's thread. An error or an interrupt, there or in a thread, cancels what
        has not begun and waits for what has: when it comes through, nothing runs any more. Not to be called
        from inside `function`.
        """
        todo = iter(items)
        if self.n_jobs == 1:
            yield from map(function, todo)
        elif self._pool is None:
            with Workers(self.n_jobs) as workers:
                yield from workers.map(function, todo)
        else:
            yield from self._stream(self._pool, function, todo)

    def _stream(
        self, pool: ThreadPoolExecutor, function: Callable[[Item], Result], todo: Iterator[Item]
    ) -> Generator[Result, None, None]:
        ahead = list(islice(todo, 2))
        if len(ahead) < 2:
            yield from map(function, ahead)  # a single item: no need to wake a thread
            return
        waiting: deque[Future[Result]] = deque(pool.submit(function, item) for item in ahead)
        try:
            waiting.extend(
                pool.submit(function, item) for item in islice(todo, WAITING_PER_WORKER * self.n_jobs - 2)
            )
            while waiting:
                yield waiting.popleft().result()
                waiting.extend(pool.submit(function, item) for item in islice(todo, 1))
        finally:
            for future in waiting:
                future.cancel()
            wait(waiting)


def read_ahead(items: Generator[Item, None, None], n_ahead: int) -> Generator[Item, None, None]:
    """The same items, made by a background thread, `n_ahead` of them before they are asked for.

    The thread has ended and `items` is closed when this generator is, whether all was made, making failed or
    nobody asked for more. Only the thread ever touches `items`: a generator that runs cannot be closed.
    Where threads cannot be started, items are made when they are asked for.
    """
    if not can_start_threads():
        with closing(items):
            yield from items
        return
    found: SimpleQueue[tuple[Item] | BaseException | None] = SimpleQueue()
    room, begun, stopped = Semaphore(n_ahead), Event(), Event()

    def make() -> None:
        begun.set()
        try:
            with closing(items):
                while room.acquire() and not stopped.is_set():
                    found.put((next(items),))
        except StopIteration:
            found.put(None)
        except BaseException as error:
            found.put(error)

    thread = Thread(target=make, name="sleek-reader", daemon=True)

    def end() -> None:
        stopped.set()
        room.release()
        if thread in enumerate_threads():
            begun.wait(STARTING)  # an interrupt may have come through while it was being started
        if thread.is_alive():
            thread.join()

    try:
        thread.start()
        while (item := found.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            room.release()
            yield item[0]
    finally:
        try:  # here and not in a function: an interrupt may arrive as one is entered
            end()
        except BaseException:
            end()
            raise


class _BlasGuard:
    """Counts who asked for single-threaded BLAS: the first switches it on, the last restores what was.

    The setting belongs to the process. Without the count, two fits in two Python threads could end in
    the order in which the second restores the first one's limit, for good.

    To look for libraries takes half a millisecond, as long as the prediction of a thousand rows, and
    switching 20 µs: they are looked for again only when Python has loaded another module.
    """

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0
        self.n_modules = 0
        self.libraries: Any = None
        self.limits: Any = None

    def enter(self) -> None:
        with self.lock:
            if self.users == 0:
                if self.n_modules != len(sys.modules):
                    self.n_modules, self.libraries = len(sys.modules), ThreadpoolController()
                self.limits = self.libraries.limit(limits=1, user_api="blas")
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0 and self.limits is not None:
                self.limits.restore_original_limits()
                self.limits = None


_blas_guard = _BlasGuard()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread inside; may be nested and entered from several threads at once."""
    _blas_guard.enter()
    try:
        yield
    finally:
        _blas_guard.leave()
