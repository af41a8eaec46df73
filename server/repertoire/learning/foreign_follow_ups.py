"""Recognises prompts in other languages than English that refer to earlier work, as `follow_ups` does English ones."""

# ruff: noqa: RUF001 - letters of other alphabets
from __future__ import annotations

import re
from collections.abc import Sequence

from repertoire.domain.chinese import readings
from repertoire.lazy_pattern import LazyPattern
from repertoire.learning.small_talk import is_small_talk

_WHICH = frozenset(
    # German, Spanish, French, Portuguese, Italian, Russian
    """nächste nächsten nächster nächstes letzte letzten letzter letztes erste ersten erster erstes zweite zweiten
    zweiter zweites dritte dritten dritter drittes vierte vierten andere anderen anderer anderes vorige vorigen
    übrige übrigen restlichen rest beide beiden
    siguiente siguientes próximo próxima proximo proxima último última ultimo ultima primero primera primer segundo
    segunda tercero tercera tercer cuarto otro otra otros otras anterior resto
    suivant suivante suivantes prochain prochaine dernier dernière première premier deuxième second seconde troisième
    autre autres précédent précédente reste
    seguinte primeiro primeira terceiro terceira outro outra outros outras
    prossimo prossima seguente primo prima secondo seconda terzo terza altro altra altri precedente
    следующий следующая следующее следующую следующему следующего следующим последний последнее первый первая первое
    первую первого второй вторая второе вторую второго третий третье третью третьего другой другое другую остальное
    остальные предыдущий предыдущее""".split()
)
_COUNTED = frozenset(
    """schritt schritte schritten punkt punkte option optionen variante varianten version möglichkeit vorschlag
    vorschläge aufgabe aufgaben teil ansatz weg
    paso pasos opción opcion opciones punto puntos variante versión parte tarea fase propuesta
    étape étapes etape options point points variante tâche tâches partie proposition
    passo passos etapa etapas opção opcao ponto tarefa versão proposta
    passi opzione punti parti proposta attività
    шаг шага шагу шагом шаги вариант варианта вариантом пункт пункта пункту часть этап этапу задача задачу задаче
    способ""".split()
)
_PLANS = frozenset("plan plano piano план плану".split())
_CARRY_OUT = frozenset(
    """implementier implementiere umsetzen setz setze um implementa ejecuta aplica sigue implémente exécute applique
    suis implemente execute segue esegui реализуй реализуйте выполни выполняй следуй""".split()
)
_BESIDE = (
    _PLANS
    | _CARRY_OUT
    | frozenset(
        """jetzt nimm nehmen nehme gehe gehen mit dem den zum zur im am auch dann zuerst lass uns
    haz hacer toma usa elige prefiero con el los las del al ahora pasa pasemos ve
    fais faire prends prenons passe passons au aux du avec maintenant l à
    faça faz fazer pega usa escolhe com para o os as ao agora vá passa
    fai prendi passa con il lo gli al allo adesso ora
    сделай сделаем делай возьми бери выбери переходи перейди перейдём выполни к ко с на теперь тогда
    пожалуйста""".split()
    )
)
_NUMBER = re.compile(r"\d{1,2}")
_WHAT = r"[\w./@-]+(?:[\s,]+[\w./@-]+){0,4}"  # for what the same is to be done
_PARTED = rf"""
(?:(?:ja|ok|okay|und|jetzt|dann|bitte|kannst du)[\s,]+)*(?:mach(?:e|en)? )?(?:jetzt |bitte |nun )*(?:genau )?
(?:das gleiche|das selbe|dasselbe|es genauso|das auch|es auch) (?:bitte |jetzt |noch |auch )*(?:für|bei|mit|in) {_WHAT}
|(?:(?:sí|si|ok|y|ahora|por favor|puedes)[\s,]+)*(?:haz |hacer |hazme |aplica )?(?:exactamente )?
lo mismo (?:ahora |también )*(?:para|con|en) {_WHAT}
|(?:(?:oui|ok|et|maintenant|s'il te plaît|peux-tu)[\s,]+)*(?:fais |faire |faites |applique )?(?:exactement )?
(?:la même chose|pareil|de même|idem) (?:aussi |maintenant )*(?:pour|avec|dans|sur) {_WHAT}
|(?:(?:sim|ok|e|agora|por favor|pode)[\s,]+)*(?:faça |faz |fazer |aplica )?(?:exatamente )?
o mesmo (?:agora |também )*(?:para|pra|com|em|no|na|nos|nas) {_WHAT}
|(?:(?:sì|ok|e|adesso|ora|per favore)[\s,]+)*(?:fai |fare |applica )?
(?:lo stesso|la stessa cosa) (?:anche |adesso )*(?:per|con|in|nel|nella) {_WHAT}
|(?:(?:да|ок|и|а|теперь|пожалуйста)[\s,]+)*(?:сделай(?:те)? )?(?:точно )?
(?:то же самое|тоже самое|то же|так же|аналогично) (?:теперь |и )*(?:для|с|со|в|на) {_WHAT}
"""
_UNPARTED = r"""
(?:请|那|好的?|现在)?(?:给|对|把|为)?[^，。]{1,12}?(?:也|同样)(?:是|要)?(?:这样|这么|照样|一样|同样)(?:的)?(?:做|处理|改|弄|来|办)?(?:一下|一遍|吧)?
|(?:请|那|好的?|现在)?(?:给|对|为)[^，。]{1,12}?(?:做|进行)(?:一样|同样|相同)的?(?:事情?|处理|修改|操作)(?:吧)?
|(?:好的?|那|请|现在)?(?:就)?(?:继续|做|进行|执行|开始|选择?|用)?(?:下一[步个项]|剩下的|其余的|第[一二三四五\d]+[个步项种条](?:方案|选项|步骤|办法)?
|(?:方案|选项|第)[一二三四五\dA-C])(?:继续|做|来)?吧?
|(?:[^、。]{1,12}?)(?:に|も|にも|について|についても|の方も)(?:まったく)?(?:同じ(?:ように|ことを?|処理を?|修正を?)|同様に)
(?:して|やって|お願い|適用して)(?:します|ください|下さい)?
|(?:好的?)?[，, ]?按(?:照)?(?:这个|上面的)?(?:计划|方案)(?:来)?(?:实现|执行|做|实施|进行)吧?
|(?:实现|执行|实施)(?:这个|上述)?(?:计划|方案)吧?
|計画(?:通り|どおり)に?(?:実装|実行|進め)(?:して|て)?(?:ください|下さい)?|計画を(?:実行|実装)して(?:ください|下さい)?
|계획대로 ?(?:구현|진행|실행)?해?(?: ?줘| ?주세요)?
|(?:では|じゃあ|はい|それでは)?次(?:の(?:ステップ|手順|段階|タスク|項目))?(?:に|へ|を)?(?:進んで|進めて|行って|やって|お願い)(?:します|ください|下さい)?
|(?:では|じゃあ|はい)?(?:[一二三四\d]+(?:番目?|つ目)(?:の(?:案|方法|もの|やつ))?|案[\d一二三A-C]|残りも?)(?:で|を)?
(?:お願い(?:します)?|やって(?:ください)?|行きましょう|いこう)?
|[\w./-]+?(?:도|에도) (?:똑같이|마찬가지로|같은 (?:걸|작업을?|방식으로)) ?(?:해|적용해|처리해)(?: ?줘| ?주세요)?
|(?:그럼|네|좋아)? ?다음(?: ?(?:단계|거|것|작업))?(?:로|를|을)? ?(?:가자|넘어가자?|진행해?|해)?(?: ?줘| ?주세요)?
|(?:그럼|네)? ?(?:\d번(?: ?안)?|[첫두세] ?번째(?: ?(?:방법|안|거|것|옵션))?|나머지도?)(?:으로|로|을|를)?
 ?(?:해|진행해|가자|할게|부탁해)?(?: ?줘| ?주세요)?
"""
_ANY_LIKEWISE = LazyPattern((_PARTED.strip() + "|" + _UNPARTED.strip()).replace("\n", ""), re.IGNORECASE)
_AROUND = " \t\n.,!?…。！？、，~"


def refers_back(prompt: str, words: Sequence[str]) -> bool:
    """Tell whether a prompt, whose content words are given, refers to earlier work and names none of its own."""
    said = prompt.strip(_AROUND)
    if any(map(_ANY_LIKEWISE.fullmatch, readings(said))):
        return True
    carries_out = not (_PLANS.isdisjoint(words) or _CARRY_OUT.isdisjoint(words))
    which, counted = not _WHICH.isdisjoint(words), not _COUNTED.isdisjoint(words)
    numbered = counted and any(map(_NUMBER.fullmatch, words))
    return (which or numbered or carries_out) and all(map(_says_nothing, words))


def _says_nothing(word: str) -> bool:
    known = word in _WHICH or word in _COUNTED or word in _BESIDE
    return known or _NUMBER.fullmatch(word) is not None or is_small_talk((word,))
