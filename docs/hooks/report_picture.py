"""The picture of the report in the README, `docs/assets/report.png`: `make picture`.

Beside it `report.json` has the counts that the picture shows, as the page says them, and the hash
of the picture. A test compares them with a run: the picture is made anew when they change.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnx
from playwright.sync_api import Page, sync_playwright

__all__ = ["COUNTS", "MODEL", "PICTURE", "SHOWN", "make_picture"]

MODEL = Path(onnx.__file__).parent / "backend/test/data/light/light_resnet50.onnx"
PICTURE = Path(__file__).parents[1] / "assets" / "report.png"
COUNTS = PICTURE.with_suffix(".json")
SHOWN = "fuse-ops"
"""The pass that the picture shows."""


def make_picture() -> None:
    """Optimize ResNet-50, and write the picture of the report and the counts in it."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        options = ["-O3", "--no-plugins-in-pipelines", "--quiet", f"--report={report}"]
        options += ["-o", f"{folder}/resnet50.mlir"]
        # In a process of its own: the report is that of a first run.
        command = [sys.executable, "-m", "passline.tools.opt", str(MODEL), *options]
        subprocess.run(command, check=True)
        with sync_playwright() as playwright:
            chromium = shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            size: Any = {"width": 1400, "height": 900}
            page = browser.new_page(viewport=size, device_scale_factor=1.5, color_scheme="light")
            page.goto(report.as_uri())
            page.wait_for_selector("html[data-ready]")
            show(page)
            page.screenshot(path=PICTURE)
            counts = counts_on(page)
            browser.close()
    counts["sha256"] = sha256(PICTURE.read_bytes()).hexdigest()
    COUNTS.write_text(json.dumps(counts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def show(page: Page) -> None:
    """Show what the pass changed, and what is known of an operation that it moved."""
    row = page.locator("#timeline li", has_text=SHOWN).last
    row.click()
    page.wait_for_selector(f"main[data-shown='{row.get_attribute('data-index')}']")
    page.locator(".ir.old:has(.gone) code.op").first.click()
    page.locator("#operation").wait_for()
    page.locator("h1").hover()
    page.locator("main .facts").scroll_into_view_if_needed()


def counts_on(page: Page) -> dict[str, Any]:
    """Return the numbers that the page shows, without times."""
    summary = page.locator("#summary").inner_text()
    place, *_, ops, fused = page.locator("main .facts li").all_inner_texts()
    differences = page.locator("main .differences li").all_inner_texts()
    return {
        "model": page.locator("h1").inner_text(),
        "passes": number(summary, r"(\S+) passes"),
        "changed": number(summary, r"(\S+) changed the IR"),
        "pass": page.locator("main h2").inner_text(),
        "place": place.removeprefix("pass "),
        "ops": number(ops, r"(\S+) ops"),
        "growth": number(ops, r"\((\S+)\)"),
        "fused": number(fused, r"fused (\S+)"),
        "differences": {text.split()[1]: number(text, r"(\S+)") for text in differences},
    }


def number(text: str, pattern: str) -> int:
    """Return the number in `text` at the group of `pattern`; ValueError if there is none."""
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"'{text}' does not match '{pattern}'")
    return int(found[1].replace(",", "").replace("\N{MINUS SIGN}", "-"))


if __name__ == "__main__":
    sys.exit(make_picture())
