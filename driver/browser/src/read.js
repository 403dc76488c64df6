/* Reads the document of one frame: its text as markdown, its form fields, and its state.

   It runs in a world of its own, and takes properties from the prototypes, since elements with names such as "title" or "firstChild" hide
   the properties of documents and forms. All walks are loops with limits: a page may be as deep and as long as it likes.

   `owners` are the elements of the frames inside, in the order in which the caller numbers them. Without them (`request.windows`), the
   windows of the frames are returned after the text. A frame stands in the text as its number between two marks that pages cannot write. */
function () {
  "use strict";
  const [request, ...owners] = arguments;
  const NODES_MAX = 200000, TEXT_MAX = 1000000, FIELDS_MAX = 300, OPTIONS_MAX = 50, NESTED_MAX = 40, INDENTED_MAX = 10;
  const VALUE_MAX = 2000, LABEL_MAX = 200, LINK_MAX = 2000, SLOTTED_MAX = 20000, COLUMNS_MAX = 100, TIME_MS_MAX = 10000;
  const MARK = "\u0001";
  const property = (type, name) => {
    const read = Object.getOwnPropertyDescriptor(type.prototype, name).get;
    return (object) => read.call(object);
  };
  const firstChild = property(Node, "firstChild"), nextSibling = property(Node, "nextSibling");
  const nodeType = property(Node, "nodeType"), localName = property(Element, "localName"), shadowRoot = property(Element, "shadowRoot");
  const rootOf = (node) => Node.prototype.getRootNode.call(node);
  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name);
  const started = Date.now();

  const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
  const clean = (text) => String(text).toWellFormed().replace(CONTROL, "");
  const flat = (text) => text.replace(/\s+/g, " ").trim();
  const cut = (text, most) => text.length > most ? text.slice(0, most).toWellFormed() + "…" : text;
  const line = (text, most) => cut(flat(clean(text ?? "")), most);

  /* The text in a label, without what is typed into its fields. */
  const plain = (root, most) => {
    let text = "", left = 2000;
    const stack = [firstChild(root)];
    while (stack.length && text.length < most && left-- > 0) {
      const node = stack.pop();
      if (!node) continue;
      stack.push(nextSibling(node));
      if (nodeType(node) === 3) text += node.data.slice(0, most);
      else if (nodeType(node) === 1 && !/^(select|textarea|script|style|datalist)$/.test(localName(node))) {
        text += " ";
        stack.push(firstChild(node));
      }
    }
    return line(text, most);
  };
  const labelOf = (element) => {
    const named = (attribute(element, "aria-labelledby") ?? "").split(/\s+/).filter(Boolean).slice(0, 10);
    const root = rootOf(element);
    const parts = named.map((id) => {
      const other = root.nodeType === 9 ? Document.prototype.getElementById.call(root, id) : root.getElementById?.(id);
      return other ? plain(other, LABEL_MAX) : "";
    });
    const labels = element.labels ? Array.from(element.labels).slice(0, 10).map((label) => plain(label, LABEL_MAX)) : [];
    return parts.filter(Boolean).join(" ") || line(attribute(element, "aria-label"), LABEL_MAX) || labels.filter(Boolean).join(" ") ||
      line(attribute(element, "placeholder"), LABEL_MAX) || line(attribute(element, "title"), LABEL_MAX) ||
      line(attribute(element, "name"), LABEL_MAX);
  };
  /* A password stays one when a page shows it as text. */
  const isSecret = (element) => element.type === "password" ||
    /(^|\s)(current-password|new-password|cc-csc|one-time-code)(\s|$)/i.test(attribute(element, "autocomplete") ?? "") ||
    /passw/i.test((attribute(element, "name") ?? "") + " " + (attribute(element, "id") ?? ""));
  const valueOf = (element) => isSecret(element) ? (element.value ? "•••" : "") : cut(clean(element.value), VALUE_MAX);
  const isDisabled = (element) => Element.prototype.matches.call(element, ":disabled");

  const filesOf = (element) => Array.from(element.files).slice(0, OPTIONS_MAX).map((file) => line(file.name, LABEL_MAX));

  /* Form fields. */
  const fields = [];
  let fieldsLeft = 0;
  const note = (element, kind, more) => {
    if (!request.fields) return;
    if (fields.length >= FIELDS_MAX) { fieldsLeft += 1; return; }
    const field = { label: labelOf(element), kind, ...more };
    if (element.required || attribute(element, "aria-required") === "true") field.required = true;
    if (kind !== "editable" && isDisabled(element)) field.disabled = true;
    if (element.readOnly) field.read_only = true;
    if (element.willValidate && !element.validity.valid) field.invalid = line(element.validationMessage, LABEL_MAX) || "invalid";
    fields.push(field);
  };
  const noteInput = (element) => {
    const kind = element.type;
    if (/^(hidden|submit|reset|button|image)$/.test(kind)) return;
    if (kind === "checkbox" || kind === "radio") {
      note(element, kind, { value: cut(clean(element.value), LABEL_MAX), checked: element.checked });
    } else if (kind === "file") {
      note(element, kind, { files: filesOf(element), accept: line(element.accept, LABEL_MAX), multiple: element.multiple });
    } else note(element, kind, { value: valueOf(element) });
  };
  const selected = (element) => Array.from(element.selectedOptions).slice(0, OPTIONS_MAX).map((option) => line(option.label, LABEL_MAX));
  const noteSelect = (element) => {
    const options = [];
    for (let at = 0; at < element.length && options.length < OPTIONS_MAX; at += 1) {
      const option = element.item(at), entry = { text: line(option.label, LABEL_MAX) };
      if (option.selected) entry.selected = true;
      options.push(entry);
    }
    const more = { value: selected(element).join(", "), options, multiple: element.multiple };
    if (element.length > options.length) more.options_total = element.length;
    note(element, "select", more);
  };

  /* Text, as pieces in nested buffers. */
  const buffers = [{ pieces: [], breaks: 2, space: true, empty: true }];
  const top = () => buffers[buffers.length - 1];
  let length = 0, cutOff = false;
  const put = (text) => {
    if (!text) return;
    if (length > TEXT_MAX) { cutOff = true; return; }
    const buffer = top();
    buffer.pieces.push(text);
    buffer.empty = false;
    length += text.length;
    const last = /\n*$/.exec(text.slice(-3))[0].length;
    buffer.breaks = last === text.length ? buffer.breaks + last : last;
    buffer.space = /\s$/.test(text.slice(-1));
  };
  const write = (data, keepsSpace) => {
    let text = clean(data.slice(0, TEXT_MAX));
    if (!keepsSpace) {
      text = text.replace(/\s+/g, " ");
      if (top().space && text.startsWith(" ")) text = text.slice(1);
    }
    put(text);
  };
  const gap = () => { if (!top().space) put(" "); };
  const block = (breaks) => {
    const buffer = top();
    if (!buffer.empty && buffer.breaks < breaks) put("\n".repeat(breaks - buffer.breaks));
  };
  const stack = [];
  /* What is written until the exit is given to `use`, instead of being a part of the text. */
  const collect = (use) => {
    if (buffers.length > NESTED_MAX) return;
    buffers.push({ pieces: [], breaks: 2, space: true, empty: true });
    stack.push({ exit: () => {
      const text = buffers.pop().pieces.join("");
      length -= text.length;
      use(text);
    } });
  };
  const around = (breaks) => { block(breaks); stack.push({ exit: () => block(breaks) }); };
  const tidy = (text) => text.replace(/[ \t]+\n/g, "\n").replace(/\n{3,}/g, "\n\n").replace(/^\n+|\s+$/g, "");

  const fenced = (text) => {
    if (text.includes(MARK)) { put(text); return; }
    let fence = "```";
    while (text.includes(fence)) fence += "`";
    put(fence + "\n" + text.replace(/^\n|\s+$/g, "") + "\n" + fence);
  };
  const linked = (element) => (text) => {
    if (text.includes(MARK)) { put(text); return; }
    const shown = flat(text) || line(attribute(element, "aria-label"), LABEL_MAX) || line(attribute(element, "title"), LABEL_MAX);
    const address = typeof element.href === "string" ? element.href : "";
    if (/^\s/.test(text)) gap();
    if (!shown) return;
    if (!address || /^(javascript|data|blob):/i.test(address)) put(shown);
    else put("[" + shown + "](" + cut(clean(address).replace(/\s/g, "%20").replace(/\(/g, "%28").replace(/\)/g, "%29"), LINK_MAX) + ")");
    if (/\s$/.test(text)) gap();
  };
  const item = (mark, indents) => (text) => {
    const inner = tidy(text);
    if (!inner) return;
    block(1);
    put(mark + (indents ? inner.replace(/\n(?=[^\n])/g, "\n  ") : inner));
    block(1);
  };
  const quoted = (text) => { block(2); put(text.includes(MARK) ? tidy(text) : tidy(text).replace(/^/gm, "> ")); block(2); };

  /* A table of data becomes one of markdown; one for layout stays text. */
  const tableDone = (table) => {
    const rows = table.rows.filter((row) => row.length);
    const columns = Math.min(Math.max(0, ...rows.map((row) => row.length)), COLUMNS_MAX);
    block(2);
    if (table.layout || columns < 2 || rows.length < 2) {
      for (const row of rows) for (const cell of row) { block(1); put(tidy(cell)); block(1); }
    } else {
      rows.forEach((row, at) => {
        const cells = Array.from({ length: columns }, (_, column) => flat(row[column] ?? "").replace(/\|/g, "\\|"));
        block(1);
        put("| " + cells.join(" | ") + " |\n");
        if (at === 0) put("|" + " --- |".repeat(columns) + "\n");
      });
    }
    block(2);
  };

  const shownInput = (element) => {
    const label = labelOf(element), kind = element.type;
    if (kind === "hidden") return;
    gap();
    if (kind === "checkbox") put(element.checked ? "[x] " : "[ ] ");
    else if (kind === "radio") put(element.checked ? "(x) " : "( ) ");
    else if (/^(submit|reset|button|image)$/.test(kind)) {
      put("[button: " + (line(element.value, LABEL_MAX) || line(element.alt, LABEL_MAX) || label || kind) + "] ");
    } else if (kind === "file") put("[file " + label + ": " + filesOf(element).slice(0, 5).join(", ") + "] ");
    else put("[" + kind + " " + label + ": " + flat(valueOf(element)) + "] ");
  };
  const windows = [];
  const shownFrame = (element) => {
    let at = owners.indexOf(element);
    if (request.windows) at = windows.push(element.contentWindow) - 1;
    if (at >= 0) { block(2); put(MARK + at + MARK); block(2); }
  };

  const SKIPPED = new Set(["script", "style", "noscript", "template", "head", "meta", "link", "title", "desc", "defs", "datalist", "canvas",
    "param", "source", "track", "object", "embed", "optgroup", "option"]);
  /* Elements without children that are walked; true if it was one. */
  const leaf = (element, tag, visible) => {
    switch (tag) {
      case "br": if (visible) put("\n"); return true;
      case "hr": if (visible) { block(2); put("---"); block(2); } return true;
      case "img": {
        const alt = line(attribute(element, "alt"), LABEL_MAX);
        if (visible && alt) { gap(); put("![" + alt + "] "); }
        return true;
      }
      case "input": if (visible) { noteInput(element); shownInput(element); } return true;
      case "select":
        if (visible) { noteSelect(element); gap(); put("[select " + labelOf(element) + ": " + selected(element).join(", ") + "] "); }
        return true;
      case "textarea":
        if (visible) {
          note(element, "textarea", { value: valueOf(element) });
          gap();
          put("[textarea " + labelOf(element) + ": " + valueOf(element) + "] ");
        }
        return true;
      case "audio": case "video":
        if (visible) { gap(); put("[" + tag + " " + line(attribute(element, "aria-label"), LABEL_MAX) + "] "); }
        return true;
      case "iframe": case "frame": if (visible) shownFrame(element); return true;
      default: return false;
    }
  };
  /* Opens what an element is in markdown; returns what its children are walked with. */
  const open = (element, tag, style, around_) => {
    const pre = around_.pre || /^(pre|break-spaces)/.test(style.whiteSpace);
    const context = { ...around_, visible: style.visibility === "visible", pre };
    const isHeading = attribute(element, "role") === "heading";
    const heading = /^h[1-6]$/.test(tag) ? Number(tag[1]) : isHeading ? Number(attribute(element, "aria-level")) || 2 : 0;
    if (heading) {
      around(2);
      collect((text) => {
        if (text.includes(MARK)) put(text);
        else if (flat(text)) put("#".repeat(Math.min(Math.max(heading, 1), 6)) + " " + flat(text));
      });
      return context;
    }
    switch (tag) {
      case "a": if (buffers.length <= NESTED_MAX) collect(linked(element)); return context;
      case "button":
        gap();
        collect((text) => put(text.includes(MARK) ? text : "[button: " + (flat(text) || labelOf(element)) + "] "));
        return context;
      case "pre": if (!around_.fenced) { around(2); collect(fenced); } return { ...context, pre: true, fenced: true };
      case "p": case "fieldset": case "form": case "section": case "article": case "figure": case "dl": around(2); return context;
      case "blockquote": if (context.visible) collect(quoted); return context;
      case "ul": case "ol": case "menu":
        around(around_.lists ? 1 : 2);
        return { ...context, lists: around_.lists + 1, ordered: tag === "ol" ? { at: Number(element.start) || 1 } : null };
      case "li":
        collect(item(around_.ordered ? around_.ordered.at + ". " : "- ", around_.lists <= INDENTED_MAX));
        if (around_.ordered) around_.ordered.at += 1;
        return { ...context, ordered: null };
      default: break;
    }
    if (style.display === "table" || style.display === "inline-table") {
      const table = { rows: [], layout: /^(presentation|none)$/.test(attribute(element, "role") ?? "") };
      if (around_.table) around_.table.layout = true;
      if (tag === "table") { stack.push({ exit: () => tableDone(table) }); return { ...context, table, cells: true }; }
    }
    if (around_.table && tag === "tr") { around_.table.rows.push([]); return context; }
    if (around_.table && around_.cells && (tag === "td" || tag === "th") && buffers.length <= NESTED_MAX) {
      const table = around_.table, span = Math.min(Number(element.colSpan) || 1, COLUMNS_MAX);
      if (!table.rows.length) table.rows.push([]);
      collect((text) => {
        if (text.includes(MARK)) table.layout = true;
        const row = table.rows[table.rows.length - 1];
        row.push(text);
        for (let more = 1; more < span && row.length < COLUMNS_MAX; more += 1) row.push("");
      });
      return { ...context, cells: false };
    }
    if (/^inline-(block|flex|grid|table)$/.test(style.display)) { gap(); stack.push({ exit: gap }); }
    else if (!/^(inline|contents|ruby|none|table-(row-group|header-group|footer-group|column|column-group))/.test(style.display)) around(1);
    return context;
  };

  const enter = (element, context) => {
    const tag = localName(element).toLowerCase();
    if (SKIPPED.has(tag)) return;
    const style = getComputedStyle(element);
    if (style.display === "none" || leaf(element, tag, style.visibility === "visible")) return;
    if (element.isContentEditable && attribute(element, "contenteditable") !== null && style.visibility === "visible") {
      note(element, "editable", { value: plain(element, VALUE_MAX) });
    }
    const inside = open(element, tag, style, context);
    if (style.contentVisibility === "hidden") return;
    const root = shadowRoot(element);
    if (root) { stack.push({ node: firstChild(root), context: inside }); return; }
    if (tag === "slot") {
      const assigned = element.assignedNodes().slice(0, SLOTTED_MAX);
      if (assigned.length) { for (const node of assigned.reverse()) stack.push({ node, context: inside, alone: true }); return; }
    }
    if (tag === "details" && !element.open) {
      const summary = Array.from(element.children).find((child) => localName(child) === "summary");
      if (summary) stack.push({ node: summary, context: inside, alone: true });
      return;
    }
    stack.push({ node: firstChild(element), context: inside });
  };
  const walk = (root) => {
    let left = NODES_MAX;
    const context = { visible: true, pre: false, fenced: false, lists: 0, ordered: null, table: null, cells: false };
    stack.push({ node: root, context, alone: true });
    while (stack.length) {
      const entry = stack.pop();
      if (entry.exit) { entry.exit(); continue; }
      const node = entry.node;
      if (!node || cutOff) continue;
      left -= 1;
      if (left < 0 || (left % 512 === 0 && Date.now() - started > TIME_MS_MAX)) { cutOff = true; continue; }
      if (!entry.alone) stack.push({ node: nextSibling(node), context: entry.context });
      if (nodeType(node) === 3) { if (entry.context.visible) write(node.data, entry.context.pre); }
      else if (nodeType(node) === 1) enter(node, entry.context);
    }
  };

  const body = property(Document, "documentElement")(document);
  const answer = {
    title: line(property(Document, "title")(document), 500),
    url: cut(clean(location.href), 4000),
    name: line(window.name, LABEL_MAX),
    visible: property(Document, "visibilityState")(document) === "visible",
    focused: Document.prototype.hasFocus.call(document),
    loading: property(Document, "readyState")(document) !== "complete",
  };
  if (request.text || request.fields) {
    if (body) walk(body);
    answer.text = request.text || owners.length || request.windows ? tidy(buffers[0].pieces.join("")) : "";
    answer.fields = fields;
    answer.fields_left = fieldsLeft;
    answer.cut_off = cutOff;
  }
  if (request.info) {
    let active = property(Document, "activeElement")(document);
    for (let depth = 0; active && depth < 100 && shadowRoot(active)?.activeElement; depth += 1) active = shadowRoot(active).activeElement;
    const tag = active ? localName(active) : "body";
    answer.focused_field = active && !/^(body|html|iframe|frame)$/.test(tag) ? (labelOf(active) || plain(active, LABEL_MAX) || tag) : null;
    const inField = active && /^(input|textarea)$/.test(tag) && !isSecret(active) && typeof active.selectionStart === "number";
    const picked = inField ? active.value.slice(active.selectionStart, active.selectionEnd) : "";
    answer.selection = cut(clean(picked || String(getSelection() ?? "").slice(0, 2000)), 500);
    const scroller = property(Document, "scrollingElement")(document) ?? body;
    const page_height = scroller ? scroller.scrollHeight : 0;
    answer.scroll = { x: Math.round(scrollX), y: Math.round(scrollY), view_height: innerHeight, page_height };
    const status = performance.getEntriesByType("navigation")[0]?.responseStatus;
    if (status) answer.status = status;
  }
  const text = JSON.stringify(answer);
  return request.windows ? [text, ...windows] : text;
}
