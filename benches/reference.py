"""Times contextweaver for Python on the log that build.mjs sends on stdin; prints one JSON object."""

import json
import platform
import sys
import time
from importlib.metadata import version

from contextweaver.context.manager import ContextManager
from contextweaver.protocols import HeuristicEstimator
from contextweaver.types import ContextItem, ItemKind, Phase


def timed(work):
    started = time.perf_counter()
    value = work()
    return value, (time.perf_counter() - started) * 1000


def fill(items):
    # The estimator is named although it is the default: others may be installed.
    manager = ContextManager(estimator=HeuristicEstimator())
    for item in items:
        kind = ItemKind(item["kind"])
        manager.ingest(ContextItem(id=item["id"], kind=kind, text=item["text"], parent_id=item.get("parent_id")))
    return manager


def measure(items, queries):
    manager, ingest = timed(lambda: fill(items))
    builds = []
    for query in queries:
        _, took = timed(lambda: manager.build_sync(phase=Phase.answer, query=query))
        builds.append(took)
    return {"ingest": ingest, "builds": builds}


job = json.load(sys.stdin)
report = {"version": version("contextweaver"), "python": platform.python_version(), "sizes": {}}
for size in job["sizes"]:
    print(f"reference, {size['items']} items", file=sys.stderr, flush=True)
    report["sizes"][size["items"]] = measure(job["items"][: size["items"]], size["queries"])
json.dump(report, sys.stdout)
