"""Who is let in: the browser that has the link, and nobody through it."""

from __future__ import annotations

import pytest

from memory_keeper.dashboard.guard import COOKIE, Guard
from tests.dashboard.conftest import HERE, Browser
from tests.machine import Machine, Session

FORBIDDEN = 403


def test_without_the_cookie_nothing_is_said(machine: Machine, worked: Session) -> None:
    browser = Browser(machine)
    for path in ("", "sessions", "static/style.css", "part/live"):
        assert "retry" not in browser.get(path, FORBIDDEN)
    browser.client.cookies.set(COOKIE, "guessed")
    browser.get("", FORBIDDEN)


def test_the_link_opens_once(machine: Machine) -> None:
    browser = Browser(machine)
    link = browser.guard.link
    browser.get("enter?token=guessed", FORBIDDEN)
    entered = browser.client.get(link)
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and f"path={browser.guard.base}".lower() in cookie
    assert browser.client.get(link).status_code == 303  # it is known by now
    browser.client.cookies.clear()
    assert browser.client.get(link).status_code == FORBIDDEN


def test_a_look_ahead_does_not_spend_the_link(machine: Machine) -> None:
    browser = Browser(machine)
    assert browser.client.head(browser.guard.link).status_code == FORBIDDEN
    browser.enter()


def test_addresses_cannot_be_guessed(browser: Browser) -> None:
    for path in ("/", "/sessions", "/enter", "/static/style.css"):
        assert browser.client.get(path).status_code in (FORBIDDEN, 404)
    assert Guard(1).base != Guard(1).base


@pytest.mark.parametrize("host", ["evil.example", "evil.example:4711", "127.0.0.1:80", "127.0.0.1", ""])
def test_a_forged_host_is_refused(browser: Browser, host: str) -> None:
    browser.get("", FORBIDDEN, headers={"Host": host})


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:8080", "null", "https://127.0.0.1:4711"])
def test_another_origin_is_refused(browser: Browser, origin: str) -> None:
    browser.get("", FORBIDDEN, headers={"Origin": origin})


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_of_the_browser_is_refused(browser: Browser, site: str) -> None:
    browser.get("", FORBIDDEN, headers={"Sec-Fetch-Site": site})
    browser.get("", headers={"Sec-Fetch-Site": "same-origin"})


def test_only_what_pages_ask_is_answered(browser: Browser) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        answer = browser.client.request(method, f"{browser.guard.base}/", headers={"Origin": HERE})
        assert answer.status_code == 405


def test_a_form_of_another_site_is_refused(browser: Browser) -> None:
    fields = browser.fields(browser.get("tasks") + browser.get("rules"), "Retire")
    assert browser.post("retire", fields, Origin="http://evil.example").status_code == FORBIDDEN
    path = f"{browser.guard.base}/do/retire"
    assert browser.client.post(path, data=fields).status_code == FORBIDDEN  # of no origin
    for csrf in ("", "guessed"):
        assert browser.post("retire", {**fields, "csrf": csrf}).status_code == FORBIDDEN
    assert browser.post("retire", {**fields, "more": "x" * 70_000}).status_code == FORBIDDEN
    assert browser.client.get(path).status_code == 405


def test_nothing_runs_or_loads_but_what_is_ours(browser: Browser) -> None:
    answer = browser.client.get(f"{browser.guard.base}/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self';" in policy and "unsafe" not in policy
    assert answer.headers["x-frame-options"] == "DENY" and answer.headers["cache-control"] == "no-store"
    assert "http://" not in answer.text and "https://" not in answer.text
