"""Makes calls with the Python SDK's client, answers what they ask, and prints what was seen as one line of JSON.

    person.py TASKS

TASKS is a list in JSON, each with the client's `mode`, the `target` (a URL, or a command and its arguments, which gets `env`), the `tool` and
its `arguments`, the `answers` by the words that are asked, how many `rounds` there may be before the last, and how many questions must have
come `together` before any is answered.
Beside the calls, `complaints` has every warning that the SDK logged.
"""

import asyncio
import json
import logging
import sys
import warnings

from mcp import Client, MCPDeprecationWarning, StdioServerParameters
from mcp_types import CreateMessageResult, ElicitResult, ErrorData, ListRootsResult


class Complaints(logging.Handler):
    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


async def call(task):
    asked = []
    together = asyncio.Event()

    async def answer(result, words):
        asked.append(words)
        if len(asked) >= task["together"]:
            together.set()
        await together.wait()
        if words not in task["answers"]:
            return ErrorData(code=-32602, message=f"no answer to: {words}")
        return result.model_validate(task["answers"][words])

    async def elicit(_, params):
        return await answer(ElicitResult, params.message)

    async def sample(_, params):
        return await answer(CreateMessageResult, params.messages[0].content.text)

    async def list_roots(_):
        return await answer(ListRootsResult, "roots/list")

    command, *arguments = task["target"]
    server = StdioServerParameters(command=command, args=arguments, env=task["env"]) if arguments else command
    async with Client(
        server,
        mode=task["mode"],
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=list_roots,
        input_required_max_rounds=task["rounds"],
    ) as client:
        result = await client.call_tool(task["tool"], task["arguments"])
        # What the server takes back when a call ends may be on its way: a client that left now would complain.
        await client.list_tools()
    said = "".join(block.text for block in result.content)
    return {"asked": asked, "said": said, "failed": bool(result.is_error)}


async def main(tasks):
    complaints = Complaints()
    logging.getLogger("mcp").addHandler(complaints)
    calls = [await call(task) for task in tasks]
    print(json.dumps({"calls": calls, "complaints": complaints.texts}))


# Samples and roots are deprecated, and must work as long as they are there.
warnings.simplefilter("ignore", MCPDeprecationWarning)
asyncio.run(main(json.loads(sys.argv[1])))
