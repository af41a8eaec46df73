"""The errors that Repertoire raises on purpose; each message says what failed, on what, and what to do next.

RepertoireError
├── InvalidRequest        an argument that cannot be served; the message says what to send instead
│   └── UnknownName       nothing has the name that was given; UnknownPack, UnknownSection, UnknownSource, UnknownModel
│                         and UnknownFolder are at once what else goes wrong with packs, sources, models and
│                         projects; so is InvalidPack
├── UnknownComponent      no component answers to this id or name
├── InstallRefused        a component cannot be installed here, or an installation not taken back; all is as it was
├── PackRefused           a knowledge pack cannot be built, is unknown, or its manifest is invalid
├── ProjectRefused        a folder has no project memory, or cannot have one
├── ModelUnavailable      the embedding model cannot be loaded without reaching a hub
├── SourceError           a source cannot be read
│   └── SourceRefused     a source that must not be read from here (private host, odd protocol, path outside)
├── TooSlow               an operation used more processor time than it may; its input is left out
└── StoreError            the database cannot be used; the file is left as it was
    ├── ForeignStore      another program's file
    ├── NewerStore        written by a newer Repertoire
    ├── CorruptStore      damaged
    ├── StoreFull         no space left
    ├── StoreReadOnly     cannot be written from here
    ├── StoreBusy         another process holds the write lock for too long
    └── StatementRefused  what was to be read or written does not fit what the file holds
"""

from __future__ import annotations


class RepertoireError(Exception):
    """Base of all errors whose message is meant for a person."""


class InvalidRequest(RepertoireError):
    """An argument cannot be served; the message says what to send instead."""


class UnknownName(InvalidRequest):
    """Nothing has the name that was given."""


class UnknownComponent(RepertoireError):
    """No component answers to this id or name."""


class InstallRefused(RepertoireError):
    """A component cannot be installed here, or an installation not taken back."""


class PackRefused(RepertoireError):
    """A knowledge pack cannot be built, is unknown, or its manifest is invalid."""


class ProjectRefused(RepertoireError):
    """A folder has no project memory, or cannot have one."""


class MemoryGone(ProjectRefused):
    """The memory of a project was deleted or replaced while it was written."""


class ModelUnavailable(RepertoireError):
    """The embedding model cannot be loaded without reaching a hub."""


class SourceError(RepertoireError):
    """A source cannot be read."""


class SourceForgotten(RepertoireError):
    """A source was removed while it was read again, so nothing of it is written."""


class SourceRefused(SourceError):
    """A source must not be read from here: a private host, another protocol, or a path outside the project."""


class InvalidPack(PackRefused, InvalidRequest):
    """No pack can have this name, version, description, licence or topic."""


class UnknownPack(PackRefused, UnknownName):
    """There is no pack of this name."""


class UnknownSection(PackRefused, UnknownName):
    """A pack has no section of this citation."""


class UnknownFolder(ProjectRefused, UnknownName):
    """There is no such folder of a project."""


class UnknownModel(ModelUnavailable, UnknownName):
    """There is no model of this name."""


class UnknownSource(SourceError, UnknownName):
    """What was given names no folder, archive, repository or package."""


class TooSlow(RepertoireError):
    """An operation used more processor time than it may."""


class StoreError(RepertoireError):
    """The database cannot be used; the file is left as it was."""


class ForeignStore(StoreError):
    """A file of another program lies at the database's path."""


class NewerStore(StoreError):
    """The database was written by a newer Repertoire."""


class CorruptStore(StoreError):
    """The database is damaged."""


class StoreFull(StoreError):
    """No space is left to write."""


class StoreReadOnly(StoreError):
    """The database cannot be written from here."""


class StoreBusy(StoreError):
    """Another process held the write lock for too long."""


class StatementRefused(StoreError):
    """What was to be read or written does not fit what the file holds; nothing of it was written."""
