// Requests to the service, and what is told when one fails.

export async function ask(path, body, options = {}) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    ...options,
  });
  return answer(response);
}

export async function answer(response) {
  const text = await response.text();
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    value = { error: text };
  }
  if (!response.ok) {
    const problem = new Error(value?.error ?? `the service answered ${response.status}`);
    problem.field = value?.field ?? null;
    throw problem;
  }
  return value;
}

let hiding;

export function tell(problem) {
  const place = document.getElementById("problem");
  place.textContent = problem instanceof Error ? problem.message : String(problem);
  place.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { place.hidden = true; }, 15000);
}
