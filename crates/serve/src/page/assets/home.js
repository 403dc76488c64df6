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
