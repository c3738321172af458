// Package review applies and undoes the user's decisions on suggestions and proposals, reads the journal of them, reports
// outcomes, and writes and resolves comments. Package index lists the suggestions; package namespace applies proposals.
package review
