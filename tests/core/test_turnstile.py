"""The gate by itself: who waits for whom, and for how long."""

import struct
import threading
import time

import duckdb
import pytest
from rankroom import turnstile
from rankroom.turnstile import GateShut, Turnstile

READERS_TURN = 0.1
BUSY = 'IO Error: Could not set lock on file "x": Conflicting lock is held in /bin/duckdb (PID 7).'


@pytest.fixture(autouse=True)
def whole_turns(monkeypatch):
    monkeypatch.setattr(turnstile, "READERS_TURN", READERS_TURN)


@pytest.fixture
def gate(tmp_path) -> Turnstile:
    return Turnstile(tmp_path / "x.duckdb")


class Opening:
    """Something to open that is busy for the first so many tries."""

    def __init__(self, busy: int | float = 0, error: str = BUSY):
        self.busy, self.error, self.tries = busy, error, 0

    def __call__(self) -> str:
        self.tries += 1
        if self.tries <= self.busy:
            raise duckdb.IOException(self.error)
        return "opened"


def in_thread(work) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_readers_share_the_gate(gate):
    assert gate.read(lambda: gate.read(Opening(), wait=0), wait=0) == "opened"


def test_a_reader_frees_the_gate_once_it_has_opened(gate):
    gate.read(Opening(), wait=1)
    with gate.write(Opening(), wait=1) as opened:
        assert opened == "opened"


def test_a_reader_waits_while_a_writer_writes(gate):
    with gate.write(Opening(), wait=1), pytest.raises(GateShut):
        gate.read(Opening(), wait=0.1)
    assert gate.read(Opening(), wait=0.1) == "opened"


def test_a_writer_waits_while_another_writes(gate):
    with gate.write(Opening(), wait=1), pytest.raises(GateShut), gate.write(Opening(), wait=0.2):
        pass


def test_only_a_lock_of_another_process_is_tried_again(gate):
    opening = Opening(busy=3)
    assert gate.read(opening, wait=5) == "opened"
    assert opening.tries == 4
    for error in ("IO Error: Could not read from file", "IO Error: not a valid DuckDB database file"):
        opening = Opening(busy=3, error=error)
        with pytest.raises(duckdb.IOException, match=error):
            gate.read(opening, wait=5)
        with (
            pytest.raises(duckdb.IOException, match=error),
            gate.write(opening, wait=5),
        ):
            pass
        assert opening.tries == 2


def test_who_waits_too_long_gets_the_error_that_names_the_process(gate):
    with pytest.raises(duckdb.IOException, match="PID 7"):
        gate.read(Opening(busy=float("inf")), wait=0.1)
    with pytest.raises(duckdb.IOException, match="PID 7"), gate.write(Opening(busy=float("inf")), wait=0.3):
        pass


def test_readers_pass_between_the_tries_of_a_waiting_writer(gate, monkeypatch):
    monkeypatch.setattr(turnstile, "HOLD", 0.15)
    stop, waits = threading.Event(), []

    def write() -> None:
        with (
            pytest.raises(duckdb.IOException),
            gate.write(Opening(busy=float("inf")), wait=1.2),
        ):
            pass
        stop.set()

    writer = in_thread(write)
    while not stop.is_set():
        began = time.monotonic()
        gate.read(Opening(), wait=5)
        waits.append(time.monotonic() - began)
        time.sleep(0.01)
    writer.join()
    assert len(waits) > 5
    assert max(waits) < 1.0


def test_readers_pass_between_two_writers_that_come_at_once(gate, monkeypatch):
    monkeypatch.setattr(turnstile, "READERS_TURN", 0.5)
    order: list[str] = []

    def write() -> None:
        with gate.write(Opening(), wait=5):
            order.append("writer")
            time.sleep(0.1)

    writers = [in_thread(write), in_thread(write)]
    while not order:
        time.sleep(0.001)
    gate.read(lambda: order.append("reader"), wait=5)
    for writer in writers:
        writer.join()
    assert order == ["writer", "reader", "writer"]


def test_four_readers_in_a_loop_do_not_starve_a_writer(gate):
    stop = threading.Event()

    def loop() -> None:
        while not stop.is_set():
            gate.read(lambda: time.sleep(0.005), wait=5)
            time.sleep(0.005)

    readers = [in_thread(loop) for _ in range(4)]
    try:
        for _ in range(5):
            with gate.write(Opening(), wait=5) as opened:
                assert opened == "opened"
    finally:
        stop.set()
        for reader in readers:
            reader.join()


def test_the_gate_is_free_after_an_error_in_the_writer(gate):
    with pytest.raises(ZeroDivisionError), gate.write(Opening(), wait=1):
        raise ZeroDivisionError
    assert gate.read(Opening(), wait=0) == "opened"


@pytest.mark.parametrize("content", [b"", b"\xff" * 3, b"\xff" * 16, struct.pack("<dd", 9e9, 9e9)])
def test_what_an_old_program_or_a_wrong_clock_left_in_the_file_stops_nobody(gate, content):
    gate.path.write_bytes(content)
    assert gate.read(Opening(), wait=0) == "opened"
    with gate.write(Opening(), wait=0) as opened:
        assert opened == "opened"


def test_the_wish_of_a_writer_that_was_killed_passes_by_itself(gate):
    gate.path.write_bytes(struct.pack("<dd", 0, time.time() + turnstile.WANTED_FOR))
    with pytest.raises(GateShut):
        gate.read(Opening(), wait=0)
    assert gate.read(Opening(), wait=5) == "opened"
