"""A trace told in another language is found by a problem told in it, or in English, and known again when told twice."""

import numpy as np
import pytest

from repertoire.app.clock import now
from repertoire.app.sources.embed import embed_pending
from repertoire.app.traces.contribute import confirm, draft
from repertoire.app.traces.fields import TraceFields
from repertoire.app.traces.search import TraceQuery, search_traces
from repertoire.app.wiring import open_repertoire
from repertoire.domain.event import Moment
from repertoire.domain.trace import ACTIVE, FAILED, PROBLEM_SPACE

LOGIN, EXPORT, POOL, MAIL = TRACES = (
    TraceFields(
        "服务器迁移后无法登录",
        "迁移后用户无法登录，因为域名改变，会话 cookie 没有发送。",  # noqa: RUF001
        "把 cookie 的域名改成新主机，并清除旧会话。",  # noqa: RUF001
    ),
    TraceFields("导出的 CSV 中文乱码", "Excel 用错误的编码打开了导出文件。", "在文件开头写入字节顺序标记。"),
    TraceFields("高负载时数据库连接耗尽", "每个请求都打开一个连接却从不关闭。", "使用连接池，并在 finally 中关闭。"),  # noqa: RUF001
    TraceFields(
        "E-Mails werden doppelt verschickt",
        "Die Warteschlange stellte einen Auftrag erneut zu, weil er zu spät bestätigt wurde.",
        "Den Auftrag sofort bestätigen.",
    ),
)


def keep(repertoire, told):
    return confirm(repertoire.store, draft(repertoire.store, told, moment=Moment(now(), "s", "")).token, now=now())


@pytest.fixture
def home(tmp_path):
    with open_repertoire(tmp_path) as opened:
        for told in TRACES:
            keep(opened, told)
        yield opened


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("换了服务器以后大家都登录不了", LOGIN),
        ("导出的表格打开是乱码", EXPORT),
        ("用户多的时候数据库连接不够用", POOL),
        ("Kunden bekommen E-Mails doppelt", MAIL),
    ],
)
def test_a_problem_told_in_the_language_of_a_trace_finds_it(home, question, told, vectors):
    found = search_traces(home.traces, TraceQuery(question), embedder=home.embedder if vectors else None)
    assert found.hits[0].trace.title == told.title


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("nobody can log in after the server moved", LOGIN),
        ("seit dem Umzug des Servers kann sich keiner einloggen", LOGIN),
        ("too many open database connections", POOL),
        ("邮件重复发送", MAIL),
    ],
)
def test_it_is_found_in_another_language_by_its_meaning(home, question, told):
    found = search_traces(home.traces, TraceQuery(question), embedder=home.embedder)
    assert found.hits[0].trace.title == told.title


def test_a_vector_that_an_older_version_made_of_another_language_is_made_again_once(home):
    keep(home, TraceFields("vite is killed", "exit code 137", "Raise the limit."))
    embed_pending(home.store, home.embedder)
    before, node_ids = vectors_of(home), [home.store.traces.find(one.key) for one in home.store.traces.all(ACTIVE)]
    made = [(node_id, "as it is written") for node_id in node_ids]
    home.store.vectors.put(PROBLEM_SPACE, home.embedder.model, made, np.ones((len(made), 384), dtype=np.float32))
    home.store.traces.embed_again((), "of an older version")
    embed_pending(home.store, home.embedder)
    again = vectors_of(home)
    assert [one for one in node_ids if not np.allclose(before[one], again[one], atol=1e-5)] == [
        max(node_ids)
    ]  # the English one
    home.store.vectors.put(PROBLEM_SPACE, home.embedder.model, made, np.ones((len(made), 384), dtype=np.float32))
    embed_pending(home.store, home.embedder)
    assert not np.allclose(vectors_of(home)[node_ids[0]], before[node_ids[0]], atol=1e-5)


def vectors_of(home):
    return dict(
        zip(*(part.tolist() for part in home.store.vectors.matrix(PROBLEM_SPACE, home.embedder.model)), strict=True)
    )


def test_a_trace_that_was_told_before_is_a_twin_and_the_opposite_outcome_contradicts_it(home):
    again = keep(home, TraceFields(LOGIN.title, LOGIN.context + "大家很着急。", LOGIN.solution))
    found = search_traces(home.traces, TraceQuery("服务器迁移后无法登录"), embedder=home.embedder)
    assert again.trace.key in {found.hits[0].trace.key, *found.hits[0].twins}
    assert len(found.hits[0].twins) == 1
    other = TraceFields(
        "迁移服务器后登录失败", "服务器迁移之后用户无法登录。", "把 cookie 的域名改成新主机。", outcome=FAILED
    )
    failed = keep(home, other)
    found = search_traces(home.traces, TraceQuery("服务器迁移后无法登录"), embedder=home.embedder)
    assert any(failed.trace.key in hit.contradicted_by for hit in found.hits)
