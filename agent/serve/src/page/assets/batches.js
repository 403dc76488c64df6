// The form that starts a batch.
import { ask, tell } from "./ask.js";
import { documents, lines, onSubmit, runOptions } from "./forms.js";

const form = document.getElementById("start");
const kept = documents(form);
const file = document.getElementById("file");

file.addEventListener("change", async () => {
  try {
    if (file.files[0]) form.elements.tasks.value = await file.files[0].text();
  } catch (problem) {
    tell(problem);
  }
});

function wrongLine(number, why) {
  const problem = new Error(`Line ${number} ${why}`);
  problem.field = "tasks";
  return problem;
}

// A line is a JSON object, or a request in words, which opens all documents.
function taskOf(line, number) {
  if (!line.startsWith("{")) return { request: line, open: kept.map((path) => path.split("/").pop()) };
  try {
    return JSON.parse(line);
  } catch (problem) {
    throw wrongLine(number, `is no JSON object: ${problem.message}`);
  }
}

onSubmit(form, async () => {
  const tasks = lines(form.elements.tasks.value).map((line, index) => taskOf(line, index + 1));
  const { id } = await ask("/api/batches", {
    tasks,
    parallel: Number(form.elements.parallel.value) || 1,
    documents: kept,
    ...runOptions(form),
  });
  location.href = `/batches/${id}`;
});
