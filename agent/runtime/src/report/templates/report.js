// Conveniences only: the report is whole without this.
(() => {
  const tools = document.querySelector(".tools");
  if (!tools) return;
  tools.hidden = false;
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  tools.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.do === "open") for (const part of all(".step details:not(.shot)")) part.open = true;
    if (button.dataset.do === "close") for (const part of all(".step details")) part.open = false;
    if (button.dataset.do === "trouble") {
      const only = document.body.classList.toggle("only-trouble");
      button.setAttribute("aria-pressed", String(only));
    }
  });
  const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
  let here = null;
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const link = links.get(entry.target.id);
      if (!entry.isIntersecting || !link) continue;
      if (here) here.classList.remove("here");
      here = link;
      link.classList.add("here");
    }
  }, { rootMargin: "-10% 0px -75% 0px" });
  for (const step of all(".step")) watch.observe(step);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.key !== "j" && event.key !== "k")) return;
    const steps = all(".step").filter((step) => step.offsetParent !== null);
    const at = steps.findLastIndex((step) => step.getBoundingClientRect().top < 40);
    const next = steps[Math.max(0, Math.min(steps.length - 1, event.key === "j" ? at + 1 : at - 1))];
    if (next) next.scrollIntoView();
  });
})();
