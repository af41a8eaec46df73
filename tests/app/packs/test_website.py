"""A website is read politely and within bounds; what must not be reached is not; a killed fetch goes on."""

from __future__ import annotations

import datetime as dt
import gzip
import ssl
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from app.packs.web_server import answer, page, serving
from repertoire.app.packs.build import BuildRequest, build_pack
from repertoire.app.packs.pages import file_of
from repertoire.app.packs.shelf import PackShelf
from repertoire.app.packs.updating import UpdateRequest, _address, update_pack
from repertoire.app.packs.website import SiteBounds, fetch_site, is_website, site_folder
from repertoire.app.wiring import open_new_pack, open_pack_file
from repertoire.domain.errors import SourceError, SourceRefused
from repertoire.settings import Settings
from repertoire.sources.public_hosts import PublicHosts
from repertoire.sources.web import PageFailed, PageLimits, WebClient
from repertoire.store.pack_file import PackStore

LOCAL = frozenset({"127.0.0.1"})
SITE = {
    "/docs/": page("Start", "<p>See <a href='/docs/soak#how'>soaking</a>, <a href='tools.html'>tools</a>, "
                   "<a href='/blog/'>blog</a>, <a href='https://elsewhere.example/'>there</a>.</p>"),
    "/docs/soak": page("Soaking", "<h2 id='how'>How long</h2><p>Seven days. <a href='/docs/deep.html'>More</a></p>"),
    "/docs/tools.html": page("Tools", "<p>A bodkin opens the weave.</p>"),
    "/docs/deep.html": page("Deep", "<p>Deeper.</p>"),
    "/blog/": page("Blog", "<p>News.</p>"),
}  # fmt: skip


def bounds(**more):
    return SiteBounds(**{"allowed": LOCAL, "interval": 0.0, **more})


def fetch(home, url, client=None, **more):
    asked = bounds(**more)
    return fetch_site(home, url, asked, max_bytes=10_000_000, report=lambda *_: None, client=client)


def client_of(**more):
    waits = []
    return WebClient(PublicHosts(LOCAL), pause=waits.append, **more), waits


def build(home, url, **more):
    asked = BuildRequest("site", url, site=bounds(**more), replace=True)
    return build_pack(home, asked, open_new_pack, embedder=None, settings=Settings(), report=lambda *_: None)


def test_pages_are_followed_within_their_folder_to_a_depth(tmp_path):
    with serving(SITE) as server:
        assert [*fetch(tmp_path / "0", f"{server.url}/docs/").documents] == ["docs/index.html"]
        one = fetch(tmp_path / "1", f"{server.url}/docs/", depth=1)
        assert [*one.documents] == ["docs/index.html", "docs/soak.html", "docs/tools.html"]
        assert len(fetch(tmp_path / "2", f"{server.url}/docs/", depth=2).documents) == 4
        few = fetch(tmp_path / "3", f"{server.url}/docs/", depth=2, pages=2)
        assert len(few.documents) == 2
        assert "more pages are known" in few.refused["."]
        assert "/blog/" not in server.asked


def test_a_pack_of_a_website_cites_pages_whose_links_lead_to_each_other(tmp_path):
    with serving(SITE) as server:
        built = build(tmp_path / "a", f"{server.url}/docs/", depth=2)
        again = build(tmp_path / "b", f"{server.url}/docs/", depth=2)
        assert built.manifest.hashes == again.manifest.hashes
        assert built.manifest.sources[0].address == f"{server.url}/docs/" == _address(built.manifest)
        assert (built.folder / "urls.txt").read_text().split() == [
            f"{server.url}/docs/{name}" for name in ("", "deep.html", "soak", "tools.html")
        ]
        assert not site_folder(tmp_path / "a", f"{server.url}/docs/", bounds(depth=2)).exists()
    assert built.manifest.statistics.links == 3
    with PackStore.open(built.folder / "pack.db") as store:
        anchors = {(article.path, one.anchor) for article in store.articles() for one in article.sections}
    assert ("docs/soak.html", "how") in anchors


