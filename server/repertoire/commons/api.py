"""The REST door under /api/v1: each route reads its request, makes one call of the commons and answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, HTTPException, Path, Query, Request, Response, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import StringConstraints

from repertoire.app.traces.fields import TraceFields
from repertoire.app.traces.search import TraceQuery
from repertoire.app.traces.voting import NewVote
from repertoire.commons import bodies, idempotency
from repertoire.commons.bans import Bans
from repertoire.commons.database import Database
from repertoire.commons.keys import ADMIN, CONTRIBUTE, MODERATE, READ, VOTE, Caller, Keys, NewKey
from repertoire.commons.limits import Limits
from repertoire.commons.observed import KEY_ID
from repertoire.commons.packs import Packs
from repertoire.commons.service import Commons
from repertoire.commons.shared_use import ReleasedUse, SharedUse
from repertoire.commons.statistics import CommunityCounts, statistics
from repertoire.documentation.commons_pack import CommonsPack
from repertoire.domain.trace import PLACES
from repertoire.learning.shared_use import OwnUse

PATH = "/api/v1"
router = APIRouter(prefix=PATH)
_bearer = HTTPBearer(auto_error=False, description="The key of an installation; it stands in no address and no body.")
_PAGE = 200
_CHANGES = 2_000  # traces of one page of changes, and votes: a first sync asks as rarely as may be
Placed = Annotated[str, StringConstraints(pattern=rf"^({'|'.join(PLACES)})=", max_length=200)]


def _part(name: str) -> Callable[[Request], Awaitable[Any]]:
    """Return a function that reads a part of the application, as a server builds it."""

    async def read(request: Request) -> Any:  # any other function costs a request the way to a thread and back
        return getattr(request.app.state, name)

    return read


async def _content(request: Request) -> bytes:
    return await request.body()


class Needs:
    """Lets a request pass whose key has a scope, whose member is not banned, and which is within the key's limits."""

    def __init__(self, scope: str = "") -> None:
        self.scope = scope

    def __call__(
        self, request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]
    ) -> Caller:
        """Return whom the request's key belongs to."""
        keys: Keys = request.app.state.keys
        limits: Limits = request.app.state.limits
        caller = keys.caller(given.credentials) if given else None
        if caller is None:
            raise HTTPException(
                401, "no key, or one that is unknown, expired or revoked", {"WWW-Authenticate": "Bearer"}
            )
        request.state[KEY_ID] = caller.key
        limits.take(caller, writes=request.method != "GET")
        if caller.banned:
            raise HTTPException(403, f"{caller.member} is banned from this community; ask a moderator")
        if self.scope and self.scope not in caller.scopes:
            raise HTTPException(
                403, f"this key has not the scope {self.scope!r}; an administrator can make one that has"
            )
        return caller


Service = Annotated[Commons, Depends(_part("commons"))]
KeyStore = Annotated[Keys, Depends(_part("keys"))]
BanList = Annotated[Bans, Depends(_part("bans"))]
UseStore = Annotated[SharedUse, Depends(_part("use"))]
PackStore = Annotated[Packs, Depends(_part("packs"))]
Store = Annotated[Database, Depends(_part("database"))]
Sent = Annotated[bytes, Depends(_content)]
PackHash = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$", description="The SHA-256 of its file.")]
OnceName = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=idempotency.MOST,
        pattern=r"^[!-~]*$",
        description="A name of the request: sent again within a day, it is not served again.",
    ),
]
Anybody = Annotated[Caller, Depends(Needs())]
Reader = Annotated[Caller, Depends(Needs(READ))]
Contributor = Annotated[Caller, Depends(Needs(CONTRIBUTE))]
Voter = Annotated[Caller, Depends(Needs(VOTE))]
Moderator = Annotated[Caller, Depends(Needs(MODERATE))]
Administrator = Annotated[Caller, Depends(Needs(ADMIN))]


@router.get("/traces/search")
def search(  # noqa: PLR0913, PLR0917 - FastAPI passes every parameter by name
    commons: Service,
    caller: Reader,
    q: Annotated[str, Query(max_length=4_000, description="What goes wrong.")] = "",
    error: Annotated[str, Query(max_length=8_000, description="What the failing command printed.")] = "",
    tags: Annotated[str, Query(max_length=500, description="Tags, with commas between them.")] = "",
    environment: Annotated[list[Placed] | None, Query(max_length=5, description="`language=python 3.12`.")] = None,
    limit: Annotated[int, Query(ge=1, le=50)] = 5,
    include_expired: Annotated[bool, Query()] = False,  # noqa: FBT002
) -> bodies.FoundOut:
    """Return the traces that may solve a problem, best first."""
    wanted = TraceQuery(
        q,
        error,
        tuple(tag for tag in tags.split(",") if tag.strip()),
        dict(place.split("=", 1) for place in environment or ()),
        limit,
        include_expired,
    )
    return bodies.FoundOut.of(commons.search(caller, wanted))


