"""The data folder is found for every way in which a machine states it, or does not."""

from __future__ import annotations

import os
import pwd
import stat
import sys
from pathlib import Path

import pytest

from repertoire.boot import home
from repertoire.boot.errors import HomeError

posix_layout = pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="the XDG layout is Linux's")


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("REPERTOIRE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_a_named_home_is_used_and_open_to_its_user_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REPERTOIRE_HOME", str(tmp_path / "a" / "b"))
    assert home.home() == tmp_path / "a" / "b"
    assert stat.S_IMODE(home.home().stat().st_mode) == 0o700


def test_naming_the_home_creates_nothing(tmp_path: Path) -> None:
    home.locate()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("named", "meant"), [("~/data", "data"), ("~", "")])
def test_a_quoted_tilde_means_the_users_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str, meant: str
) -> None:
    monkeypatch.setenv("REPERTOIRE_HOME", named)
    assert home.locate() == tmp_path / meant


def test_a_home_that_sqlite_cannot_name_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REPERTOIRE_HOME", os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    with pytest.raises(HomeError, match=r"caf\\udce9' is not UTF-8; set REPERTOIRE_HOME"):
        home.home()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there are no numbers without a user")
@pytest.mark.parametrize(("named", "known", "meant"), [("/data", False, "/"), ("", False, "~"), ("/data", True, "/u")])
def test_a_number_without_a_user_has_the_root_for_a_folder_where_the_home_is_named(
    monkeypatch: pytest.MonkeyPatch, named: str, known: bool, meant: str
) -> None:
    def user(number: int) -> pwd.struct_passwd:
        if known:
            return pwd.struct_passwd(("u", "x", number, number, "", "/u", "/bin/sh"))
        raise KeyError(number)

    monkeypatch.setenv("REPERTOIRE_HOME", named)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", user)
    home.name_user_folder()
    assert os.path.expanduser("~") == meant  # noqa: PTH111 - a path would refuse to be unknown


def test_a_relative_home_does_not_move_with_the_working_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REPERTOIRE_HOME", "data")
    assert home.locate() == tmp_path / "data"


@posix_layout
@pytest.mark.parametrize(
    ("xdg", "meant"),
    [(None, ".local/share/repertoire"), ("", ".local/share/repertoire"), ("relative", ".local/share/repertoire")],
)
def test_data_go_to_the_users_share_unless_the_desktop_says_where(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, xdg: str | None, meant: str
) -> None:
    if xdg is not None:
        monkeypatch.setenv("XDG_DATA_HOME", xdg)
    assert home.locate() == tmp_path / meant
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert home.locate() == tmp_path / "xdg" / "repertoire"


@posix_layout
@pytest.mark.parametrize("value", [None, "", "not/absolute"])
def test_without_HOME_the_users_record_says_where(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:  # noqa: N802
    monkeypatch.delenv("HOME")
    if value is not None:
        monkeypatch.setenv("HOME", value)
    assert home.locate() == Path(pwd.getpwuid(os.getuid()).pw_dir) / ".local/share/repertoire"


def test_a_home_that_cannot_be_created_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("REPERTOIRE_HOME", str(tmp_path / "file" / "data"))
    with pytest.raises(HomeError, match=r"cannot create the data folder .*file/data.*set REPERTOIRE_HOME"):
        home.home()


def test_a_file_where_the_home_should_be_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("REPERTOIRE_HOME", str(tmp_path / "file"))
    with pytest.raises(HomeError, match="cannot create"):
        home.home()


def test_everything_lies_in_one_folder(tmp_path: Path) -> None:
    for path in (home.database_path(tmp_path), home.environment_path(tmp_path), home.log_path(tmp_path)):
        assert path.is_relative_to(tmp_path)