def test_a_sitemap_and_an_index_of_sitemaps_name_the_pages(tmp_path):
    with serving({**SITE}) as server:
        listed = "".join(f"<url><loc>{server.url}/docs/{name}</loc></url>" for name in ("soak", "tools.html", "gone"))
        inner = f"<urlset>{listed}<url><loc>https://elsewhere.example/x</loc></url></urlset>"
        index = f"<sitemapindex><sitemap><loc>{server.url}/inner.xml</loc></sitemap></sitemapindex>"
        server.routes["/inner.xml"] = lambda handler: answer(handler, inner.encode(), kind="application/xml")
        server.routes["/sitemap.xml"] = lambda handler: answer(handler, index.encode(), kind="text/xml")
        opened = fetch(tmp_path, f"{server.url}/sitemap.xml")
        assert [*opened.documents] == ["docs/soak.html", "docs/tools.html"]
        assert list(opened.refused.values()) == [f"{server.url}/docs/gone answers 404"]


def test_robots_decide_what_is_fetched_and_how_fast(tmp_path):
    robots = "User-agent: *\nDisallow: /docs/tools\nCrawl-delay: 4\n"
    with serving(
        {**SITE, "/robots.txt": lambda handler: answer(handler, robots.encode(), kind="text/plain")}
    ) as server:
        client, waits = client_of()
        opened = fetch(tmp_path / "a", f"{server.url}/docs/", client, depth=1)
        assert "/docs/tools.html" not in server.asked
        assert opened.refused[f"{server.url}/docs/tools.html"] == "its robots.txt forbids it"
        assert waits
        assert all(3 < seconds <= 4 for seconds in waits)
        server.routes["/robots.txt"] = 503
        with pytest.raises(SourceError, match=r"robots\.txt cannot be read"):
            fetch(tmp_path / "b", f"{server.url}/docs/")
        server.asked.clear()
        server.routes["/robots.txt"] = lambda handler: answer(
            handler, b"User-agent: *\nDisallow: /\n", kind="text/plain"
        )
        with pytest.raises(SourceError, match="forbids it"):
            fetch(tmp_path / "c", f"{server.url}/docs/")
        assert server.asked == ["/robots.txt"]


@pytest.mark.parametrize("line", ["Crawl-delay: \u00b2", f"Crawl-delay: {'9' * 400}"])
def test_a_site_whose_robots_cannot_be_understood_is_not_read_and_told(tmp_path, line):
    robots = f"User-agent: *\n{line}\n".encode()
    with serving({**SITE, "/robots.txt": lambda handler: answer(handler, robots, kind="text/plain")}) as server:
        with pytest.raises(SourceError, match=r"its robots\.txt cannot be read"):
            fetch(tmp_path, f"{server.url}/docs/")
        assert server.asked == ["/robots.txt"]


def test_a_host_with_letters_beyond_ascii_is_asked_by_the_name_that_it_has_on_the_wire():
    with serving({"/": lambda handler: answer(handler, handler.headers["Host"].encode())}) as server:
        port = server.server_address[1]
        hosts = PublicHosts(frozenset({"b\u00fccher.example"}), lambda *_: ["127.0.0.1"])
        with WebClient(hosts) as client:
            page_of = client.fetch(f"http://b\u00fccher.example:{port}/")
        assert page_of.body == f"xn--bcher-kva.example:{port}".encode()


def test_a_wait_that_is_no_number_is_a_short_one():
    with serving({"/": lambda handler: answer(handler, b"", status=429, Retry_After="\u00b2")}) as server:
        client, _ = client_of()
        with client, pytest.raises(PageFailed) as caught:
            client.fetch(f"{server.url}/")
        assert caught.value.again == 2.0


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/", "index.html"),
        ("/a/", "a/index.html"),
        ("/wiki/Rust_(language)", "wiki/Rust__language_.html"),
        ("/a.md", "a.md"),
        ("/a.php?id=1", "a.php-d9fc91d4.html"),
        ("/../../etc/passwd", "_/_/etc/passwd.html"),
        ("/%2e%2e/%2e%2e%2fx", "_/_x.html"),
        ("/a/%00/c:d", "a/_/c_d.html"),
    ],
)
def test_the_file_of_a_page_lies_within_its_folder(path, file):
    assert file_of(f"https://docs.example{path}") == file


def test_a_page_whose_path_is_that_of_a_file_is_left_out(tmp_path):
    routes = {
        "/d/": page("D", "<a href='x.md'>x</a> <a href='x.md/'>y</a>"),
        "/d/x.md": lambda handler: answer(handler, b"# X\n", kind="text/markdown"),
        "/d/x.md/": page("Y"),
    }
    with serving(routes) as server:
        opened = fetch(tmp_path, f"{server.url}/d/", depth=1)
        assert [*opened.documents] == ["d/index.html", "d/x.md"]
        assert "cannot be a file here" in opened.refused[f"{server.url}/d/x.md/"]


