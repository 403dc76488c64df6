// Makes a workflow of a finished session, and says what became of it.
import { ask } from "./ask.js";
import { onSubmit } from "./forms.js";

const form = document.getElementById("learn");
const result = document.getElementById("learnt");
const id = document.getElementById("main").dataset.session;

function add(parent, kind, words) {
  const element = document.createElement(kind);
  element.textContent = words;
  parent.append(element);
  return element;
}

function show(learnt) {
  result.replaceChildren();
  const parameters = learnt.parameters.length ? `parameters: ${learnt.parameters.join(", ")}` : "no parameters";
  const line = add(result, "p", `Learnt ${learnt.name}: ${learnt.calls} calls, ${parameters}. `);
  line.className = "note good";
  const link = add(line, "a", "Run it");
  link.href = `/workflows#${encodeURIComponent(learnt.name)}`;
  for (const note of learnt.notes) add(result, "p", note).className = "note doubtful";
  if (!learnt.unsure.length) return;
  const choose = add(result, "fieldset", "");
  add(choose, "legend", "Does this differ from run to run?");
  for (const one of learnt.unsure) {
    const label = add(choose, "label", "");
    label.className = "choice";
    const box = document.createElement("input");
    box.type = "checkbox";
    box.name = "parameter";
    box.value = one.name;
    label.append(box, ` ${one.name}: “${one.value}” (${one.place})`);
  }
  const again = add(choose, "button", "Learn again with these");
  again.type = "button";
  again.addEventListener("click", () => {
    form.elements.name.value = learnt.name;
    form.elements.replace.checked = true;
    form.requestSubmit();
  });
}

onSubmit(form, async () => {
  const parameters = [...result.querySelectorAll("input[name=parameter]:checked")].map((box) => box.value);
  const { name, replace } = form.elements;
  show(await ask(`/api/sessions/${id}/learn`, { name: name.value, replace: replace.checked, parameters }));
});
