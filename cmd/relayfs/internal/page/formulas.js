// Formulas, drawn by KaTeX as MathML, which needs neither its style sheet nor its fonts. KaTeX is loaded with the first one.

const maxFormula = 10_000; // characters; a longer one stays source
const options = { output: "mathml", throwOnError: true, strict: "ignore", trust: false, maxSize: 20, maxExpand: 500 };

let katex;

// drawFormulas draws those within an element; steady makes a change without moving what a person looks at.
export async function drawFormulas(within, steady) {
	const list = [...within.querySelectorAll("[data-formula]")].filter((e) => e.textContent.length <= maxFormula);
	if (!list.length) return;
	if (katex) return list.forEach(drawFormula);
	await import("./katex/katex.min.js");
	katex = self.katex;
	steady(() => list.forEach(drawFormula));
}

function drawFormula(e) {
	const drawn = document.createElement("span");
	try {
		katex.render(e.textContent, drawn, { ...options, displayMode: e.dataset.formula === "block" });
		e.replaceChildren(...drawn.childNodes);
	} catch (err) {
		e.title = err.message; // what is no formula stays as it is written
	}
}
