// Drives `deskhand mcp` with the official TypeScript client of 2026-07-28. Arguments: the program, the file to write, and the folder of the
// client's package. Prints a line for each thing that holds, and fails where one does not.

import assert from "node:assert";
import { pathToFileURL } from "node:url";

const [program, file, folder] = process.argv.slice(2);
const load = (path) =>
  import(pathToFileURL(`${folder}/node_modules/@modelcontextprotocol/client/dist/${path}`).href);
const { Client } = await load("index.mjs");
const { StdioClientTransport } = await load("stdio.mjs");

const asked = [];
const client = new Client(
  { name: "script", version: "2" },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
);
client.setRequestHandler("elicitation/create", async (request) => {
  asked.push(request.params.message);
  return { action: "accept", content: {} };
});
await client.connect(new StdioClientTransport({ command: program, args: ["mcp"], env: process.env }));
console.log("connected", client.getNegotiatedProtocolVersion?.());

const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args }, { timeout: 180_000 });
  assert(!result.isError, `${name}: ${JSON.stringify(result)}`);
  return result;
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
const verdicts = done.structuredContent.actions.map((one) => one.verdict);
assert.deepStrictEqual(verdicts, ["seen", "seen"]);
console.log("saved");
assert(asked.some((message) => message.includes("“from another client”")), asked.join());
console.log("the user was asked");
await call("end_desktop", {});
await client.close();
console.log("ended");
