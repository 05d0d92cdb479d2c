// Calls a tool that sends progress, with the TypeScript SDK, and prints how much of it arrived for each call as one line of JSON.
//
//     node stream.mjs MODULES TRANSPORT TARGET CALLS
//
// MODULES is the folder that has `node_modules`. TRANSPORT is stdio, ws, sse or http. TARGET is the program, or the address.
// CALLS is a JSON array with the arguments of each call, which are sent one after another.

import { createRequire } from "node:module";

const [modules, name, target, calls] = process.argv.slice(2);
const require = createRequire(`${modules}/package.json`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");

const transports = {
  stdio() {
    const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
    return new StdioClientTransport({ command: target, args: ["--stdio"] });
  },
  ws() {
    const { WebSocketClientTransport } = require("@modelcontextprotocol/sdk/client/websocket.js");
    return new WebSocketClientTransport(new URL(target));
  },
  sse() {
    const { SSEClientTransport } = require("@modelcontextprotocol/sdk/client/sse.js");
    return new SSEClientTransport(new URL(target));
  },
  http() {
    const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return new StreamableHTTPClientTransport(new URL(target));
  },
};

const client = new Client({ name: "test", version: "1" });
await client.connect(transports[name]());
const seen = [];
for (const call of JSON.parse(calls)) {
  let arrived = 0;
  const result = await client.callTool({ name: "recite", arguments: call }, undefined, {
    onprogress: () => void (arrived += 1),
  });
  const lines = result.content[0].text.split("\n").length - 1;
  seen.push([lines, arrived]);
}
console.log(JSON.stringify(seen));
await client.close();
