"""The demo in a real browser, from the leaderboard to a failing question: what AppTest cannot drive."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect, sync_playwright
from rankroom.store import Store
from small_stores import add_small

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
RUN = "documentation_example"
WAIT = 30_000

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine"),
]

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass(frozen=True)
class Demo:
    address: str
    store: Path

    def value(self, query: str) -> object:
        with Store(self.store).read() as con:
            ((value,),) = con.execute(query).fetchall()
        return value


@pytest.fixture(scope="module")
def demo(demo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    store = tmp_path_factory.mktemp("demo") / "demo.duckdb"
    shutil.copyfile(demo_file, store)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "rankroom",
        "serve",
        "--store",
        store,
        "--port",
        str(port),
        "--no-browser",
    ]
    with (store.parent / "log.txt").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        wait_for(f"http://localhost:{port}/_stcore/health", process)
        yield Demo(f"http://localhost:{port}", store)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)


def wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        assert process.poll() is None, "the demo ended"
        try:
            urllib.request.urlopen(address).close()
            return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"nothing answers at {address}")


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """One tab for all tests: what a browser keeps of the app, it has to load and compile once."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        page = chromium.new_page(viewport={"width": 1440, "height": 1200}, reduced_motion="reduce")
        page.set_default_timeout(WAIT)
        yield page
        chromium.close()


def says(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.get_by_text(text).first).to_be_visible(timeout=WAIT)


def choose(page: Page, box: str, option: str) -> None:
    page.get_by_role("combobox", name=box).click()
    page.get_by_role("option", name=option, exact=True).click()


def click_in_first_row(page: Page, leads_to: str, start: int) -> None:
    """Click along the first row of the page's table, a canvas, from here on until its button is hit."""
    table = page.get_by_test_id("stDataFrame").first
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    for x in range(start, int(box["width"]), 25):
        page.mouse.click(box["x"] + x, box["y"] + 53)
        page.wait_for_timeout(250)
        if leads_to in page.url:
            return
    raise AssertionError(f"no button in the first row leads to {leads_to}")


def test_from_the_leaderboard_and_its_sql_to_the_evidence_of_a_failure(page: Page, demo: Demo) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    summary = f"from run_summary where run = '{RUN}' and split = 'all'"
    page.goto(f"{demo.address}/?data={RUN}")
    says(page, re.compile(rf"NDCG@5 {demo.value(f'select ndcg {summary} and k = 5'):.3f} over 3 queries"))

    choose(page, "Cutoff k", "3")
    page.wait_for_url(re.compile(r"[?&]k=3\b"))
    ndcg = demo.value(f"select ndcg {summary} and k = 3")
    says(page, re.compile(rf"NDCG@3 {ndcg:.3f} over 3 queries"))

    page.get_by_text("Show SQL").first.click()
    shown = page.get_by_test_id("stCode").first
    expect(shown).to_be_visible()
    with Store(demo.store).read() as con:
        result = con.sql(shown.inner_text())
        rows = [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]
    assert [row["ndcg"] for row in rows if row["run"] == RUN] == [ndcg]

    click_in_first_row(page, "failures", start=195)
    failing = demo.value(f"select count(*) from failures where run = '{RUN}' and k = 3")
    says(page, re.compile(rf"fails {failing} of 3 labelled queries at k = 3"))

    click_in_first_row(page, "query=q_sharing", start=70)
    says(page, "Who can edit a shared notebook")
    says(page, "1 of 2 relevant documents in the first 3")
    says(page, "Says that editors and the owner can edit, and viewers cannot.")

    page.get_by_role("button", name="All failures").click()
    says(page, re.compile(rf"fails {failing} of 3 labelled queries at k = 3"))
    assert errors == []


def test_a_new_run_appears_by_itself(page: Page, demo: Demo, tmp_path: Path) -> None:
    labels = {"q1": {"a": 1}, "q2": {"b": 1}}
    store = Store(demo.store)
    add_small(store, tmp_path, labels, {"lexical": {"q1": ["a"], "q2": ["c"]}}, dataset="fresh")
    page.goto(f"{demo.address}/?data=fresh")
    says(page, re.compile("NDCG@5 0.500 over 2 queries"))
    add_small(store, tmp_path, labels, {"dense": {"q1": ["a"], "q2": ["b"]}}, dataset="fresh")
    says(page, re.compile(r"is first of 2 runs by NDCG@5: 1\.000 over 2 queries"))


