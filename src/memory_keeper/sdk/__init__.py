"""For bots on the Claude Agent SDK: a memory, and threads whose context never runs full. Verb: ask.

`thread` is one conversation over any number of sessions, `threads` are many over a few processes, `sync` is for
programs without `await`; `client` gives one of your own the same memory by its `hooks`; `record` is what they ask of
the store. `sessions` keeps whole transcripts for the SDK to resume from, `memory_tool` is the API's. Needs the extra
`agent`: `pip install 'memory-keeper[agent]'`.
"""

from memory_keeper.sdk.client import keeper_hooks
from memory_keeper.sdk.memory_tool import memory_tool
from memory_keeper.sdk.record import memory_server
from memory_keeper.sdk.sessions import SessionStore
from memory_keeper.sdk.sync import SyncThreads
from memory_keeper.sdk.thread import AnswerError, Reset, Thread
from memory_keeper.sdk.threads import Threads

__all__ = [
    "AnswerError",
    "Reset",
    "SessionStore",
    "SyncThreads",
    "Thread",
    "Threads",
    "keeper_hooks",
    "memory_server",
    "memory_tool",
]