def test_an_update_reads_the_same_pages_again(tmp_path):
    with serving(dict(SITE)) as server:
        build(tmp_path, f"{server.url}/docs/", depth=2)
        server.routes["/docs/tools.html"] = page("Tools", "<p>A rapping iron closes the weave.</p>")
        server.asked.clear()
        shelf = PackShelf(tmp_path / "packs", open_pack_file)
        quiet = {"embedder": None, "settings": Settings(), "report": lambda *_: None}
        done = update_pack(shelf, UpdateRequest("site", site=bounds()), open_new_pack, **quiet)
        shelf.close()
        assert (done.added, done.changed, done.removed) == ((), ("docs/tools.html",), ())
        assert sorted(server.asked)[:-1] == ["/docs/", "/docs/deep.html", "/docs/soak", "/docs/tools.html"]


def test_a_page_that_asks_not_to_be_indexed_is_left_out(tmp_path):
    noindex = page("Hidden", head="<meta name='robots' content='noindex'>")
    with serving({"/a/": page("A", "<a href='b.html'>b</a>"), "/a/b.html": noindex}) as server:
        opened = fetch(tmp_path, f"{server.url}/a/", depth=1)
        assert opened.refused == {f"{server.url}/a/b.html": "it asks not to be indexed"}


@pytest.mark.parametrize(
    "target",
    ["http://169.254.169.254/latest/meta-data/", "https://169.254.169.254/", "http://[::1]/", "https://10.0.0.1/",
     "file:///etc/passwd", "https://user:word@example.org/", "https://127.1/", "gopher://127.0.0.1/"],
)  # fmt: skip
def test_a_redirect_to_what_is_not_public_is_refused(tmp_path, target):
    with serving({"/": lambda handler: answer(handler, b"", status=302, Location=target)}) as server:
        client, _ = client_of()
        with client, pytest.raises((SourceRefused, PageFailed)) as caught:
            client.fetch(f"{server.url}/")
        assert "not public" in str(caught.value) or "is not read" in str(caught.value)
        with pytest.raises(SourceError):
            fetch(tmp_path, f"{server.url}/")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "2130706433"])
def test_this_machine_is_refused_unless_a_person_allows_it(host):
    with pytest.raises(SourceRefused, match=r"not public|cannot be resolved|no address"):
        PublicHosts().address_of(f"https://{host}/")


def test_a_name_that_changes_its_mind_changes_nothing(monkeypatch):
    """127.0.0.1 stands for a public host, and 127.0.0.2 for a private one that the name server gives then."""
    monkeypatch.setattr("repertoire.sources.public_hosts.is_public", lambda text: text == "127.0.0.1")
    with serving(SITE) as public, serving(SITE, "127.0.0.2") as private:
        answers = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"]]
        asked = []

        def resolve(host, _port):
            asked.append(host)
            return answers[len(asked) - 1]

        hosts = PublicHosts(frozenset({"rebind.example"}), resolve)
        port = public.server_address[1]
        with WebClient(hosts) as client:
            for path in ("/docs/", "/docs/soak", "/blog/"):
                assert client.fetch(f"http://rebind.example:{port}{path}").body
        assert (asked, len(public.asked), private.asked) == (["rebind.example"], 3, [])
        strict = PublicHosts(resolve=lambda *_: ["127.0.0.1", "127.0.0.2"])
        with pytest.raises(SourceRefused, match="not public"):
            strict.address_of("https://rebind.example/")


