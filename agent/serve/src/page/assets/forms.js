// What forms have in common: documents that are dropped into them, values, and what is wrong said beside the field.
import { answer, tell } from "./ask.js";

// Keeps a file in the folder of the service, and returns its path.
export async function keep(file) {
  const response = await fetch(`/api/documents?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
  return (await answer(response)).path;
}

// The documents that are dropped into a form; their paths are in the list that is returned.
export function documents(form) {
  const place = form.querySelector("[data-documents]");
  const input = place.querySelector("input");
  const list = place.querySelector("ul");
  const kept = [];
  const add = async (files) => {
    for (const file of files) {
      try {
        const path = await keep(file);
        kept.push(path);
        const item = document.createElement("li");
        const remove = document.createElement("button");
        remove.type = "button";
        remove.textContent = `${file.name} ×`;
        remove.setAttribute("aria-label", `Leave ${file.name} out`);
        remove.addEventListener("click", () => {
          kept.splice(kept.indexOf(path), 1);
          item.remove();
          input.focus();
        });
        item.append(remove);
        list.append(item);
      } catch (problem) {
        tell(problem);
      }
    }
  };
  input.addEventListener("change", async () => {
    await add([...input.files]);
    input.value = "";
  });
  dropped(place, add);
  return kept;
}

// Calls `take` with the files that are dropped on a place.
export function dropped(place, take) {
  for (const [event, over] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
    place.addEventListener(event, (dragged) => {
      dragged.preventDefault();
      place.classList.toggle("over", over);
      if (event === "drop") take(dragged.dataTransfer.files);
    });
  }
}

// The options of a run that a form has; what is empty is left to the configuration.
export function runOptions(form) {
  const given = new FormData(form);
  const options = {};
  for (const name of ["model", "size", "approve", "keep", "verify"]) {
    if (given.get(name)) options[name] = given.get(name);
  }
  for (const name of ["max_cost", "max_steps", "max_minutes"]) {
    if (given.get(name)) options[name] = Number(given.get(name));
  }
  return options;
}

// The lines of a text that are not empty.
export function lines(text) {
  return String(text ?? "").split("\n").map((line) => line.trim()).filter((line) => line);
}

let count = 0;

// Says what is wrong beside the field that it is about, else at the foot of the page.
function wrong(form, problem) {
  const field = problem.field ? form.elements[problem.field] : null;
  if (!(field instanceof HTMLElement)) {
    tell(problem);
    return;
  }
  const words = document.createElement("span");
  words.className = "wrong";
  words.id = `wrong-${count += 1}`;
  words.setAttribute("role", "alert");
  words.textContent = problem.message;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", words.id);
  field.after(words);
  for (let above = field.closest("details"); above; above = above.parentElement.closest("details")) above.open = true;
  field.focus();
}

function right(form) {
  form.querySelectorAll(".wrong").forEach((words) => words.remove());
  form.querySelectorAll("[aria-invalid]").forEach((field) => {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  });
}

// Runs `send` when a form is submitted; its button waits meanwhile and says so.
export function onSubmit(form, send) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button[type=submit]");
    const words = button.textContent;
    right(form);
    button.disabled = true;
    button.textContent = `${words} …`;
    try {
      await send(event);
    } catch (problem) {
      button.disabled = false;
      wrong(form, problem);
    } finally {
      button.disabled = false;
      button.textContent = words;
    }
  });
}
