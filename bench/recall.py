"""Whether search finds what it should, and how fast, beside plain FTS5, published figures, ripgrep and a JSON scan.

./dev bench recall --data DIR [--rows 10000,100000,1000000] [--json]

Two parts, each a benchmark of its own: `recall_sets` asks questions whose answers are known (only with --data),
`recall_speed` takes times over made-up history (not with `--rows 0`).
"""

from __future__ import annotations

import argparse
import json
import sys

from bench import measure, recall_sets, recall_speed


def main() -> int:
    """Both parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    recall_sets.arguments(parser)
    recall_speed.arguments(parser)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    said: dict[str, object] = {"machine": measure.machine()}
    if not args.json:
        print(said["machine"], flush=True)
    if args.data:
        said["sets"] = recall_sets.run(args, quiet=args.json)
    elif not args.json:
        print("\nno --data: whether it finds what it should is not measured", flush=True)
    if args.rows != [0]:
        said["speed"] = recall_speed.run(args, quiet=args.json)
    if args.json:
        print(json.dumps(said, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
