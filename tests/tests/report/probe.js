// Luminance of a colour that the browser computed, as WCAG 2.1 has it.
const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
const luminance = (colour) => {
  const [r, g, b] = channels(colour).slice(0, 3).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
// What is painted behind an element.
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    const parts = channels(colour);
    if (parts.length < 4 || parts[3] > 0) return colour;
  }
  return "rgb(255, 255, 255)";
};
document.querySelectorAll("details").forEach((folded) => { folded.open = true; });
let contrast = 21, faintest = "", texts = 0;
const cut = [];
for (const element of document.body.querySelectorAll("*")) {
  if (["SCRIPT", "STYLE", "TITLE"].includes(element.tagName) || element.closest("svg")) continue;
  const box = element.getBoundingClientRect();
  if (box.width === 0) continue;
  if (box.right > innerWidth + 1 || element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0 && getComputedStyle(element).display !== "inline") {
    cut.push(`${element.tagName}.${element.className} ${element.textContent.slice(0, 40)}`);
  }
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!own) continue;
  texts += 1;
  const [a, b] = [luminance(getComputedStyle(element).color), luminance(behind(element))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < contrast) [contrast, faintest] = [ratio, `${ratio.toFixed(2)}: ${element.textContent.slice(0, 40)}`];
}
// The first block of a map says what it is when it is pointed at.
const block = document.querySelector("figure.map rect");
if (block) block.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
const answer = block ? block.closest("figure").querySelector("output").textContent : "";
const answers = block !== null && answer === block.querySelector("title").textContent && /0x[0-9a-f]+ · \d+ bytes/.test(answer);
document.querySelectorAll("details").forEach((folded) => { folded.open = false; });
console.info("PROBE " + JSON.stringify({
  width: innerWidth, content: document.documentElement.scrollWidth, cut: cut.slice(0, 5), contrast, faintest, texts, answers,
  background: getComputedStyle(document.body).backgroundColor,
}) + " END");
