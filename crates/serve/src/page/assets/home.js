// The form that starts a session, with documents that are dropped into it.
import { answer, ask, tell } from "./ask.js";
import { Screen } from "./screen.js";

const form = document.getElementById("start");
const drop = document.getElementById("drop");
const input = document.getElementById("documents");
const list = document.getElementById("kept");
const kept = [];

async function keep(files) {
  for (const file of files) {
    try {
      const response = await fetch(`/api/documents?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
      const { path } = await answer(response);
      const item = document.createElement("li");
      const remove = document.createElement("button");
      remove.type = "button";
      remove.textContent = `${file.name} ×`;
      remove.setAttribute("aria-label", `Leave ${file.name} out`);
      remove.addEventListener("click", () => {
        kept.splice(kept.indexOf(path), 1);
        item.remove();
      });
      kept.push(path);
      item.append(remove);
      list.append(item);
    } catch (problem) {
      tell(problem);
    }
  }
}

input.addEventListener("change", async () => {
  await keep(input.files);
  input.value = "";
});
for (const [event, over] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
  drop.addEventListener(event, (dragged) => {
    dragged.preventDefault();
    drop.classList.toggle("over", over);
    if (event === "drop") keep(dragged.dataTransfer.files);
  });
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const given = new FormData(form);
  const number = (name) => (given.get(name) ? Number(given.get(name)) : null);
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  button.textContent = "Starting …";
  try {
    const { id } = await ask("/api/sessions", {
      request: given.get("request"),
      open: kept,
      model: given.get("model") || null,
      size: given.get("size") || null,
      max_cost: number("max_cost"),
      max_steps: number("max_steps"),
      max_minutes: number("max_minutes"),
    });
    location.href = `/sessions/${id}`;
  } catch (problem) {
    tell(problem);
  } finally {
    button.disabled = false;
    button.textContent = "Start";
  }
});

document.getElementById("request").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});

for (const link of document.querySelectorAll("[data-screen]")) {
  const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/sessions/${link.dataset.screen}/screen`;
  new Screen(url, link);
}

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
