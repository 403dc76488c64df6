// One batch: its tasks as they go.
import { answer, ask, tell } from "./ask.js";

const main = document.getElementById("main");
const path = `/api/batches/${main.dataset.batch}`;
const button = (id) => document.getElementById(id);

function runs(running) {
  button("stop").hidden = !running;
  button("go-on").hidden = running;
  button("forget").hidden = running;
}

function onClick(id, act) {
  button(id).addEventListener("click", async () => {
    button(id).disabled = true;
    try {
      await act();
    } catch (problem) {
      tell(problem);
    } finally {
      button(id).disabled = false;
    }
  });
}

onClick("stop", () => ask(`${path}/stop`, {}));
onClick("go-on", async () => {
  const { id } = await ask(`${path}/resume`, {});
  location.href = `/batches/${id}`;
});
onClick("forget", async () => {
  await answer(await fetch(path, { method: "DELETE" }));
  location.href = "/batches";
});

runs(main.dataset.running === "true");
if (main.dataset.running === "true") {
  const events = new EventSource(`${path}/events`);
  events.addEventListener("tasks", ({ data }) => {
    const rows = document.getElementById("rows");
    const focused = rows.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    rows.innerHTML = JSON.parse(data);
    if (focused) rows.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  });
  events.addEventListener("end", () => {
    events.close();
    runs(false);
  });
}
