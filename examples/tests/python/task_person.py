"""Makes calls that become tasks with FastMCP's client, which polls and answers by itself, and prints what was seen as one line of JSON.

    task_person.py URL
"""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.exceptions import ToolError
from fastmcp_tasks import client_models
from fastmcp_tasks.client import call_tool_task

# The protocol wants the id of the task in `Mcp-Name`, which this version of FastMCP leaves out.
for request in (client_models.GetTaskRequest, client_models.UpdateTaskRequest, client_models.CancelTaskRequest):
    request.name_param = "taskId"

ANSWERS = {
    "What is your name?": {"name": "Ada"},
    "Ada, what is your favorite color?": {"color": "green"},
    "Do you agree?": {"confirm": True},
}


async def main(url):
    asked, said = [], {}

    async def answer(message, response_type, params, context):
        asked.append(message)
        return ANSWERS[message]

    async with Client(url, elicitation_handler=answer) as client:
        for tool in ["paint_room", "multi_input", "failing_job", "protocol_error_job"]:
            try:
                result = await client.call_tool(tool, {})
                said[tool] = result.content[0].text
            except ToolError as error:
                said[tool] = f"error: {error}"
        task = await call_tool_task(client, "slow_compute", {"seconds": 3600})
        await task.cancel()
        said["slow_compute"] = (await task.status()).status
    print(json.dumps({"asked": asked, "said": said}))


asyncio.run(main(sys.argv[1]))
