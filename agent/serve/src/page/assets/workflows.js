// Workflows: each one's parameters as a form that runs it.
import { ask, tell } from "./ask.js";
import { documents, keep, onSubmit, runOptions } from "./forms.js";

const PREFIX = "parameter:";

for (const form of document.querySelectorAll("form[data-workflow]")) {
  const kept = documents(form);
  for (const input of form.querySelectorAll("input[data-for]")) {
    input.addEventListener("change", async () => {
      try {
        form.elements[input.dataset.for].value = await keep(input.files[0]);
      } catch (problem) {
        tell(problem);
      }
    });
  }
  onSubmit(form, async () => {
    const given = [...new FormData(form)].filter(([name, value]) => name.startsWith(PREFIX) && value !== "");
    const parameters = Object.fromEntries(given.map(([name, value]) => [name.slice(PREFIX.length), value]));
    const name = encodeURIComponent(form.dataset.workflow);
    const trust = form.elements.trust?.checked ? form.elements.trust.value : undefined;
    const { id } = await ask(`/api/workflows/${name}/run`, { parameters, open: kept, trust, ...runOptions(form) });
    location.href = `/sessions/${id}`;
  });
}

const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
if (named instanceof HTMLDetailsElement) named.open = true;
