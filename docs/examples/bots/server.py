"""A server that keeps a thread for each user over five processes: `python server.py 8080`, then

curl --data 'Hello!' http://127.0.0.1:8080/anna
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKError

from memory_keeper.sdk import SyncThreads


def serve(port: int, threads: SyncThreads) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            prompt = self.rfile.read(int(self.headers["Content-Length"])).decode()
            try:
                status, said = 200, threads.answer(self.path.strip("/"), prompt)
            except ClaudeSDKError as error:  # an AnswerError, or Claude Code has ended
                status, said = 502, str(error)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(f"{said}\n".encode())

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        print(f"listening on {server.server_port}", flush=True)
        server.serve_forever()


def main() -> None:
    options = ClaudeAgentOptions(system_prompt="You help the users of a shop.", tools=["WebSearch"])
    rules = ["Never promise a date of delivery."]
    with SyncThreads(options, live=5, idle=300, human=True, rules=rules, on_reset=lambda info: print(info)) as threads:
        try:
            serve(int(sys.argv[1]) if sys.argv[1:] else 8080, threads)
        except KeyboardInterrupt:
            print("closing")


if __name__ == "__main__":
    main()
