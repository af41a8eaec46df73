"""Lists the phrases by which a prompt says that the last step was wrong, in nine languages, as expressions."""

from __future__ import annotations

import re

_PARTS = {
    "off": r"(?:wrong|incorrect|there|red|missing|empty|blank|gone|visible|hidden|off|(?:not|the same|the old) .*"
    r"|not|<fails>|(?:fail|crash|break|throw|hang|show|return|gett|giv|miss|ignor|cutt|overlapp)ing .*)",
    "bad": r"(?:(?:totally |completely |just |simply |plain |all |also |clearly )?(?:wrong|incorrect|broken|worse"
    r"|nonsense|overkill|too (?:much|slow|long|complex|complicated|big|small)|the opposite .*|a step backwards"
    r"|not (?:right|correct|it|working|true|good|good enough|at all what .*|even close.*"
    r"|(?:quite |really )?(?:what|how|the way) .*|the right .*)|(?:the|a) wrong .*))",
    "it": r"(?:that|this|it|these|those|they|everything|all of it|your (?:last )?(?:\w+ )?\w+|the last \w+)",
    "is": r"(?:'s|s|'re| is| are| was| were)",
    "not": r"(?:does not|doesn'?t|did not|didn'?t|do not|don'?t|won'?t)",
    "fails": r"(?:fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|breaks?|breaking|broke|broken|throws?|hangs?|hanging|red)",
    "works": r"(?:work|help|compile|build|run|look right|change anything|do anything|fix .*|pass)",
    "now": r"(?: now| again| either| yet| at all| any ?more| for me| still| after .*)?",
    "done": r"(?:that|this|it|those|these|them|everything|all|your|the (?:last|latest|previous|changes?|edits?))",
    "you": r"you(?:'ve| have)? (?:just |also |completely |again |now )?",
    "please": r"(?:(?:can|could|would|will) you |let'?s |you (?:need|have) to )?(?:please )?(?:just )?",
    "part": r"(?:file|branch|folder|directory|repo|repository|line|function|column|table|one|way|place|approach"
    r"|component|version|answer|order|language|name|test|class|method|page|button|colou?r|format|number)",
}
_ENGLISH = r"""
(?:<it><is> |<is> |is )?still (?:<off>|no .+|\d{3}|nothing.*|(?:the )?same .*)(?: on \w+)?<now>
(?:the|your) (?:[\w-]+ ){1,4}(?:is|are) still <off><now>
(?:<it> |i |i'm |im |we )?still (?:get|gets|getting|have|having|see|seeing|fails?|crash\w*|shows?|returns?|throws?) .+
<it> still (?:fails?|crash\w*|breaks?|errors?)<now>
the (?:[\w-]+ ){1,3}still (?:fails?|crash\w*|shows?|returns?|throws?|gives|has|doesn'?t|does not).*
<it><is> <bad><now>
<it> (?:isn'?t|wasn'?t|aren'?t) (?:it|right|correct|working|what .*|how .*|the right .*)<now>
(?:<it> )?(?:still )?<not> (?:still )?<works><now>|(?:<it> )?still <not> .+
<it> (?:made|makes) (?:it|things|everything) (?:worse|slower).*|(?:it )?(?:got|gets) worse.*
(?:that|this|your (?:\w+ )?\w+) (?:broke|breaks|introduced|ruined|destroyed) .+
<it> (?:caused|produced|created|introduced|gave) .*(?:error|exception|loop|crash|warning|bug)s?
your (?:last )?\w+ (?:<not>|<fails>|ignores|misses|is missing|leaves out|never) ?.*
<you>(?:forgot|missed)(?! nothing).*|<you>broke(?! (?:it|that|this) down).*
<you>(?:misunderstood|misread|ignored|deleted|removed|overwrote|nuked|wiped|dropped|lost|overcomplicated).*
<you>(?:introduced .+|keep \w+ing .+|left .+ in(?: there)?|added .*(?:wrong|twice).*|only (?:did|changed|fixed) .+)
<you>(?:hard-?coded|duplicated|messed up|screwed up|swapped|mixed up|skipped|renamed) .+
<you>changed (?:the|my|it|too) .+
<you>got .+ (?:wrong|backwards)|<you>got it wrong.*|<you>made an? (?:mistake|error|typo).*
<you>(?:put|used|edited|picked|chose) .*\bwrong\b.*|you (?:still )?(?:didn'?t|did not|haven'?t|have not)(?! break).+
you should(?:n'?t| not) have .+|you(?:'re| are) (?:wrong|editing the wrong).*|you were (?:not )?supposed .+
why (?:did|have|would|are) you (?:\w+ )?(?:delet|remov|chang|break|renam|revert|ignor|skip|overwr|touch)\w* .+
i meant (?!to (?:ask|say)).+|i told you (?:to|not|that|no)\b.*|i never asked .+|i only (?:asked|wanted|meant) .+
i (?:explicitly |clearly |already )?said (?!yes|ok|it\b|before|go\b|i\b|already|so\b).+
i (?:didn'?t|did not) (?:ask|say|want|mean) .+|i asked (?:you )?(?:for|to) .+
i wanted (?:it|the|an?|you|only|just|something) .+
i (?:don'?t|do not) (?:want|like|need) (?:that|this|it|any of (?:that|this))
not (?:what|how) i .+|not (?:like )?(?:this|that|it)(?: one| way| file| at all)?|not even close.*
not (?:the )?(?:right|correct)(?: one| \w+)?|not quite(?: right| there| it| what .*)?
not (?:working|good)(?: yet| either| at all)?|(?:wrong|incorrect)(?: again)?|wrong <part>(?: again)?
now (?:it|nothing|everything|(?:the|all|my) \w+)(?: is| are|'s)? ?(?:<fails>|gone|missing|empty|blank|<not>).*
now nothing works.*|now (?:i|we)(?:'m| am|'re| are)? ?(?:get|getting|see|seeing) .+
(?:the )?(?:tests?|\w+ tests?|build|lint\w*) (?:fails?|breaks?|(?:is|are) (?:now )?(?:failing|broken|red)) now
the (?:tests?|build|app|page|site|types?|ci)<is> now (?:failing|broken|red)
<it> (?:now )?<fails> (?:with|now|again|on start\w*) ?.*|<fails> again.*|it throws .+ now
(?:it|this|that|everything) (?:worked|was working) (?:fine )?before.*
(?:<it> )?(?:now )?looks? (?:\w+ )?(?:wrong|worse|broken|off|terrible|weird)(?: now| than before)?
(?:the )?same (?:error|issue|problem|result|bug|failure|output|thing)(?: again| as before| still| here| message)*
nothing (?:has |is )?chang(?:ed|es)|(?:it|that) (?:does|did) nothing|no (?:change|difference|effect)
(?!if|when|once).+ (?:after|since|because of|due to) your (?:last )?(?:change|edit|fix|refactoring|commit|update)s?
there(?:'s| is| are) .*(?:mistake|bug|error|typo)s? in (?:what you|your) .*
(?:the|th(?:is|at|ese|ose)) \w+ you (?:wrote|made|added|created) .*(?:wrong|n'?t|not|fail|broken|nothing|drops).*
almost but .+|<it> (?:only )?(?:partially|almost|half) works.*|.+ which (?:it|they) should(?:n'?t| not)
it (?:compiles|runs|starts|builds|passes|works) (?:now )?but (?!can|could|what|how|please|also|let'?s|i\b|we\b).+
why (?:is|are) .+ (?:gone|broken|twice|missing now|broken now)
i don'?t think (?:that'?s|this is|it'?s) (?:right|correct|it)
don'?t do (?:that|this)|(?:please )?stop (?:adding|doing|changing|touching|rewriting) .+
"""
_UNDO = r"""
<please>(?:undo|revert|roll ?back|discard|scrap)(?: (?:it|that|this|them|please|<done>(?: .*)?))?(?: please)?
<please>(?:roll|take|change|put|turn|switch|bring) (?:it|that|this|them|everything) back(?: please)?
<please>(?:roll|take|change|put|turn|switch|bring) (?:it|that|this|them|everything) back (?:to )?(?:how|what|the way) .*
<please>go back(?: to (?:what|how|before|the (?:previous|old|last|earlier|original) (?:version|state|one|code|way)).*)?
<please>go back to the (?:version|state) (?:before|from before|we had).*|<please>redo (?:it|this|that)
<please>get rid of (?:that|this|your) (?:last )?(?:change|edit|code|commit)s?
(?:mach|nimm) (?:das|es|alles|deine \w+|die \w+ \w+) (?:bitte )?(?:wieder )?(?:rückgängig|zurück)|bitte zurücknehmen
annule[rz]? (?:ça|cela|tout|ta|tes|vos|votre|la dernière|le dernier)\b.*|reviens en arrière
(?:deshaz|revierte)(?: (?:eso|esto|todo|el último|los|tus|tu)\b.*)?|deshazlo|vuelve atrás
annulla(?: tutto| la modifica| questo)?|desfaz(?:er)?(?: isso)?|desfaça .*|撤销.*|元に戻して.*|되돌려.*
<please>(?:put|bring|get|restore) (?:the|my|your) (?:\w+ ){1,4}back(?: in)?(?: please)?
nimm (?:das|es) (?:bitte )?(?:wieder )?(?:raus|heraus|zurück)|remets .+
"""
# Phrases that are a correction only if they are the whole prompt: beside a task they describe the task.
_ALONE = r"""
<it> (?:now |still |again )?<fails> .+|(?:the|my) \w+ (?:is|are) (?:wrong|broken|off|missing|gone|empty) now
nothing happens.*
(?:i'm |i am |it's |the (?:\w+ ){1,4}|<it> )still (?!to\b|need|have to|want|prefer|think|open\b).+
(?!if |when |why |how |what |where )(?:\w+ ){1,6}(?:<not>|isn'?t|can'?t) .*(?:any ?more|now|yet)
"""
_GERMAN = r"""
(?:das|es|dies|so) (?:ist|war) (?:immer noch |leider |so |komplett )?(?:falsch|kaputt|nicht (?:richtig|korrekt|das).*)
das war (?:die|der|das) falsche .+|(?:so|das) war (?:das )?(?:so )?nicht .*|immer noch (?:falsch|kaputt)
(?:das|es|so) stimmt (?:so |immer noch )?nicht|falsche[rs]? (?:datei|zeile|tabelle|ordner|branch|spalte|funktion|stelle)
(?!warum|wieso|wenn)(?:\w+ ){1,5}(?:immer noch|noch immer) nicht.*
(?:das |es |jetzt )?(?:geht|funktioniert|klappt|läuft) (?:so |leider |immer noch |noch immer |jetzt )*nicht(?: mehr)?
(?:jetzt )?geht (?:jetzt )?(?:gar )?nichts mehr|(?:der|die|das) \w+ schlägt (?:immer noch|noch immer|jetzt) fehl
(?:so |das )?(?:habe?|hatte) ich .*nicht (?:gemeint|gewollt|gesagt|verlangt)|ich meinte .+
du hast .*(?:vergessen|kaputt|gelöscht|falsch|übersehen|missverstanden).*
(?:immer noch|noch immer|wieder) (?:der gleiche|derselbe|der selbe) .+
der fehler (?:ist|kommt) (?:immer noch|noch|wieder).*
"""
_FRENCH = r"""
(?:ça|ca|cela) (?:ne )?(?:marche|fonctionne|compile) (?:toujours |plus )?pas(?: du tout)?
(?:ça|ca) (?:plante|bugue|casse) (?:encore|toujours)|pas comme ça
c'est (?:toujours |encore |complètement )?(?:faux|incorrect|cassé)
(?:ce )?n'est pas (?:ça|correct|bon|ce que .*)|c'est pas (?:ça|ce que .*)|pas ce que j'ai demandé
(?:tu as|vous avez) (?:oublié|cassé|supprimé|effacé|mal) .+|(?:toujours|encore) (?:la même|le même) .+
(?:l'|le |la |les )?\w+ (?:est|sont) toujours (?:là|cassée?s?|fausse?s?|vides?|la même)
je voulais dire .+|mauvais(?:e)? (?:fichier|branche|dossier|table|ligne)
"""
_SPANISH = r"""
(?:eso |esto |así )?(?:todavía |aún |sigue )?no (?:funciona|sirve|compila|anda)(?: todavía| aún)?
todavía (?:falla|da error|no .+)|sigue (?:sin funcionar|fallando|dando error|igual|roto|mal).*
(?:eso |esto )?está (?:todo )?(?:mal|roto|equivocado)
(?:eso|esto) no (?:es|era) (?:lo que .*|correcto|así)|no (?:es|era) lo que .+|me refería a .+|quería decir .+
(?:te )?(?:olvidaste|rompiste|borraste) .+|has (?:roto|olvidado|borrado) .+|(?:el )?mismo error(?: .*)?
(?:archivo|fichero) equivocado|rama equivocada
"""
_OTHER = r"""
non (?:funziona|va)(?: ancora| più)?|è (?:ancora )?sbagliato|hai (?:dimenticato|rotto|cancellato) .+|non è quello che .+
(?:ainda )?não (?:funciona|funcionou|está (?:certo|funcionando))|(?:isso )?está (?:errado|quebrado)
continua (?:dando erro|falhando|quebrado|sem .+|a non .+)|você (?:esqueceu|quebrou|apagou) .+
não (?:é|foi) (?:isso|o que) ?.*
不对.*|不是(?:这个|這個|这样|我).*|错了.*|(?:还是|仍然|還是)(?:不行|不对|报错|失败|有错|一样).*|你(?:忘了|弄坏|删错).*
違(?:う|います).*|ちがいます.*|(?:まだ|全然)(?:動き?ません|動かない|だめ|エラー|直って).*|間違って.+
(?:아직도?|여전히) ?(?:안 ?돼|안 ?됩|에러|오류|같은).*|틀렸.*|그게 아니.*|작동하지 않.*
"""
_APPROVES = r"""
no\b|thank|go (?:ahead|on|with)|looks?\b|leave it|keep (?:going|it)|all good|continue|proceed|worries|problem|need|rush
more\b|questions?\b|not (?:yet|now|needed|necessary|really)|nothing else|just (?:continue|go|commit|proceed)
(?:that'?s|that is|it'?s|it is|that will be) (?:\w+ )?(?:fine|ok|okay|good|great|all|perfect|enough|right)\b
i'?m (?:good|fine)|we'?re (?:good|done)|you (?:can|may|were)|commit|ship|danke|passt|alles|schon gut|ist gut|mach weiter
merci|c'est (?:bon|bien|parfait|tout)|gracias|está bien|así está|grazie|obrigad|va bene|está bom|preference|idea
"""
_NO = r"(?:no|nope|nah|nein|nee|non|não)"
_AROUND = r"""
h+m+|ugh|argh|oh|oops|ok(?:ay)?|but|wait|stop|sorry|actually|well|hey|dude|please|pls|and|so|i think|aber|bitte|leider
mais|désolé|pero|ma
"""
_AIMS = r"(?:not|don'?t|do not|that|this|it|i (?:meant|said)|use|you|the other|same|ich meinte|je voulais)\b"


