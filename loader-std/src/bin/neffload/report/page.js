for (const figure of document.querySelectorAll("figure.map")) {
  const caption = figure.querySelector("output");
  const show = (event) => {
    const block = event.target.closest("rect");
    if (block) caption.textContent = block.querySelector("title").textContent;
  };
  figure.addEventListener("pointerover", show);
  figure.addEventListener("click", show);
}
