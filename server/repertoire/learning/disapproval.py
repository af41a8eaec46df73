"""Lists the phrases by which a prompt says that the last step was wrong, in ten languages, as expressions."""

from __future__ import annotations

import re

from repertoire.lazy_pattern import LazyPattern

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
    "done": r"(?:that|this|it|those|these|them|everything|all(?: of)? (?:that|this|it|them|your|(?:the )?<edits>)|your"
    r"|the <edits>)",
    # "the last migration", or the last commit, may be anybody's
    "last": r"(?:all|the (?:last|latest|previous) (?:few |two |\d+ )?(?:<edits>|one|thing)(?: you (?:made|did))?)",
    "edits": r"(?:changes?|edits?|fix(?:es)?|refactorings?|steps?|attempts?)",
    "you": r"you(?:'ve| have)? (?:just |also |completely |again |now )?",
    "please": r"(?:(?:can|could|would|will) you |let'?s |you (?:need|have) to )?(?:please )?(?:just )?",
    "leider": r"(?:leider |auch |so |mir |das )*",
    "nicht": r"(?:nicht|nichts)",
    "nada": r"(?: (?:de |en |em )?nada)?",
    "this": r"(?:(?:这|這|那)(?:个|個|样|樣)?(?:技能|方法|办法|建议|工具)?)?",
    "none": r"(?:并)?(?:没有?|沒有?|毫无)",
    "it_ja": r"(?:これは|それは|このスキルは|この方法は)?",
    "masen": r"[かきたちらり]?(?:ない|なかった|ませんでした|ません)(?:です)?",
    "still": r"(?:всё ещё|все еще|всё равно|все равно|по-прежнему|опять|снова) ",
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
<please>(?:undo|revert|roll ?back|discard|scrap)(?: (?:please|<done>(?: .*)?|<last>))?(?: please)?
<please>(?:roll|take|change|put|turn|switch|bring) (?:it|that|this|them|everything) back(?: please)?
<please>(?:roll|take|change|put|turn|switch|bring) (?:it|that|this|them|everything) back (?:to )?(?:how|what|the way) .*
<please>go back(?: to (?:what|how|before|the (?:previous|old|last|earlier|original) (?:version|state|one|code|way)).*)?
<please>go back to the (?:version|state) (?:before|from before|we had).*|<please>redo (?:it|this|that)
<please>get rid of (?:that|this|your) (?:last )?(?:change|edit|code|commit)s?
(?:mach|nimm) (?:das|es|alles|deine \w+|die letzten? änderung(?:en)?) (?:bitte )?(?:wieder )?(?:rückgängig|zurück)
bitte zurücknehmen
annule[rz]? (?:(?:ça|cela|tout|ta|tes|vos|votre)\b.*|la dernière (?:modification|étape)|le dernier changement)
reviens en arrière
(?:deshaz|revierte)(?: (?:(?:eso|esto|todo|los|tus|tu)\b.*|el último cambio))?|deshazlo|vuelve atrás
annulla(?: tutto| la modifica| questo)?|desfaça .*
(?:desfaz(?:er)?|reverta?|reverte)(?: (?:isso|tudo|a última \w+|as (?:últimas )?(?:alterações|mudanças)))?
(?:(?:다시|방금|마지막|최근)(?: ?한)? ?)?(?:(?:변경|수정)(?: ?사항)?[을를]? ?)?(?:되돌려|취소해|원래대로 (?:해|돌려)).*
(?:(?:今|さっき|先ほど|直前|最後)の)?(?:(?:変更|修正|編集)を?)?(?:元|前の状態|前のバージョン)に戻して(?:ください)?
(?:(?:今|さっき|先ほど|直前|最後)の)?(?:変更|修正|編集)を?(?:取り消して|戻して|破棄して)(?:ください)?|やり直して(?:ください)?
(?:请|先)?(?:把.{1,60})?(?:撤[销消回]|复原)(?:一下|它|掉|吧|(?:刚才|刚刚|你|这个|这些|这次|那个|所有|全部|(?:上次|上一|最后).{0,20}(?:改|步)).*|修改|改动|更改)?
(?:请|先)?(?:把.{1,60})?(?:改|退|还原|恢复)回(?:去|来|原样|之前.*|原来.*)?
(?:请|先)?(?:恢复|还原)(?:原样|原状|到?(?:之前|原来|刚才|上一).*)
(?:отмени|откати|верни|убери)(?:те)?(?: (?:это|вс[её]|назад|обратно|как было|изменени\w+|правк\w+|последн\w+|сво\w+))*
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
(?:das|es|dies|so) (?:ist|war) (?:immer noch |leider |so |komplett )?(?:falsch|kaputt)
(?:das|es) (?:ist|war) nicht
(?:das|es|dies|so) (?:ist|war) (?:immer noch |leider |so )?nicht (?:richtig|korrekt|das|was|so|gefragt).*
(?:leider |völlig |komplett )?falsch|so nicht|nicht so|(?:quatsch|unsinn|blödsinn)|falscher (?:ansatz|weg|ordner)
das hilft (?:so )?nicht|stimmt (?:so |immer noch |leider )?nicht
(?:die|alle) \w+ schlagen (?:immer noch|noch immer|jetzt|wieder) fehl
(?:das|so) (?:wollte|will|meinte) ich (?:so )?nicht|mach (?:das|es) (?:bitte )?(?:wieder )?weg
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
toujours (?:pas|rien)(?: du tout)?
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
(?:archivo|fichero) equivocado|rama equivocada|no (?:es|era) eso|(?:ahora )?falla otra cosa
te (?:equivocaste|has equivocado).*
"""
_OTHER = r"""
non (?:funziona|va)(?: ancora| più)?|è (?:ancora )?sbagliato|hai (?:dimenticato|rotto|cancellato) .+|non è quello che .+
(?:ainda )?não (?:funciona|funcionou|está (?:certo|funcionando))|(?:isso )?está (?:errado|quebrado)
continua (?:dando erro|falhando|quebrado|sem .+|a non .+)|você (?:esqueceu|quebrou|apagou) .+
não (?:é|era|foi) (?:isso|o que) ?.*|ainda (?:dá erro|falha).*
(?:você )?errou (?:de|o|a) (?:arquivo|linha|lugar|branch|pasta|página|nome)|volta atrás
(?:tu t'es|vous vous êtes) trompée?s?.*
不[对對](?!称|应|齐|等|就).*|(?:这|那)?不是(?:这个|這個|这样|我).*|错了.*
(?:这|那)(?:样|个)?(?:是)?(?:不对|不行|错的?|错误的)了?|别这样.*|不要这样
(?:但是?|可是|不过)?(?:测试|构建|编译|页面|程序|结果)?(?:还是|仍然|依然|又|還是)(?:空白|不行|不对|报|失败|有错|一样|没变|没有|不能|无法).*
你?(?:又|还|都|刚才)?(?:忘了|忘记了?|弄坏|弄错|搞错|改错|删错|理解错|误解|漏了|漏掉)(?!的).*
你?把.{1,10}(?:搞|弄|改)(?:坏|乱|错|崩)了
我(?:说|要|指)的不是.+|你没有?(?:按|听|改|加|看).+
(?:结果|方向|文件|格式|位置|名字)(?:不对|错了)
没有?(?:用|效果|变化|作用|修好|改好|改对|解决)|不起作用|不管用|不好使
(?:それは|これは|全然|意味が|場所が)?(?:違|ちが)(?:う|います)(?:よ|ね|って)?
(?:まだ|全然|また)(?:動き?ません|動かない|だめ|エラー|同じ|失敗|直).*|間違って(?:い|る|ます).*
(?:ファイル|場所|ページ|方向|形式|名前)が(?:違|ちが)(?:う|います)よ?|そう(?:じゃ|では)なくて
(?:エラー|バグ|問題)が直って(?:い)?(?:ない|ません)
そう(?:じゃ|では)(?:ない|ありません).*|(?:その|この|それ|これ)\w*(?:では|じゃ)(?:ない|ありません)(?:です)?
直って(?:い)?(?:ない|ません)(?:です)?|動(?:かない|きません)(?:です)?
잘못된 (?:파일|위치|페이지|이름)(?:이야|이에요|입니다|인데요)?
안 ?(?:돼|됩니다|되네)요?|(?:\w+[을를] )?(?:빼먹|빠뜨렸|까먹)었\w*
(?:아직도?|여전히) ?(?:안 ?돼|안 ?됩|에러|오류|같은).*|틀렸.*|그게 아니.*|작동하지 않.*
"""
# that what was tried did not help, which English says with <not> <works>
_UNHELPFUL = r"""
(?:(?:das|es|so|dies|(?:der|die) [\w-]+) )?(?:hat|hatte) <leider><nicht> (?:geholfen|gebracht|geklappt|genützt)
(?:(?:das|es) )?(?:hat|hatte) <leider>nicht funktioniert|(?:das|es) (?:bringt|nützt) <leider>nichts
(?:(?:das|es) )?hilft <leider><nicht>(?: weiter)?|(?:das (?:war|ist) )?keine (?:große )?hilfe
(?:ça|ca|cela) (?:n')?a (?:toujours )?(?:pas|rien) (?:aidé|marché|fonctionné|servi|suffi|changé|donné|résolu)
(?:ça|ca|cela) (?:n'a |ne )?(?:servi|sert) à rien|(?:ça|ca|cela) (?:ne )?(?:m'|n')?aide pas
(?:eso |esto )?no (?:me |nos )?(?:ha )?(?:ayud(?:a|ó|ado)|s[ei]rv(?:e|ió|ido)|funcionó|funcionado|resolvió)<nada>
non (?:mi |ci )?(?:ha|è) (?:aiutato|servito|funzionato|cambiato)(?: (?:a )?(?:niente|nulla))?|non mi aiuta
(?:isso |isto )?não (?:me |nos )?(?:ajudou|ajuda|adiantou|adianta|resolveu|serviu|deu certo)<nada>
(?:это |оно )?не (?:сработал[оаи]?|подошл[оаи]|подходит|помогает|годится)|(?:это )?(?:было )?бесполезно
толку (?:нет|никакого)|никакого толку|это ничего не (?:дало|решило)
<this>(?:并|完全|根本|好像|也|还是)?<none>(?:任何|什么|什麼)?(?:帮助|幫助|用处|用處|成功)
<this><none>(?:什么|什麼)?(?:用|效果|作用)|<this><none>帮(?:上|到)(?:什么)?忙
<this>帮不(?:上|到)(?:什么)?忙|<this>不(?:太)?好用
<it_ja>(?:全然|まったく|全く|あまり|何の)?(?:役に立|助けにな|解決(?:でき|し))<masen>
<it_ja>(?:うまく|上手く)[行い]<masen>|<it_ja>動<masen>|<it_ja>(?:だめ|駄目|ダメ)(?:だった|でした|です)
<it_ja>効果(?:が|は)?(?:ない|なかった|ありません)(?:でした|です)?
(?:(?:별로|전혀|하나도) )?(?:도움이?|소용이?|효과가?|해결이?) ?(?:안 ?\w+|없\w+|되지 않\w+|못 ?\w+)
"""
_RUSSIAN = r"""
(?:это |всё |все )?(?:<still>)?(?:не так|не то|неправильно|неверно|слома(?:но|лось))|неверный (?:подход|файл|путь)
(?:так )?не пойдёт
(?:это |оно |всё |все )?(?:<still>|уже |больше )?не (?:работает|помо\w+|компилируется|собирается|проходит)
(?:тесты?|сборка|билд|код) (?:<still>|теперь )(?:пада\w+|не .+|красн\w+|лома\w+)
<still>(?:ошибка|та же|тот же|пада|лома|не )\w*.*
(?:та же|тот же) (?:самая |самый )?(?:ошибка|результат|проблема)|ошибка (?:осталась|та же|не исчезла)
ничего не (?:изменилось|поменялось|работает)
не (?:тот|та|те|то) (?:файл|строка|ветка|папка|таблица|функция|место|что .+)
(?:ты|вы) (?:опять |снова |вс[её] )?(?:забыл|сломал|удалил|перепутал|ошиб|неправильно|изменил не|пропустил|испортил).*
(?:ты|вы) (?:не понял|не то).*
я имел\w? в виду .+|я не (?:это|об этом) .*|я (?:же )?(?:просил|говорил|сказал)\w? .+|это не то
"""  # noqa: RUF001
_APPROVES = r"""
no\b|thank|go (?:ahead|on|with)|looks?\b|leave it|keep (?:going|it)|all good|continue|proceed|worries|problem|need|rush
more\b|questions?\b|not (?:yet|now|needed|necessary|really)|nothing else|just (?:continue|go|commit|proceed)
(?:that'?s|that is|it'?s|it is|that will be) (?:\w+ )?(?:fine|ok|okay|good|great|all|perfect|enough|right)\b
i'?m (?:good|fine)|we'?re (?:good|done)|you (?:can|may|were)|commit|ship|danke|passt|das (?:reicht|passt|genügt)
alles|schon gut|ist gut|mach weiter
нет|спасибо|вс[её] |не (?:надо|нужно)|хорошо|отлично|продолжай|пожалуйста
merci|c'est (?:bon|bien|parfait|tout)|gracias|está bien|así está|grazie|obrigad|va bene|está bom|preference|idea
"""
_NO = r"(?:no|nope|nah|nein|nee|non|não|нет|неа)"
_AROUND = r"""
h+m+|ugh|argh|oh|oops|ok(?:ay)?|but|wait|stop|sorry|actually|well|hey|dude|please|pls|and|so|i think|aber|bitte|leider
mais|désolé|pardon|pero|perdona|perdón|ma|mas|desculpa|но|ну|однако|стоп|подожди|извини|でも|그런데|근데|하지만
"""
_AIMS = r"(?:not|don'?t|do not|that|this|it|i (?:meant|said)|use|you|the other|same|ich meinte|je voulais)\b"


def _phrases(*groups: str) -> str:
    text = "|".join(line for group in groups for line in group.split("\n") if line)
    for name, part in _PARTS.items():
        text = text.replace(f"<{name}>", part)
    return text


_OPENING = rf"(?:(?:{_phrases(_AROUND)})\b[\s,.!]*)*"
OPENS = LazyPattern(rf"(?:{_OPENING}(?:{_NO}\b[\s,.!]*)?)*", re.IGNORECASE)
# a clause that says that the last step was wrong
WRONG = LazyPattern(_phrases(_ENGLISH, _UNDO, _GERMAN, _FRENCH, _SPANISH, _RUSSIAN, _OTHER, _UNHELPFUL), re.IGNORECASE)
# a clause that says so only if it is the whole prompt
ALONE = LazyPattern(_phrases(_ALONE), re.IGNORECASE)
# a clause that asks to undo the last step
UNDONE = LazyPattern(_phrases(_UNDO), re.IGNORECASE)
# a prompt of nothing but "no"
BARE_NO = LazyPattern(rf"{_OPENING}{_NO}(?:[\s,]+{_NO})*[\s.!]*", re.IGNORECASE)
# "no", followed by an alternative, unless the rest approves
TURNED_DOWN = LazyPattern(
    rf"{_OPENING}(?:{_NO}[\s,]+)*{_NO}(?:\s*[,.!;-]+\s+|\s+(?={_AIMS}))(?!{_phrases(_APPROVES)})\S+(?:\s+\S+)+",
    re.IGNORECASE,
)
