// The data of the page, and what all its parts use.

const data = JSON.parse(document.getElementById("data").textContent);

function element(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}
