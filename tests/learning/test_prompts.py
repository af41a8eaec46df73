"""Prompts that may need a component, and prompts that name one."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from repertoire.learning.prompts import is_needless, names


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "   ",
        "ok",
        "yes please",
        "thanks, that looks good to me",
        "hello! how are you today?",
        "go on",
        "what do you think?",
        "mach bitte weiter",
        "vielen dank, das sieht gut aus",
        "c'est parfait, merci",
        "d'accord, on continue",
        "muchas gracias, sigue así",
        "sim, pode continuar",
        "perfetto, grazie",
        "спасибо, отлично, продолжай",
        "ありがとうございます、続けてください",
        "はい、お願いします",
        "好的，谢谢，请继续",  # noqa: RUF001
        "네, 계속해 주세요",
        "sí, hazlo",
        "oui, fais-le",
        "да, сделай это",
        "謝謝，做得很好",  # noqa: RUF001
        "はい、やってください",
        "네, 해주세요",
        "Danke, das hat geholfen!",
        "mach dasselbe für die Bestellungen",
        "lo mismo para orders",
        "fais pareil pour les commandes",
        "сделай то же самое для заказов",
        "訂單也這樣做",
        "注文も同じようにして",
        "주문도 똑같이 해줘",
        "mach den nächsten Schritt",
        "vai para o próximo passo",
        "вариант 2",
        "ok, implementa el plan",
        "繼續下一步",
        "次のステップに進んで",
        "두 번째 방법",
        "/repertoire:status now",
        "/code-review",
        "/speckit.specify a photo album",
        "!git status of the repository",
        "implement the plan",
        "continue with phase 2",
        "apply the first suggestion",
        "what about the other file?",
        "ok now do the next step",
        "yes please go with the second approach",
        "same for orders please",
        "now do it for the web app too",
        "[Image #1] [Image #2]",
        "0.4.0",
        "<task-notification>the deployment agent has finished its work</task-notification>",
        "<command-name>/compact</command-name>",
        "<local-command-stdout>kubernetes rollout done</local-command-stdout>",
        "[Request interrupted by user for tool use]",
        "This session is being continued from a previous conversation about kubernetes deployments.",
    ],
)
def test_small_talk_follow_ups_commands_and_the_clients_own_words_are_needless(prompt: str) -> None:
    assert is_needless(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "fill in this PDF form",
        "write tests",
        "fix the build",
        "Fix the REST section",
        "implement REST",
        "fix section 508",
        "deploy it to staging",
        "add dark mode",
        "release 0.5.0",
        "get us from 4.2 to 5.x",
        "show 20 at a time with next and previous",
        "two of them do the same thing",
        "same invoice paid twice",
        "next steps in a file please",
        "keep going until all tests pass",
        "[Image #1] make the header look like this",
        "deploy to kubernetes",
        "ok, now write release notes for 2.0",
        "Warum schlägt der Test der Zahlungsschnittstelle fehl?",
        "テストを書いて デプロイする",
        "ログインページのテストを書いてください",
        "为登录页面编写测试",
        "为订单也写单元测试",
        "用第二个方案重构支付模块",
        "füge dem letzten Schritt der Pipeline einen Test hinzu",
        "despliega la última versión en producción",
        "напиши тесты для следующего релиза",
        "次のリリースのテストを書いて",
        "두 번째 페이지에 차트를 추가해줘",
        "mach bitte weiter mit dem Deployment",
        "continue avec les tests, s'il te plaît",
        "/api/orders returns 500, find out why",
        "/Users/me/mock.png implement this design as a React component",
    ],
)
def test_a_prompt_that_wants_something_is_looked_at(prompt: str) -> None:
    assert not is_needless(prompt)


@pytest.mark.parametrize(
    ("prompt", "component", "kind"),
    [
        ("use pdf-forms for this", "pdf-forms", "skill"),
        ("run /ship for release 2", "ship", "command"),
        ("take the pdf skill", "pdf", "skill"),
        ("ask @agent-reviewer to look", "reviewer", "agent"),
        ("query it with the postgres MCP server", "postgres", "mcp_server"),
        ("with kit:pdf-forms please", "kit:pdf-forms", "skill"),
        ("nimm bitte den prüf-bericht", normalize("NFD", "prüf-bericht"), "skill"),
    ],
)
def test_a_component_is_named(prompt: str, component: str, kind: str) -> None:
    assert names(prompt, component, kind)


@pytest.mark.parametrize(
    ("prompt", "component", "kind"),
    [
        ("fill this PDF", "pdf", "skill"),
        ("fill these pdf forms", "pdf-forms", "skill"),
        ("review my code", "review", "command"),
        ("ship the parcel", "ship", "command"),
        ("not-pdf-forms-either", "pdf-forms", "skill"),
    ],
)
def test_naming_the_subject_is_not_naming_the_component(prompt: str, component: str, kind: str) -> None:
    assert not names(prompt, component, kind)
