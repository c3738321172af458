// Package review applies and undoes the user's decisions on suggestions and proposals. It also reads the journal of
// decisions, reports outcomes, and writes and resolves comments. Package index lists the suggestions; package namespace
// applies proposals.
package review
