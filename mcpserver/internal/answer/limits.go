package answer

// MaxLine is how many characters of a line a search shows.
const MaxLine = 2000

// Max bounds what a call gives back, in bytes of JSON, text and structured
// content together: clients put what is longer aside, and show a model its first
// lines. Whatever is cut says how to get the rest.
const Max = 40_000

// Envelope is what the protocol has around an answer, at most.
const Envelope = 600

// MaxMatch bounds one match in an answer, with the lines around it.
const MaxMatch = 30_000
