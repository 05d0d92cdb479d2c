// Logs in with the TypeScript SDK's OAuth client, and prints what it saw as one line of JSON.
//
//     node oauth.mjs MODULES URL ISSUER WHO
//
// MODULES is the folder that has `node_modules`. WHO is the id of a client with a secret, or `user` for the authorization
// code flow, whose page the script visits itself.

import { createRequire } from "node:module";

const [modules, url, issuer, who] = process.argv.slice(2);
const require = createRequire(`${modules}/package.json`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { ClientCredentialsProvider } = require("@modelcontextprotocol/sdk/client/auth-extensions.js");
const { UnauthorizedError } = require("@modelcontextprotocol/sdk/client/auth.js");

/** A user who consents: follows the redirect back to the client. */
class User {
  redirectUrl = "http://127.0.0.1/back";
  clientMetadata = { redirect_uris: [this.redirectUrl], client_name: "test", token_endpoint_auth_method: "none" };
  clientInformation = () => this.information;
  saveClientInformation = (information) => void (this.information = information);
  tokens = () => this.kept;
  saveTokens = (tokens) => void (this.kept = tokens);
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);

  async redirectToAuthorization(page) {
    const response = await fetch(page, { redirect: "manual" });
    this.code = new URL(response.headers.get("location")).searchParams.get("code");
  }
}

// A client with a secret asks for the scopes that it is given, and for no others later.
const secret = { clientId: who, clientSecret: `secret-of-${who}`, scope: "mcp", expectedIssuer: issuer };
const authProvider = who === "user" ? new User() : new ClientCredentialsProvider(secret);
let transport;

/** Does something, and once more if the user had to log in for it. */
async function loggedIn(action) {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    await transport.finishAuth(authProvider.code);
    return action();
  }
}

const client = await loggedIn(async () => {
  const client = new Client({ name: "test", version: "1" });
  transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  await client.connect(transport);
  return client;
});
const seen = { tools: (await client.listTools()).tools.map((tool) => tool.name) };
for (const name of ["whoami", "shut_down", "write"]) {
  try {
    seen[name] = (await loggedIn(() => client.callTool({ name }))).content[0].text;
  } catch (error) {
    seen[name] = `${error.code} ${error.message}`;
  }
}
await client.close();
console.log(JSON.stringify(seen));
