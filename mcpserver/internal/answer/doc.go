// Package answer holds what a tool call gives back: its Result, refusals in sentences
// for a model, and how much of a list or a text fits into one answer. It knows no tool
// and no protocol. It has no locks.
package answer
