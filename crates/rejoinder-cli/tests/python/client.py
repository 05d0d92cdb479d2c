"""Drives the tour with the Python SDK's client and prints what it saw as one line of JSON.

    client.py ERA stdio COMMAND...
    client.py ERA http URL
    client.py ERA sse URL

ERA is `stateless` or `session`. What is printed is compared with `clients/seen.rs`; beside it, `complaints` has every
warning that the SDK logged.
"""

import asyncio
import json
import logging
import sys
import warnings
from contextlib import asynccontextmanager

from mcp import Client, MCPDeprecationWarning, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp_types import ResourceTemplateReference, ResourceUpdatedNotification

# `auto` is the client's default: it asks for `server/discover` first. `legacy` is the handshake.
MODES = {"stateless": "auto", "session": "legacy"}


class Messages:
    """Keeps the resources that the server says were updated."""

    def __init__(self):
        self.updated = asyncio.Queue()

    async def __call__(self, message):
        if isinstance(message, ResourceUpdatedNotification):
            await self.updated.put(message.params.uri)


class Complaints(logging.Handler):
    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


def text(result):
    return "".join(block.text for block in result.content)


async def error(awaitable):
    try:
        return {"no error but": repr(await awaitable)}
    except MCPError as refused:
        return {"code": refused.error.code, "message": refused.error.message}


@asynccontextmanager
async def updates(client, uri):
    """Subscribes to a resource; what it gives waits until that is updated."""
    if client.mode == "legacy":
        await client.subscribe_resource(uri)
        yield client.message_handler.updated.get
    else:
        async with client.listen(resource_subscriptions=[uri]) as subscription:

            async def updated():
                return (await anext(aiter(subscription))).uri

            yield updated


async def see(client):
    seen = {"version": client.protocol_version, "server": client.server_info.name, "instructions": client.instructions}

    tools = (await client.list_tools()).tools
    seen["tools"] = [tool.name for tool in tools]
    arguments = tools[0].input_schema["properties"]
    seen["arguments of add"] = {name: schema["description"] for name, schema in arguments.items()}
    seen["prompts"] = [prompt.name for prompt in (await client.list_prompts()).prompts]
    seen["resources"] = [resource.uri for resource in (await client.list_resources()).resources]
    templates = (await client.list_resource_templates()).resource_templates
    seen["templates"] = [template.uri_template for template in templates]

    added = await client.call_tool("add", {"a": 1, "b": 2})
    seen["add"] = [text(added), bool(added.is_error)]
    refused = await client.call_tool("add", {"a": "one", "c": 2})
    seen["add with bad arguments"] = [text(refused), bool(refused.is_error)]

    progress = []

    async def on_progress(done, total, message):
        progress.append([done, total, message])

    counted = await client.call_tool("count_to", {"number": 3}, progress_callback=on_progress)
    seen["count_to"] = text(counted)
    seen["progress"] = sorted(progress)

    rolled = (await client.call_tool("roll", {"dice": 3})).structured_content
    seen["roll"] = {"dice": len(rolled["dice"]), "adds up": sum(rolled["dice"]) == rolled["total"]}

    reviewed = await client.get_prompt("review", {"code": "x = 1", "tone": "strict"})
    seen["review"] = [[message.role, message.content.text] for message in reviewed.messages]

    async def read(uri):
        return [[part.uri, part.mime_type, part.text] for part in (await client.read_resource(uri)).contents]

    seen["welcome"] = await read("note://welcome")
    async with updates(client, "note://to-do") as updated:
        seen["write_note"] = text(await client.call_tool("write_note", {"name": "to-do", "text": "write tests"}))
        seen["updated"] = await updated()
    seen["written"] = await read("note://to-do")

    template = ResourceTemplateReference(type="ref/resource", uri="note://{name}")
    completed = await client.complete(template, {"name": "name", "value": "we"})
    seen["completion"] = completed.completion.values

    seen["unknown tool"] = await error(client.call_tool("no_such_tool", {}))
    seen["unknown note"] = await error(client.read_resource("note://lost"))
    seen["after errors"] = text(await client.call_tool("add", {"a": 2, "b": 2}))
    return seen


async def main(era, transport, *target):
    match transport:
        case "http":
            server = target[0]
        case "sse":
            server = sse_client(target[0])
        case _:
            server = StdioServerParameters(command=target[0], args=list(target[1:]))
    complaints = Complaints()
    logging.getLogger("mcp").addHandler(complaints)
    async with Client(server, mode=MODES[era], message_handler=Messages()) as client:
        seen = await see(client)
    # Only now, as leaving may go wrong too.
    print(json.dumps({**seen, "complaints": complaints.texts}))


# Sessions know no other way to subscribe.
warnings.simplefilter("ignore", MCPDeprecationWarning)
asyncio.run(main(*sys.argv[1:]))
