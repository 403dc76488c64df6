// Schedules: the form for a new one, and the buttons of each.
import { answer, ask, tell } from "./ask.js";
import { documents, onSubmit, runOptions } from "./forms.js";

const PREFIX = "parameter:";
const form = document.getElementById("add");
const kept = documents(form);

// The fields of what is chosen: a request, or the parameters of a workflow.
function choose() {
  const chosen = form.elements.workflow.value;
  document.getElementById("asked").hidden = chosen !== "";
  form.elements.request.required = chosen === "";
  for (const fields of form.querySelectorAll("fieldset[data-of]")) {
    fields.hidden = fields.dataset.of !== chosen;
    fields.disabled = fields.hidden;
  }
}

form.elements.workflow.addEventListener("change", choose);
choose();

onSubmit(form, async () => {
  const given = new FormData(form);
  const values = [...given].filter(([name, value]) => name.startsWith(PREFIX) && value !== "");
  await ask("/api/schedules", {
    name: given.get("name"),
    when: given.get("when"),
    catch_up: given.get("catch_up") === "on",
    request: given.get("request"),
    workflow: given.get("workflow") || null,
    parameters: Object.fromEntries(values.map(([name, value]) => [name.slice(PREFIX.length), value])),
    open: kept,
    ...runOptions(form),
  });
  location.href = "/schedules";
});

document.getElementById("main").addEventListener("click", async ({ target }) => {
  const { run, remove } = target.dataset ?? {};
  if (!run && !remove) return;
  if (remove && !confirm(`Remove the schedule ${remove}?`)) return;
  target.disabled = true;
  const path = `/api/schedules/${encodeURIComponent(run ?? remove)}`;
  try {
    if (run) {
      const { id } = await ask(`${path}/run`, {});
      location.href = `/sessions/${id}`;
    } else {
      await answer(await fetch(path, { method: "DELETE" }));
      location.reload();
    }
  } catch (problem) {
    tell(problem);
    target.disabled = false;
  }
});
