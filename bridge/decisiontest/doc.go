// Package decisiontest tries decisions and undos on random sequences against a model. It is
// a package of its own because the race detector, with which bridge is tested, would take
// minutes for so many.
package decisiontest
