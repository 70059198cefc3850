"""The exceptions that operations raise."""


class ThunderError(RuntimeError):
    """An operation failed. Except after InvalidCallError, its group is unusable."""


class PeerLostError(ThunderError, ConnectionError):
    """A rank is gone."""


class OperationTimeoutError(ThunderError, TimeoutError):
    """An operation did not end before its deadline."""


class MismatchError(ThunderError):
    """Ranks called different operations, or with different types, sizes, roots or order."""


class AuthError(ThunderError):
    """A peer does not know the job's token."""


class AbortedError(ThunderError):
    """A rank ended the group on purpose, or was interrupted."""


class ClosedError(ThunderError):
    """The group was closed in this process."""


class InvalidCallError(ThunderError, ValueError):
    """The call was invalid. It had no effect, and the group still works."""


class ForkedError(ThunderError):
    """This process is a forked child and cannot use the library."""


# By the codes of thunder.h.
BY_CODE: dict[int, type[ThunderError]] = {
    1: ThunderError, 2: PeerLostError, 3: OperationTimeoutError, 4: MismatchError, 5: AuthError,
    6: AbortedError, 7: ClosedError, 8: InvalidCallError, 9: ForkedError,
}
