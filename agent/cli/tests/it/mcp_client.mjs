// Drives `deskhand mcp` with the official TypeScript client. Arguments: the program, the file to write, and the folder of the client's
// package. Prints a line for each thing that holds, and fails where one does not.

import assert from "node:assert";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [program, file, folder] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const load = (path) => import(pathToFileURL(require.resolve(path)).href);
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
const { ElicitRequestSchema } = await load("@modelcontextprotocol/sdk/types.js");

const asked = [];
const client = new Client({ name: "script", version: "1" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, async (request) => {
  asked.push(request.params.message);
  return { action: "accept", content: {} };
});
await client.connect(new StdioClientTransport({ command: program, args: ["mcp"], env: process.env }));
console.log("initialised", client.getServerVersion().name);

const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args }, undefined, { timeout: 180_000 });
  const text = result.content.filter((part) => part.type === "text").map((part) => part.text).join("\n");
  assert(!result.isError, `${name}: ${text}`);
  return text;
};

const tools = (await client.listTools()).tools.map((tool) => tool.name);
for (const name of ["start_desktop", "act", "run_task"]) assert(tools.includes(name), tools.join());
console.log("tools listed");
await call("start_desktop", { task: "write a note" });
await call("open", { application: "mousepad" });
const done = await call("act", {
  actions: [
    { tool: "type_text", arguments: { text: "from another client" } },
    { tool: "save_as", arguments: { path: file } },
  ],
});
assert(done.includes("2. save_as: seen"), done);
console.log("saved");
assert(asked.some((message) => message.includes("“from another client”")), asked.join());
console.log("the user was asked");
const shot = await client.readResource({ uri: "deskhand://desktops/d1/screenshot" });
assert(shot.contents[0].blob);
console.log("seen");
await call("end_desktop", {});
await client.close();
console.log("ended");