def certified(folder, name):
    """Write a certificate for a name, which signs itself, and its key; return the two files."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.timezone.utc)
    made = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now).not_valid_after(now + dt.timedelta(days=1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    (folder / "cert.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return folder / "cert.pem", folder / "key.pem"


def test_a_certificate_is_checked_against_the_name_though_the_connection_goes_to_the_number(tmp_path, monkeypatch):
    certificate, key = certified(tmp_path, "docs.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving(SITE) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        port = server.server_address[1]
        hosts = PublicHosts(frozenset({"docs.example", "other.example"}), lambda *_: ["127.0.0.1"])
        with WebClient(hosts) as client:
            assert b"Start" in client.fetch(f"https://docs.example:{port}/docs/").body
            with pytest.raises(PageFailed, match="certificate verify failed"):
                client.fetch(f"https://other.example:{port}/docs/")


def test_hostile_bodies_end_at_their_bounds():
    def endless(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Connection", "close")
        handler.end_headers()
        while True:
            handler.wfile.write(b"x" * 65_536)

    def slow(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Connection", "close")
        handler.end_headers()
        for _ in range(200):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.02)

    bomb = gzip.compress(b"\0" * 50_000_000)
    routes = {
        "/endless": endless,
        "/slow": slow,
        "/bomb": lambda handler: answer(handler, bomb, Content_Encoding="gzip"),
        "/br": lambda handler: answer(handler, b"x", Content_Encoding="br"),
        "/torn": lambda handler: answer(handler, b"\x1f\x8bnothing", Content_Encoding="gzip"),
        "/type": lambda handler: answer(handler, b"x", kind="application/octet-stream"),
        "/round": lambda handler: answer(handler, b"", status=302, Location="/round"),
        "/good": lambda handler: answer(handler, gzip.compress(b"<p>good</p>"), Content_Encoding="gzip"),
    }
    with serving(routes) as server, client_of(limits=PageLimits(seconds=0.3))[0] as client:
        for path, reason in {
            "/endless": "larger than 1,000,000 bytes",
            "/slow": "takes longer than",
            "/bomb": "larger than 1,000,000 bytes",
            "/br": "not asked for",
            "/torn": "not compressed as it says",
            "/type": "octet-stream, which is not read",
            "/round": "redirects more than 5 times",
        }.items():
            with pytest.raises(PageFailed, match=reason):
                client.fetch(server.url + path)
        assert client.fetch(f"{server.url}/good").body == b"<p>good</p>"


def test_a_busy_site_is_asked_again_when_it_says_and_left_for_later_when_that_is_long(tmp_path):
    answers = iter([429, 503])

    def busy(handler):
        status = next(answers, 200)
        body = page("Start", "<p>Text.</p>").encode() if status == 200 else b""
        answer(handler, body, status=status, Retry_After="7")

    with serving({"/a/": busy, "/b/": lambda handler: answer(handler, b"", status=429, Retry_After="3600")}) as server:
        client, waits = client_of()
        assert [*fetch(tmp_path / "a", f"{server.url}/a/", client).documents] == ["a/index.html"]
        assert waits == [7.0, 14.0]
        with pytest.raises(SourceError, match="asks to wait 3600 s; run the same command again"):
            fetch(tmp_path / "b", f"{server.url}/b/")


KILLED = """
import os, sys
from pathlib import Path
from repertoire.app.packs.website import SiteBounds, fetch_site
def report(label, done, total):
    if done == 2:
        os._exit(9)
home, url = Path(sys.argv[1]), sys.argv[2]
asked = SiteBounds(depth=2, allowed=frozenset({"127.0.0.1"}), interval=0.0)
fetch_site(home, url, asked, max_bytes=10_000_000, report=report)
"""


def test_a_killed_fetch_goes_on_and_fetches_nothing_twice(tmp_path):
    with serving(SITE) as server:
        url = f"{server.url}/docs/"
        killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), url], check=False)
        assert killed.returncode == 9
        before = [path for path in server.asked if path != "/robots.txt"]
        assert len(before) == 2
        journal = site_folder(tmp_path, url, bounds(depth=2)) / "pages.jsonl"
        with journal.open("a") as file:
            file.write('{"url": "http://127.0.0.1/cut')  # as a kill in the middle of a line leaves it
        built = build(tmp_path, url, depth=2)
        assert built.manifest.statistics.articles == 4
        asked = [path for path in server.asked if path != "/robots.txt"]
        assert sorted(asked) == sorted(set(asked))


def test_a_repository_stays_a_repository():
    nobody = PublicHosts(resolve=lambda *_: [])
    for origin in ("https://github.com/rust-lang/book", "https://git.example.org/a/b.git", "git@github.com:a/b", "a/b",
                   str(Path.cwd()), "pypi:click", "https://intranet.example/team/repo"):  # fmt: skip
        assert not is_website(origin, nobody)
    advertised = "application/x-git-upload-pack-advertisement"
    routes = {"/repo/info/refs?service=git-upload-pack": lambda handler: answer(handler, b"001e", kind=advertised)}
    with serving({**routes, "/page": page("A"), "/locked/info/refs?service=git-upload-pack": 401}) as server:
        # only https is asked in earnest; http is always a website, as git never read it
        with WebClient(PublicHosts(LOCAL)) as client, pytest.raises(PageFailed) as caught:
            client.fetch(f"{server.url}/repo/info/refs?service=git-upload-pack")
        assert caught.value.kind == advertised
        assert is_website(f"{server.url}/page", PublicHosts(LOCAL))