def _phrases(*groups: str) -> str:
    text = "|".join(line for group in groups for line in group.split("\n") if line)
    for name, part in _PARTS.items():
        text = text.replace(f"<{name}>", part)
    return text


_OPENING = rf"(?:(?:{_phrases(_AROUND)})\b[\s,.!]*)*"
OPENS = re.compile(rf"(?:{_OPENING}(?:{_NO}\b[\s,.!]*)?)*", re.IGNORECASE)
# a clause that says that the last step was wrong
WRONG = re.compile(_phrases(_ENGLISH, _UNDO, _GERMAN, _FRENCH, _SPANISH, _OTHER), re.IGNORECASE)
# a clause that says so only if it is the whole prompt
ALONE = re.compile(_phrases(_ALONE), re.IGNORECASE)
# a clause that asks to undo the last step
UNDONE = re.compile(_phrases(_UNDO), re.IGNORECASE)
# a prompt of nothing but "no"
BARE_NO = re.compile(rf"{_OPENING}{_NO}(?:[\s,]+{_NO})*[\s.!]*", re.IGNORECASE)
# "no", followed by an alternative, unless the rest approves
TURNED_DOWN = re.compile(
    rf"{_OPENING}(?:{_NO}[\s,]+)*{_NO}(?:\s*[,.!;-]+\s+|\s+(?={_AIMS}))(?!{_phrases(_APPROVES)})\S+(?:\s+\S+)+",
    re.IGNORECASE,
)
