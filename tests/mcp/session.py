"""Sessions with `cairn mcp`, for the programs that measure its answers."""

import json
import os
import subprocess

STOP_TIMEOUT_S = 30


def environment(home):
    """The environment of a command that uses the index directory `home`, whatever the user has configured."""
    others = {"CAIRN_SERVER", "CAIRN_CONFIG", "CAIRN_CLUSTER_CONFIG"}
    kept = {name: value for name, value in os.environ.items() if name not in others}
    return kept | {"CAIRN_HOME": str(home), "CAIRN_FIRST_USE_MAX_FILES": "0"}


class McpSession:
    """A session with `cairn mcp`. The program ends with the session."""

    def __init__(self, cairn, home, cwd):
        self.process = subprocess.Popen(
            [cairn, "mcp"], cwd=cwd, env=environment(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )
        self.id = 0
        try:
            self.initialize()
        except BaseException:
            self.close()
            raise

    def initialize(self):
        client = {"name": "measurement", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.id += 1
        self.send({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.id:
                return answer["result"]
        raise RuntimeError(f"`cairn mcp` ended before it answered {method} {params}")

    def call(self, tool, arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments})
