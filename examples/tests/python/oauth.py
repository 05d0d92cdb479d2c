"""Logs in with the Python SDK's OAuth client, and prints what it saw as one line of JSON.

    oauth.py MODE URL ISSUER WHO

MODE is the client's: `auto` (stateless) or `legacy` (a session). WHO is the id of a client with a secret, or `user` for
the authorization code flow, whose page the script visits itself.
"""

import asyncio
import json
import sys
from urllib.parse import parse_qs, urlparse

import httpx2
from mcp import Client, MCPError
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata
from pydantic import AnyUrl


class Storage:
    """Keeps everything in memory."""

    tokens = client_info = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client_info

    async def set_client_info(self, client_info):
        self.client_info = client_info


class Browser:
    """A user who consents: follows the redirect back to the client."""

    back = None

    async def visit(self, url):
        async with httpx2.AsyncClient() as client:
            self.back = parse_qs(urlparse((await client.get(url)).headers["location"]).query)

    async def came_back(self):
        first = {name: values[0] for name, values in self.back.items()}
        return AuthorizationCodeResult(code=first["code"], state=first.get("state"), iss=first.get("iss"))


def provider(url, issuer, who):
    if who != "user":
        return ClientCredentialsOAuthProvider(url, Storage(), who, f"secret-of-{who}", issuer=issuer)
    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl("http://127.0.0.1/back")], client_name="test")
    browser = Browser()
    return OAuthClientProvider(url, metadata, Storage(), browser.visit, browser.came_back)


async def call(client, tool):
    try:
        return (await client.call_tool(tool, {})).content[0].text
    except MCPError as refused:
        return f"{refused.error.code} {refused.error.message}"


async def main(mode, url, issuer, who):
    async with httpx2.AsyncClient(auth=provider(url, issuer, who)) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            seen = {"tools": [tool.name for tool in (await client.list_tools()).tools]}
            for tool in ["whoami", "shut_down", "write"]:
                seen[tool] = await call(client, tool)
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