def test_a_link_carries_a_statement_and_another_can_be_asked(page: Page, demo: Demo) -> None:
    def downloaded() -> str:
        with page.expect_download() as file:
            page.get_by_role("button", name="CSV", exact=True).click()
        return file.value.path().read_text()

    statement = f"select run, ndcg from run_summary where k = 3 and split = 'all' and run = '{RUN}'"
    page.goto(f"{demo.address}/sql?statement={quote(statement)}")
    says(page, re.compile("^1 row in "))
    editor = page.get_by_role("textbox", name="Statement")
    expect(editor).to_have_value(statement)
    assert f"\n{RUN},{demo.value(statement.replace('run, ndcg', 'ndcg'))}\n" in downloaded().replace('"', "")

    editor.fill("select unnest([6, 7]) as answer")
    editor.press("Control+Enter")
    says(page, re.compile("^2 rows in "))
    page.wait_for_url(re.compile(r"statement=select.*answer"))
    assert downloaded().replace('"', "").split() == ["answer", "6", "7"]

    editor.fill("from read_text('/etc/passwd')")
    page.get_by_role("button", name="Run", exact=True).click()
    says(page, "This page reads nothing but the store")


def test_a_click_on_a_cell_of_a_map_leads_to_its_failures_and_back(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/slices?data={RUN}&k=3&thin=1&columns=runs")
    says(page, re.compile(r"is the worst slice of|stands below its mean"))
    page.locator("[data-testid=stVegaLiteChart] g.mark-text text").first.click()
    says(page, re.compile(rf"{RUN} fails .* at k = 3"))
    page.wait_for_url(re.compile(r"/failures\?.*category="))
    page.get_by_role("link", name="Slices").click()
    says(page, re.compile(r"is the worst slice of|stands below its mean"))
    page.wait_for_url(lambda url: "/slices" in url and "category=" not in url)


def test_from_the_pictures_of_a_comparison_to_its_queries(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/compare?data=help_centre&base=bm25_plain&cand=hybrid_rrf")
    says(page, re.compile(r"hybrid_rrf is better than bm25_plain at NDCG@5"))
    matrix = page.locator("[data-testid=stVegaLiteChart]", has_text="rank in the baseline")
    matrix.locator("g.mark-text text").first.click()
    says(page, re.compile(r"First relevant document of each query: rank \S+ → \S+ · \d+ quer"))

    scatter = page.locator("[data-testid=stVegaLiteChart]", has_text="NDCG@5 in the baseline")
    scatter.locator("g.mark-symbol path").last.click()  # the points of most queries come first
    says(page, re.compile("What should have come"))
    page.wait_for_url(re.compile(r"/query\?.*query="))
    page.get_by_role("link", name="Compare").click()
    says(page, re.compile(r"hybrid_rrf is better than bm25_plain at NDCG@5"))
    page.wait_for_url(re.compile(r"/compare\?.*cand=hybrid_rrf"))


def test_failures_are_walked_by_keyboard_and_a_note_survives_reloading(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.address}/failures?data={RUN}&k=1")
    failing = demo.value(f"select count(*) from failures where run = '{RUN}' and k = 1")
    says(page, re.compile(rf"fails {failing} of 3 labelled queries at k = 1"))
    expect(page.get_by_role("button", name="Step through")).to_be_enabled(timeout=WAIT)
    page.keyboard.press("ArrowRight")
    says(page, f"Failure 1 of {failing}")
    expect(page.get_by_role("button", name="Next")).to_be_enabled(timeout=WAIT)
    first = page.url
    page.keyboard.press("ArrowRight")
    says(page, f"Failure 2 of {failing}")
    assert page.url != first
    expect(page.get_by_role("button", name="Previous")).to_be_enabled(timeout=WAIT)
    page.keyboard.press("ArrowLeft")
    says(page, f"Failure 1 of {failing}")

    cause = "the index is <b>old</b> and costs $5 to $6"
    page.get_by_label("Cause", exact=True).fill(cause)
    page.get_by_label("Your name").last.fill("Noor")
    page.get_by_label("Your name").last.press("Tab")
    page.get_by_role("button", name="Add the note").click()
    says(page, cause)
    assert demo.value("select who || ': ' || cause from notes") == f"Noor: {cause}"
    page.goto("about:blank")
    page.goto(first)  # a link reproduces the page
    says(page, f"Failure 1 of {failing}")
    expect(page.get_by_role("list", name="Notes")).to_contain_text(cause, timeout=WAIT)
