// Package decisiontest contains tests only. They make random sequences of writes, users' edits, decisions, undos and
// restarts, and compare the workspace with a model after each step. model_test.go states the rules of decisions;
// mix_test.go makes the sequences. They are not in package bridge, because the race detector, with which bridge is
// tested, would need minutes for so many sequences.
package decisiontest
