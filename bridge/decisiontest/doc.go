// Package decisiontest contains tests only. They make random sequences of writes, users'
// edits, decisions, undos and restarts, and compare the workspace with a model after each
// step (model_test.go, which states the law of decisions; mix_test.go). They are not in
// package bridge, because the race detector, with which bridge is tested, would take minutes
// for so many sequences.
package decisiontest
