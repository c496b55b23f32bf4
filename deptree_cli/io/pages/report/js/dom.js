/* Elements are made here and nowhere else: what a treebank has is only ever the text of a node or the value of an
   attribute, never markup. */

const SVG = "http://www.w3.org/2000/svg";

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key.startsWith("--")) made.style.setProperty(key, value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/* An element with attributes, listeners ("onclick") and custom properties ("--share") and its children. */
function element(name, attributes, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function drawn(name, attributes, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function option(value, text) {
  return element("option", { value }, text === undefined ? value : text);
}

/* A select of [value, text] pairs with its name in front. */
function labelledSelect(name, entries, onchange) {
  const select = element(
    "select",
    { onchange: () => onchange(select.value) },
    entries.map(([value, text]) => option(value, text)),
  );
  return element("label", { class: "field" }, element("span", {}, name), select);
}

/* Has a file downloaded, without a network. */
function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/* What assistive technology reads out. */
function say(text) {
  document.getElementById("said").textContent = text;
}
