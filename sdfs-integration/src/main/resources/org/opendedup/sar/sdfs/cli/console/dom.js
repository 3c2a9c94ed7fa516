// Makes elements. A text is always a text node: a name of a file or a volume is never read as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Shows one element for each item, and keeps those that stay: the focus stays, too.
export function keyed(container, items, key, make, update) {
  const before = new Map([...container.children].map((child) => [child.dataset.key, child]));
  const now = items.map((item) => {
    const name = String(key(item));
    let element = before.get(name);
    if (!element) {
      element = make(item);
      element.dataset.key = name;
    }
    before.delete(name);
    update(element, item);
    return element;
  });
  before.forEach((element) => element.remove());
  now.forEach((element, i) => {
    if (container.children[i] !== element) {
      container.insertBefore(element, container.children[i] ?? null);
    }
  });
}

export function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}
