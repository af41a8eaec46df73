"""Lists words of small talk in ten languages; a prompt of nothing else asks for nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repertoire.domain.chinese import readings

_WORDS = frozenset(
    # English
    """again agree agreed alright amazing answer awesome back bad bravo bye cheers come continue cool
    correct day doing done else evening everything exactly excellent fantastic fine further going good
    goodbye great hello hmm hope idea joke know later lgtm like look looking looks love maybe moment morning
    much never next nice night nope nothing okay ok perfect pretty problem proceed question ready right same
    saying second sense share sleep sorry sound sounds stop story stuff sure tea tell think time today
    tomorrow told true understood wait weather week weekend welcome well wonderful work works worries wow
    yeah yep yesterday """
    # German
    """hallo moin servus tschüss guten gute gut guter tag morgen abend nacht danke dank dir dich vielen
    schön schöne schönen bitte weiter weitermachen mach mache machen geht ja nein doch nochmal noch einmal
    super klasse prima toll perfekt genau richtig stimmt passt alles klar okay so sieht aus wie es ist das
    der die du hast recht ich wir heute reicht für bis warte mal kurz moment was meinst denkst dazu los
    fertig sehr gern gerne verstanden sehr schon bin dann nicht nichts hat habe geholfen hilfe schönes wochenende
    feierabend mfg grüße lg und jetzt leg tu machst ok """
    # French
    """bonjour bonsoir salut merci beaucoup bien très bon bonne nuit soir oui non si vas va vas-y continue
    continuez continuer continuons on te vous il plaît plait d accord ok parfait super génial excellent c
    est cest ça ca marche comme comment encore recommence recommencez recommencer tu as raison attends
    attendez un une peu qu en penses pensez à a demain toi moi le la les de travail oui-oui voilà fait
    compris fais faites allez end ton aide votre pour ok journée """
    # Spanish
    """hola buenos buenas días dias tardes noches gracias muchas sí si no otra vez sigue siga sigamos
    continúa continua continuar adelante por favor perfecto muy bien está esta estás estas así asi de
    acuerdo vale vamos genial excelente hasta mañana luego tienes razón razon espera un momento qué que te
    parece cómo como eso es todo listo hecho claro hazlo hágalo dale venga quedó quedo perfecta ayuda buen fin
    semana opinas procede
    mucho ok la """
    # Portuguese
    """olá ola oi bom boa dia tarde noite obrigado obrigada muito muita sim não nao pode continuar continue
    novo nova de perfeito ótimo otimo tudo assim está ta até ate amanhã amanha tens tem razão razao espera
    um pouco o que achas acha você voce lá la vamos certo feito beleza bem faça faca faz fazer isso ficou valeu
    ajuda fim semana para ok """
    # Italian
    """ciao buongiorno buonasera grazie mille sì vai avanti va bene così cosi perfetto ottimo come stai a
    domani hai ragione ancora no prego fatto per favore continua continuare fallo fai aiuto buon fine settimana """
    # Russian
    """привет здравствуй здравствуйте доброе добрый утро день вечер ночи спокойной спасибо благодарю большое
    огромное пожалуйста да нет ок окей ладно хорошо отлично супер класс круто здорово прекрасно замечательно
    идеально конечно верно правильно точно понял поняла понятно ясно согласен согласна давай давайте дальше
    далее продолжай продолжайте продолжим вперёд вперед ещё еще раз снова опять подожди подождите минуту
    минутку момент немного ты вы я мы тебе вам мне прав права правы это так всё все очень и но не ну вот
    уже пока завтра до свидания как дела что думаешь думаете скажешь выглядит готово молодец сделай сделайте
    делай именно помощь помог помогло хороших выходных за """
    # Korean
    """안녕 안녕하세요 감사합니다 고마워요 고마워 네 예 아니요 아니 좋아요 좋아 계속 계속해 계속해주세요
    주세요 잘했어요 다시 해 알겠습니다 완벽해요 괜찮아요 응 그래 그래요 해줘 해주세요 진행해 진행해줘 진행해주세요
    계속해줘 감사해요 고맙습니다 완벽해 완벽합니다 좋네요 좋은 좋습니다 도움이 됐어요 되었어요 정말 많이 잘 지내요
    하루 주말 보내세요 오케이 그렇게 어떻게 생각해 생각해요 수고하셨습니다""".split()
)
# Phrases of Japanese and Chinese, which have no spaces: the text that remains without them is the request.
_PHRASES = re.compile(
    "|".join(
        sorted(
            """こんにちは こんばんは おはよう おやすみなさい おやすみ ありがとう どうもありがとう ございます
            ございました 助かりました 助かった 続けて 続き 続行 して ください 下さい はい いいえ
            お願いします おねがいします お願い もう一度 いい良い ですね です ね よ か いい 了解 しました
            わかりました 分かりました 完璧 素晴らしい すごい お疲れ様 お疲れさま でした また 明日
            どう思います どう 思います ちょっと 待って その通り そうです そう 大丈夫 最高 うん ええ 你好
            您好 早上好 晚上好 下午好 晚安 谢谢 多谢 非常 感谢 你 您 我 继续 請 请 好的 好 是的 是 对 不对
            不 再来一次 再 来 一次 很 很好 不错 没问题 没 问题 明天见 再见 觉得 怎么样 怎么 样 等一下 等等
            说得对 说 得 辛苦 了 吧 吗 呢 可以 完美 太 棒 行 嗯 明白 谢 做 就 这么 这样 办 来 干 感谢 帮了 大忙
            今天 周末
            愉快 的 啦 呀 都 早 可 以 オッケー オーケー やって やっ 進めて それで 良い よい 週末を アリガトウ
            助かる""".split(),
            key=len,
            reverse=True,
        )
    )
)
CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f]")
_A_WORD = 3  # characters of Japanese or Chinese that count as one word


def is_small_talk(words: Sequence[str]) -> bool:
    """Tell whether all content words of a prompt are small talk."""
    return all(word in _WORDS or _is_phrase(word) for word in words)


def count_words(words: Sequence[str]) -> int:
    """Return the number of words, with a run of Japanese or Chinese counted by its length."""
    return sum(max(1, len(word) // _A_WORD) if CJK.search(word) else 1 for word in words)


def _is_phrase(word: str) -> bool:
    return bool(CJK.search(word)) and not all(_PHRASES.sub("", reading) for reading in readings(word))