@router.post("/traces", status_code=202)
def contribute(commons: Service, caller: Contributor, body: bodies.TraceIn) -> bodies.Accepted:
    """Store a trace: its words find it at once, its meaning once a worker has embedded it."""
    return _accept(commons, caller, body.told())


@router.get("/traces/{trace}")
def show(commons: Service, caller: Reader, trace: str) -> bodies.ShownOut:
    """Return one trace."""
    return bodies.ShownOut.of(commons.show(caller, trace))


@router.patch("/traces/{trace}", status_code=202)
def amend(commons: Service, caller: Contributor, trace: str, body: bodies.AmendIn) -> bodies.Accepted:
    """Store a changed version of a trace, which supersedes the old one."""
    changes = body.changes()
    before = commons.fields_of(caller, trace)
    return _accept(commons, caller, TraceFields(**{**vars(before), **changes}))


@router.post("/traces/{trace}/votes")
def vote(commons: Service, caller: Voter, trace: str, body: bodies.VoteIn) -> bodies.ShownOut:
    """Store the caller's vote on a trace in place of the last one."""
    environment: dict[str, str] = {place: value for place, value in body.environment.items()}  # noqa: C416 - of text
    verdict = NewVote(trace, body.vote == "up", body.tag, body.note, environment)
    return bodies.ShownOut.of(commons.vote(caller, verdict))


@router.post("/traces/{trace}/flags")
def flag(commons: Service, caller: Voter, trace: str, body: bodies.FlagIn) -> bodies.StatusOut:
    """Tell the moderators that a trace is harmful; several members' flags take it out of use until they look."""
    return bodies.StatusOut(status=commons.flag(caller, trace, body.reason))


@router.get("/moderation/flagged")
def flagged(commons: Service, caller: Moderator) -> list[bodies.FlaggedOut]:
    """List the traces that wait for a moderator."""
    return [bodies.FlaggedOut(trace=bodies.TraceOut.of(trace), flags=flags) for trace, flags in commons.flagged(caller)]


@router.delete("/moderation/traces/{trace}", status_code=204)
def remove(commons: Service, caller: Moderator, trace: str) -> None:
    """Remove a trace: it is found no more, and installations drop it."""
    commons.moderate(caller, trace, keep=False)


@router.post("/moderation/traces/{trace}/restore", status_code=204)
def restore(commons: Service, caller: Moderator, trace: str) -> None:
    """Make a quarantined or removed trace active again."""
    commons.moderate(caller, trace, keep=True)


@router.get("/moderation/bans")
def bans(banned: BanList, caller: Moderator) -> list[bodies.BanOut]:
    """List the banned members."""
    return [bodies.BanOut.of(ban) for ban in banned.all(caller)]


@router.put("/moderation/bans/{member}", status_code=204)
def ban(banned: BanList, caller: Moderator, member: str, body: bodies.BanIn) -> None:
    """Ban a member: its keys are refused, and its votes do not count."""
    banned.ban(caller, member, body.reason)


@router.delete("/moderation/bans/{member}", status_code=204)
def lift_ban(banned: BanList, caller: Moderator, member: str) -> None:
    """Lift a ban: the member's keys work and its votes count again."""
    banned.lift(caller, member)


@router.get("/audit")
def audit_log(
    commons: Service,
    caller: Administrator,
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
    limit: Annotated[int, Query(ge=1, le=_PAGE)] = _PAGE,
) -> list[bodies.AuditOut]:
    """List what was decided in the community after an entry, the oldest first."""
    return [bodies.AuditOut.of(entry) for entry in commons.audit(caller, after, limit)]


@router.get("/changes")
def changes(
    commons: Service,
    caller: Reader,
    cursor: Annotated[int, Query(ge=0, le=2**62)] = 0,
    limit: Annotated[int, Query(ge=3, le=_CHANGES)] = _CHANGES,
) -> bodies.ChangesOut:
    """Return what changed in the community after a cursor, by which an installation keeps its cache."""
    return bodies.ChangesOut.of(commons.changes(caller, cursor, limit))


@router.get("/users/{member}/reputation")
def reputation(commons: Service, caller: Reader, member: str) -> bodies.ReputationOut:
    """Return what a member's votes weigh in each domain."""
    return bodies.ReputationOut.of(commons.reputation(caller, member))


@router.get("/tags")
def tags(commons: Service, caller: Reader) -> dict[str, int]:
    """Count the active traces of each tag."""
    return dict(commons.tags(caller))


@router.get("/use", deprecated=True)
def released_use(use: UseStore, caller: Reader) -> bodies.UseOut:
    """Tell about how many members use a component, as homes of the version before ask; see /statistics/components."""
    told = use.released(caller)
    return bodies.UseOut(day=told.day, components={key: one.used for key, one in told.components.items() if one.used})


