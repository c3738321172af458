// Package review lists pending suggestions and proposals, applies and undoes the user's
// decisions on them, and reports the outcomes.
package review
