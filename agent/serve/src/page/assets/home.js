// The form that starts a session, with documents that are dropped into it.
import { answer, ask, tell } from "./ask.js";
import { documents, lines, onSubmit, runOptions } from "./forms.js";
import { Screen } from "./screen.js";
import { useShortcuts } from "./shortcuts.js";

const form = document.getElementById("start");
const kept = documents(form);

onSubmit(form, async () => {
  const given = new FormData(form);
  const { id } = await ask("/api/sessions", {
    request: given.get("request"),
    steps: lines(given.get("steps")),
    open: kept,
    ...runOptions(form),
  });
  location.href = `/sessions/${id}`;
});

document.getElementById("request").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});

for (const link of document.querySelectorAll("[data-screen]")) {
  const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/sessions/${link.dataset.screen}/screen`;
  new Screen(url, link);
}

// What running sessions ask, also those that were started elsewhere: above the table, in it, and as a number in the title.
const ASKS_EVERY_MS = 2000;
const kinds = { approval: "waits for your approval", question: "has a question" };
const title = document.title.replace(/^\(\d+\) /, "");
const waiting = document.getElementById("waiting");
let shown = null;

function link(id, className, ...parts) {
  const made = document.createElement("a");
  made.href = `/sessions/${id}`;
  made.className = className;
  made.append(...parts);
  return made;
}

function showAsking(rows) {
  const asking = rows.filter(({ facts }) => facts.asks);
  const now = JSON.stringify(asking.map(({ id, facts }) => [id, facts.asks]));
  if (now === shown) return;
  shown = now;
  document.title = asking.length ? `(${asking.length}) ${title}` : title;
  document.getElementById("asking-count").textContent = asking.length;
  document.getElementById("asking-list").replaceChildren(...asking.map(({ id, facts }) => {
    const [request, what, item] = ["b", "span", "li"].map((name) => document.createElement(name));
    request.textContent = facts.requests.at(-1) || id;
    what.className = "what";
    what.textContent = `${kinds[facts.asks.kind]}: ${facts.asks.what}`;
    item.append(link(id, "", request, " ", what));
    return item;
  }));
  waiting.hidden = asking.length === 0;
  for (const row of document.querySelectorAll("tr[data-session]")) {
    const { session } = row.dataset;
    const asks = asking.find(({ id }) => id === session)?.facts.asks;
    const badge = row.querySelector(".state .badge");
    if (asks) {
      badge.replaceWith(link(session, "badge asks", kinds[asks.kind]));
    } else if (badge.classList.contains("asks")) {
      const plain = document.createElement("span");
      plain.className = "badge plain";
      plain.textContent = rows.some(({ id }) => id === session) ? "running" : "ended";
      badge.replaceWith(plain);
    }
  }
}

async function lookForAsking() {
  try {
    const response = await fetch("/api/sessions?state=running&limit=200");
    if (response.ok) showAsking((await response.json()).rows);
  } catch {
    // The service has ended, or is started again.
  }
  setTimeout(lookForAsking, ASKS_EVERY_MS);
}

setTimeout(lookForAsking, ASKS_EVERY_MS);

useShortcuts([
  { key: "n", words: "Write a request", act: () => document.getElementById("request").focus() },
  { key: "/", words: "Search the sessions", act: () => document.getElementById("q").focus() },
]);

const table = document.getElementById("table");
if (table) {
  const chosen = () => [...table.querySelectorAll("input[name=session]:checked")].map((box) => box.value);
  const compare = document.getElementById("compare");
  const remove = document.getElementById("remove");
  table.addEventListener("change", () => {
    compare.disabled = chosen().length !== 2;
    remove.disabled = chosen().length === 0;
  });
  compare.addEventListener("click", () => {
    const [right, left] = chosen();
    location.href = `/compare?left=${left}&right=${right}`;
  });
  remove.addEventListener("click", async () => {
    const ids = chosen();
    if (!confirm(`Delete ${ids.length === 1 ? "this session" : `these ${ids.length} sessions`} for good?`)) return;
    for (const id of ids) {
      try {
        await answer(await fetch(`/api/sessions/${id}`, { method: "DELETE" }));
      } catch (problem) {
        tell(problem);
      }
    }
    location.reload();
  });
}
