"""A hostile archive writes nothing outside its folder, and not much inside it."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from examples import examples
from repertoire.domain.errors import SourceError, SourceRefused
from repertoire.sources.archives import ArchiveBounds, Unpacked, single_root, unpack


def tar(path: Path, *members: tuple[str, bytes] | tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
    return path


def zipped(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.fixture
def room(tmp_path: Path) -> Path:
    folder = tmp_path / "deep" / "room"
    folder.mkdir(parents=True)
    return folder


def everything_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def test_the_files_of_a_tar_and_of_a_zip_are_unpacked(tmp_path: Path, room: Path) -> None:
    one = unpack(tar(tmp_path / "a.tgz", ("package/index.js", b"a"), ("package/lib/b.js", b"b")), room)
    assert one == Unpacked(("package/index.js", "package/lib/b.js"))
    assert single_root(one) == "package"
    two = unpack(zipped(tmp_path / "a.whl", ("m/__init__.py", b""), ("m-1.dist-info/METADATA", b"x")), room)
    assert set(two.files) == {"m/__init__.py", "m-1.dist-info/METADATA"}
    assert single_root(two) == ""
    assert (room / "package/lib/b.js").read_bytes() == b"b"


def test_no_path_leaves_the_folder(tmp_path: Path, room: Path) -> None:
    names = ["../out", "a/../../out", "/etc/out", "..\\out", "C:\\out", "C:out", "a//b", "", "a/./b", "con.txt", "x\0y"]
    in_tar = unpack(tar(tmp_path / "a.tgz", *((name, b"!") for name in names if name)), room)
    in_zip = unpack(zipped(tmp_path / "a.zip", *((name, b"!") for name in names if name)), room)
    assert {path.name for path in tmp_path.iterdir()} == {"a.tgz", "a.zip", "deep"}
    assert everything_below(tmp_path / "deep") <= {"room/a/b", "room/x"}  # zipfile cuts a name at its NUL
    assert len(in_tar.refused) >= 8
    assert len(in_zip.refused) >= 7


def test_links_and_devices_are_refused(tmp_path: Path, room: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    unpacked = unpack(zipped(tmp_path / "a.zip", (link, b"/etc/passwd"), ("good", b"g")), room)
    assert (unpacked.files, unpacked.refused) == (("good",), (("link", "a link"),))
    members = (
        special("soft", tarfile.SYMTYPE, "/etc"),
        ("soft/passwd", b"mine"),
        special("hard", tarfile.LNKTYPE, "good"),
        special("null", tarfile.CHRTYPE),
        special("pipe", tarfile.FIFOTYPE),
    )
    unpacked = unpack(tar(tmp_path / "a.tgz", *members), room)
    assert unpacked.files == ("soft/passwd",)
    assert not (room / "soft").is_symlink()
    assert dict(unpacked.refused) == {
        "soft": "a link",
        "hard": "a link",
        "null": "not a regular file",
        "pipe": "not a regular file",
    }


def test_a_bomb_is_refused_before_it_fills_the_disk(tmp_path: Path, room: Path) -> None:
    blanks = bytes(30_000_000)
    for bomb in (zipped(tmp_path / "a.zip", ("blank", blanks)), tar(tmp_path / "a.tgz", ("blank", blanks))):
        with pytest.raises(SourceRefused, match="200 times its size"):
            unpack(bomb, room, bounds=ArchiveBounds(file_bytes=40_000_000))
        written = sum(path.stat().st_size for path in room.rglob("*") if path.is_file())
        assert written < 11_000_000
        for path in room.iterdir():
            path.unlink()
    with pytest.raises(SourceRefused, match="more than 1 MB"):
        unpack(tar(tmp_path / "b.tgz", ("blank", blanks)), room, bounds=ArchiveBounds(total_bytes=1_000_000))


def test_an_entry_without_a_name_is_refused_and_the_rest_is_read(tmp_path: Path, room: Path) -> None:
    nameless = zipfile.ZipInfo("a")
    nameless.filename = ""
    found = unpack(zipped(tmp_path / "a.zip", (nameless, b"lost"), ("kept.txt", b"kept")), room)
    assert found.files == ("kept.txt",)
    assert len(found.refused) == 1


def test_too_many_entries_are_refused(tmp_path: Path, room: Path) -> None:
    members = [(f"{number}", b"") for number in range(30)]
    for archive in (tar(tmp_path / "a.tgz", *members), zipped(tmp_path / "a.zip", *members)):
        with pytest.raises(SourceRefused, match="more than 20 entries"):
            unpack(archive, room, bounds=ArchiveBounds(entries=20))
        for path in room.iterdir():
            path.unlink()
    listed = zipped(tmp_path / "long.zip", *((f"{number}" + "x" * 2000, b"") for number in range(9)))
    with pytest.raises(SourceRefused, match="more than 20 entries"):  # by the size of its directory alone
        unpack(listed, room, bounds=ArchiveBounds(entries=20))


def test_a_large_file_is_left_out_and_the_rest_is_read(tmp_path: Path, room: Path) -> None:
    unpacked = unpack(
        zipped(tmp_path / "a.zip", ("big", b"x" * 300), ("small", b"y")), room, bounds=ArchiveBounds(file_bytes=200)
    )
    assert (unpacked.files, unpacked.refused) == (("small",), (("big", "larger than 200 bytes"),))


def test_a_name_that_is_taken_is_not_written_over(tmp_path: Path, room: Path) -> None:
    unpacked = unpack(
        tar(tmp_path / "a.tgz", ("a", b"first"), ("a", b"second"), ("a/b", b"below"), ("./c", b"c")), room
    )
    assert unpacked.files == ("a", "c")
    assert (room / "a").read_bytes() == b"first"
    assert len(unpacked.refused) == 2


def test_nothing_stays_of_a_damaged_entry_and_the_rest_is_read(tmp_path: Path, room: Path) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("bad", b"Hello")
        made.writestr("good", b"g")
    archive.write_bytes(archive.read_bytes().replace(b"Hello", b"JELLO"))

    unpacked = unpack(archive, room)

    assert (unpacked.files, [path for path, _ in unpacked.refused]) == (("good",), ["bad"])
    assert everything_below(room) == {"good"}


def test_a_name_too_long_for_this_system_is_left_out_and_the_rest_is_read(tmp_path: Path, room: Path) -> None:
    members = (("n" * 300, b"n"), (f"{'m' * 300}/m", b"m"), ("good", b"g"))
    for archive in (tar(tmp_path / "a.tgz", *members), zipped(tmp_path / "a.zip", *members)):
        unpacked = unpack(archive, room)
        assert (unpacked.files, len(unpacked.refused)) == (("good",), 2)
        assert unpacked.refused[0][1].startswith("cannot be written")
        (room / "good").unlink()


def test_what_is_no_archive_says_so(tmp_path: Path, room: Path) -> None:
    good = tar(tmp_path / "good.tgz", ("a", b"a" * 5000)).read_bytes()
    broken = (b"", b"hello", b"PK\x03\x04 but no more", good[: len(good) // 2], gzip.compress(b"no tar"))
    for number, data in enumerate(broken):
        path = tmp_path / f"{number}.tgz"
        path.write_bytes(data)
        with pytest.raises(SourceError, match="cannot be read as an archive"):
            unpack(path, room)


@examples(150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_bytes_do_anything_but_unpack_or_be_refused(tmp_path: Path, data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from(_seeds(tmp_path)))
    changed = bytearray(whole)
    for _ in range(data.draw(st.integers(0, 8))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "fuzzed"
    path.write_bytes(bytes(changed))
    room = tmp_path / "a" / "b" / f"{len(list(tmp_path.rglob('*')))}"
    room.mkdir(parents=True, exist_ok=True)
    try:
        unpacked = unpack(path, room, bounds=ArchiveBounds(entries=50, total_bytes=2_000_000))
    except SourceError:
        return
    assert all((room / name).resolve().is_relative_to(room) for name in unpacked.files)


def _seeds(folder: Path) -> list[bytes]:
    members = [("package/package.json", b"{}" * 40), ("package/../x", b"x"), ("y", b"y" * 200)]
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        archive.addfile(special("l", tarfile.SYMTYPE, "../.."))
    return [zipped(folder / "seed.zip", *members).read_bytes(), plain.getvalue()]