@router.put("/use/own", deprecated=True)
def report_use(use: UseStore, caller: Contributor, body: bodies.UseIn) -> bodies.KeptOut:
    """Store which components the caller uses in place of its last report; see /statistics/components/own."""
    return bodies.KeptOut(kept=use.report(caller, OwnUse(tuple(body.components))))


@router.delete("/use/own", status_code=204, deprecated=True)
def withdraw_use(use: UseStore, caller: Contributor) -> None:
    """Delete all that the caller reported of components."""
    use.withdraw(caller)


@router.get("/statistics/components")
def component_statistics(use: UseStore, caller: Reader) -> ReleasedUse:
    """Tell of each component how many members use it, met it, and for what share it worked; nothing of under five."""
    return use.released(caller)


@router.put("/statistics/components/own")
def report_components(use: UseStore, caller: Contributor, body: bodies.OwnUseIn) -> bodies.KeptOut:
    """Store what the caller reports of components in place of its last report; no member sees a single report."""
    told = OwnUse(tuple(body.used), tuple(body.passed_over), dict(body.outcomes))
    return bodies.KeptOut(kept=use.report(caller, told))


@router.delete("/statistics/components/own", status_code=204)
def withdraw_components(use: UseStore, caller: Contributor) -> None:
    """Delete all that the caller reported of components."""
    use.withdraw(caller)


@router.get("/statistics")
def community_statistics(database: Store, caller: Reader) -> CommunityCounts:
    """Count what the community holds."""
    return statistics(database, caller)


@router.get("/packs")
def list_packs(packs: PackStore, caller: Reader) -> list[CommonsPack]:
    """List the packs that members uploaded."""
    return packs.all(caller)


@router.put(
    "/packs/{pack}",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
def upload_pack(packs: PackStore, caller: Contributor, pack: PackHash, content: Sent) -> CommonsPack:
    """Store a pack, as `repertoire pack export` writes it, under the SHA-256 of its file."""
    return packs.upload(caller, pack, content)


@router.get("/packs/{pack}", response_class=Response, responses={200: {"content": {"application/zip": {}}}})
def download_pack(packs: PackStore, caller: Reader, pack: PackHash) -> Response:
    """Return the file of a pack; it is data that others made: a home checks it before it takes it in."""
    return Response(packs.content(caller, pack), media_type="application/zip")


@router.delete("/moderation/packs/{pack}", status_code=204)
def remove_pack(packs: PackStore, caller: Moderator, pack: PackHash) -> None:
    """Delete the file of a pack; the same file is not taken in again."""
    packs.remove(caller, pack)


@router.get("/keys/self")
def whoami(caller: Anybody) -> bodies.WhoOut:
    """Tell whom the key belongs to."""
    return bodies.WhoOut(community=caller.community, member=caller.member, scopes=sorted(caller.scopes))


@router.post("/keys", status_code=201)
def create_key(keys: KeyStore, caller: Administrator, body: bodies.KeyIn, name: OnceName = "") -> bodies.KeyOut:
    """Make a key for a member of the caller's own community."""
    made = keys.create(
        caller.community,
        body.member,
        body.scopes,
        days=body.days,
        vouched=body.vouched,
        tier=body.tier,
        by=caller,
        once=_once(caller, name, f"create {body.model_dump_json()}"),
    )
    return _shown_once(made)


@router.post("/keys/{key_id}/rotate", status_code=201)
def rotate_key(keys: KeyStore, caller: Anybody, key_id: str, name: OnceName = "") -> bodies.KeyOut:
    """Replace a key, one's own or as an administrator any of the community, by a new one with the same scopes.

    One's own expires with the old one; an administrator's expires as a new one does.
    """
    _own_or_admin(caller, key_id)
    return _shown_once(keys.rotate(caller, key_id, once=_once(caller, name, f"rotate {key_id}")))


@router.delete("/keys/{key_id}", status_code=204)
def revoke_key(keys: KeyStore, caller: Anybody, key_id: str) -> None:
    """Revoke a key at once."""
    _own_or_admin(caller, key_id)
    if not keys.revoke(caller, key_id):
        raise HTTPException(404, "there is no such key")


def _accept(commons: Commons, caller: Caller, told: TraceFields) -> bodies.Accepted:
    done = commons.contribute(caller, told)
    return bodies.Accepted(id=done.trace.key, status=done.trace.status, known=done.known, version=done.trace.version)


def _once(caller: Caller, name: str, asked: str) -> idempotency.Once | None:
    return idempotency.Once(caller.community, caller.key, name, asked) if name else None


def _own_or_admin(caller: Caller, key: str) -> None:
    if caller.key != key and ADMIN not in caller.scopes:
        raise HTTPException(403, "this is another's key; an administrator may change it")


def _shown_once(made: NewKey) -> bodies.KeyOut:
    return bodies.KeyOut(id=made.id, key=made.text, member=made.member, scopes=list(made.scopes), expires=made.expires)
