"""Lists expressions for prompt injection in other languages than English: orders to disobey, orders to conceal."""

# ruff: noqa: RUF001 - this file is about letters of other alphabets
from __future__ import annotations

import re

# lower-case needles, one of which a line must hold before the patterns are tried
DISOBEYS_WITH = (
    *(
        "anweisung",
        "instruccion",
        "instruções",
        "instructions pr",
        "istruzion",
        "talimat",
        "regeln",
        "reglas",
        "regras",
    ),
    *("consignes pré", "指令", "指示", "инструкц", "지시"),
)
SILENT_WITH = (
    *("nutzer", "usuario", "usuário", "utilisateur", "utente", "kullanıcı", "用户", "ユーザ", "пользовател", "사용자"),
)
_EARLIER = r"(?:vorherig|bisherig|vorig|obig|früher|vorangegangen|vorangehend|ursprünglich)\w*"

DISOBEYS = re.compile(
    rf"""(?ix)
      \b(?:ignorier|vergiss|vergesst|missacht|übergeh)(?:e|en|t)?\s+(?:Sie\s+)?(?:bitte\s+)?(?:\w+\s+){{0,2}}?{_EARLIER}\s+(?:\w+\s+){{0,2}}?(?:Anweisungen|Instruktionen|Vorgaben|Regeln)
    | (?<!no\s)(?<!n[ãa]o\s)\b(?:ignora|ignore|ignorad|olvida|olvide|desobedece|esquece|esqueça|desconsidere)\s+(?:\w+\s+){{0,3}}?(?:instrucciones|instruções|indicaciones|reglas|regras)\s+(?:\w+\s+)?(?:anteriores|previas|prévias|originales)
    | (?<!n')(?<!ne\s)\b(?:ignorez?|oubliez?|n[ée]gligez?)\s+(?:\w+\s+){{0,3}}?(?:instructions|consignes|directives)\s+(?:\w+\s+)?(?:pr[ée]c[ée]dentes|ant[ée]rieures|initiales)
    | (?<!non\s)\b(?:ignora|ignorate|dimentica)\s+(?:\w+\s+){{0,3}}?(?:istruzioni|regole)\s+(?:precedenti|originali)
    | \bnegeer\s+(?:\w+\s+){{0,3}}?(?:eerdere|vorige|voorgaande)\s+(?:instructies|regels)
    | \b(?:önceki|onceki)\s+(?:\w+\s+)?talimatlar\w*\s+(?:yok\s+say|unut|görmezden\s+gel|dikkate\s+alma)
    | (?<!не\s)\b(?:игнорируй|игнорируйте|забудь|забудьте|проигнорируй)\w*\s+(?:\w+\s+){{0,2}}?(?:предыдущи|прежни|прошлы|вышеуказанн)\w+\s+(?:\w+\s+)?(?:инструкци|указани|правил)\w*
    | (?<![不勿别要])(?:忽略|无视|無視|忘记|忘掉|忘記)(?:掉)?(?:你)?(?:所有|全部|一切|任何)?(?:的)?(?:之前|先前|以上|上述|上面|此前|前面|以前|原有|原来)(?:的)?(?:所有|全部|一切)?(?:的)?(?:系统)?(?:指令|指示|规则|規則|提示词|要求)
    | (?:これまで|以前|前|上記|先)の(?:すべての)?(?:指示|命令|ルール)(?:を)?(?:すべて|全て|全部)?(?:を)?(?:無視し|忘れ)(?!ない)
    | (?:이전|앞선|기존|위)의?\s*(?:모든\s*)?(?:지시|명령|규칙)\S*\s*(?:모두\s*)?무시(?:하고|하세요|해|하십시오)
    """
)

_DEED = (
    r"(?:nichts|davon|dass\s+du|dass\s+Sie|nada|nothing|rien|niente|que\s+(?:has|hayas|tu\s+as|vous\s+avez|voc[eê]|lo\s+hiciste|leíste|ejecut\w+|enviaste)"
    r"|(?:sobre|de|à\s+propos\s+de)\s+(?:esto|este|esta|isso|isto|cela|ceci|cette|ce)|che\s+hai|di\s+questo)"
)

SILENT = re.compile(
    rf"""(?ix)
      \b(?:sag|erzähl|verrat|teil|melde)\w*\s+(?:(?:es|das|dies)\s+)?(?:dem|der|den|einem)\s+(?:\w+\s+)?(?:Benutzer|Nutzer|Anwender)\w*\s+(?:nichts\b|nicht,?\s+dass\s+du|(?:davon|das|dies|es)\s+nicht)
    | \b(?:informiere|benachrichtige)\s+(?:den|die)\s+(?:Benutzer|Nutzer|Anwender)\w*\s+(?:nicht\s+(?:darüber|davon|dass\s+du)|darüber\s+nicht)
    | \bohne\s+(?:den|die|dem)\s+(?:Benutzer|Nutzer|Anwender)\w*\s+(?:zu\s+(?:informieren|benachrichtigen)|(?:etwas|es|davon|Bescheid)\s+zu\s+\w+)
    | \b(?:no\s+(?:le|les|se\s+lo)\s+(?:digas|cuentes|menciones|informes)|no\s+informes|n[ãa]o\s+(?:conte|diga|informe|mencione|revele))\s+(?:nada\s+)?(?:al|ao|à|a\s+la)\s+usu[aá]ri[oa]\s*(?:{_DEED}|[.!;]|$)
    | \bsin\s+(?:que\s+el\s+usuario\s+(?:lo\s+)?(?:sepa|note)|(?:informar|avisar|decir)\w*\s+(?:nada\s+)?al\s+usuario) | \bsem\s+(?:informar|avisar|contar)\s+(?:nada\s+)?(?:a)?o\s+usuário
    | \bn[e']\s*(?:le\s+)?(?:dis|dites|révèle[sz]?|mentionne[sz]?|parle[sz]?|informe[sz]?)\s+(?:pas|rien|jamais)(?:\s+cela)?\s+(?:à|a|au)\s+l?['’\s]?utilisateur\s*(?:{_DEED}|[.!;]|$)
    | \bsans\s+(?:prévenir|informer|avertir|le\s+dire\s+à)\s+l['’]utilisateur | \bà\s+l['’]insu\s+de\s+l['’]utilisateur
    | \bnon\s+(?:dire|dirlo|informare|rivelare)\s+(?:nulla\s+|niente\s+)?(?:a)?ll['’]utente\s*(?:{_DEED}|[.!;]|$)
    | \bне\s+(?:сообщай|сообщайте|говори|говорите|рассказывай|упоминай)\w*\s+(?:\w+\s+){{0,3}}?пользовател\w+
    | (?:不要|不得|切勿|请勿|別|别|禁止)(?:把|将|將)?(?:此事|这|這|该|它)?(?:告诉|告訴|告知|通知|透露给|透露給|提醒|让|讓)(?:用户|用戶|使用者)(?:知道|发现)?(?=你|我|这|這|此|该|任何|关于|有关|本|你们|[。，,.!！；;]|\s*$)
    | (?:ユーザー?)に(?:は)?(?:知らせ|伝え|教え|言わ|報告し)ない | (?:ユーザー?)に(?:は)?(?:気づかれ|内緒)
    | (?:사용자)(?:에게|한테)(?:는)?\s*(?:알리지|말하지|보고하지)\s*(?:마|말|않)
    | \bkullanıcı(?:dan\s+gizle|ya\s+(?:söyleme|bildirme))
    """
)
