// Package diffwrap is a bidirectional lens between a text that holds CriticMarkup suggestions and the text that a reader is
// shown.
package diffwrap
