"""Turns an HTML page into Markdown: its main part, without navigation, with the fragments that its headings bear."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup, Tag
from markdownify import MarkdownConverter

_MAIN = ("main", "article", "[role=main]", "body")  # the first of these that a page has
_ASIDE = (
    "aside, a.headerlink, script, style, template, noscript, nav, header, footer, form, button, svg, iframe, [hidden]"
)
_REMARKS = frozenset(
    (
        "admonition",
        "starlight-aside",
        "callout",
        "note",
        "tip",
        "info",
        "hint",
        "caution",
        "warning",
        "danger",
        "important",
    )
)
_PERMALINKS = ("", "#", "\u00b6", "\u00a7", "\U0001f517")  # what a heading's link to itself shows
_SITE = re.compile(r" [|\u00b7\u2013\u2014-] ")  # parts a page's title from the name of its site
_NUMBERED = re.compile(r"(.+)-\d{1,3}")
_HEADINGS = re.compile(r"h[1-6]")
_LANGUAGE = re.compile(r"(?:language|highlight|lang)-([A-Za-z0-9+#]{1,20})")
_SAID = re.compile(r"[A-Za-z0-9+#-]{1,20}")
_FRAGMENT = re.compile(r"[^\s{}#]{1,100}")
_DEEPEST = 200  # elements within one another; deeper ones are taken out, because every reader of trees recurses


def html_to_markdown(text: str) -> str:
    """Return the main part of a page as Markdown; each heading ends with the fragment of its address."""
    page = BeautifulSoup(text, "html.parser")
    main = next((found for place in _MAIN if (found := page.select_one(place)) is not None), page)
    for part in main.select(_ASIDE):
        if not part.decomposed and not _is_said(part):
            part.decompose()
    for code in main.select("span.literal"):  # as docutils writes it
        code.name = "code"
    _flatten(main)
    _entitle(page, main)
    for heading in main.find_all(_HEADINGS):
        fragment = _fragment(heading)
        for link in heading.select("a[href^='#']"):
            if link.get_text().strip() in _PERMALINKS:
                link.decompose()
        if fragment:
            heading.append(f" {{#{fragment}}}")
    converter = MarkdownConverter(heading_style="ATX", bullets="-", code_language_callback=_language, escape_misc=False)
    return f"{converter.convert_soup(main).strip()}\n"


def _is_said(part: Tag) -> bool:
    """Tell whether a part that mostly stands beside a text belongs to it: a title, a remark, a tab not shown first."""
    if part.name == "header":
        return part.find("h1") is not None and part.find_parent(("main", "article")) is not None
    if part.name == "aside":
        return part.get("role") == "note" or not _REMARKS.isdisjoint(part.get_attribute_list("class"))
    return part.get("role") == "tabpanel"


def _entitle(page: BeautifulSoup, main: Tag) -> None:
    """Give a page without a heading of the first level the one that its title is."""
    title = page.select_one("head > title")
    said = _SITE.split(" ".join(title.get_text(" ").split()))[0] if title is not None else ""
    if said and main.find("h1") is None:
        heading = page.new_tag("h1")
        heading.string = said
        main.insert(0, heading)


def _flatten(main: Tag) -> None:
    level = [child for child in main.children if isinstance(child, Tag)]
    for _ in range(_DEEPEST):
        level = [child for parent in level for child in parent.children if isinstance(child, Tag)]
    for element in level:
        element.decompose()


def _fragment(heading: Tag) -> str:
    """Return the id of a heading, the name of an anchor in it, or the id of the section which it begins."""
    own = heading.get("id")
    anchor = heading.find("a", attrs={"name": True}) or heading.find("a", attrs={"id": True})
    if own is None and isinstance(anchor, Tag):
        own = anchor.get("name") or anchor.get("id")
    above = heading.parent
    if own is None and above is not None and above.name in ("section", "div") and above.find(_HEADINGS) is heading:
        own = above.get("id")
        # docutils numbers the id of a section whose label reads the same, and lets the label stand before the heading
        labels = {span.get("id") for span in above.find_all("span", recursive=False)}
        if isinstance(own, str) and (numbered := _NUMBERED.fullmatch(own)) and numbered[1] in labels:
            own = numbered[1]
    return own if isinstance(own, str) and _FRAGMENT.fullmatch(own) else ""


def _language(block: Tag) -> str:
    """Return the language that the classes of a code block, or of what stands around it, name."""
    for element in (block, block.find("code"), block.parent, block.parent.parent if block.parent else None):
        if isinstance(element, Tag) and isinstance(said := element.get("lang"), str) and _SAID.fullmatch(said):
            return said  # as docutils writes it
        classes = element.get("class") if isinstance(element, Tag) else None
        for name in classes if isinstance(classes, list) else ():
            if (mark := _LANGUAGE.fullmatch(str(name))) and mark[1] not in ("default", "none"):
                return mark[1]
    return ""
